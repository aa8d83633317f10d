//! Jump hash (Lamping and Veach): no table, and only the last server can leave.

/// The bucket of a key among `0..buckets`. REQUIRES: `buckets` is not 0.
pub(super) fn bucket(mut key: u64, buckets: u32) -> u32 {
    let (mut bucket, mut next) = (0, 0);
    while next < i64::from(buckets) {
        bucket = next;
        key = key.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        let scale = (1_u64 << 31) as f64 / ((key >> 33) + 1) as f64;
        next = ((bucket + 1) as f64 * scale) as i64;
    }
    bucket as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_vectors() {
        let vectors = [
            (1, 1, 0),
            (42, 57, 43),
            (0xDEAD_10CC, 1, 0),
            (0xDEAD_10CC, 666, 361),
            (256, 1024, 520),
        ];
        for (key, buckets, expected) in vectors {
            assert_eq!(bucket(key, buckets), expected, "key {key}, {buckets} buckets");
        }
    }

    #[test]
    fn one_more_bucket_takes_from_all_and_moves_nothing_between_them() {
        for key in (0..5_000_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)) {
            let (before, after) = (bucket(key, 9), bucket(key, 10));
            assert!(after == before || after == 9, "key {key}: {before} to {after}");
        }
    }
}
