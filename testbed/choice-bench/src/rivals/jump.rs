/// Jump hash (Lamping and Veach, 2014). REQUIRES: `buckets` is not 0.
pub(crate) fn bucket(key: u64, buckets: u32) -> u32 {
    let (mut state, mut chosen, mut next) = (key, 0, 0_i64);
    while next < i64::from(buckets) {
        chosen = next;
        state = state.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        next = ((chosen + 1) as f64 * ((1_u64 << 31) as f64 / ((state >> 33) + 1) as f64)) as i64;
    }
    chosen as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_vectors() {
        for (key, buckets, expected) in [(42, 57, 43), (0xDEAD_10CC, 666, 361), (256, 1024, 520)] {
            assert_eq!(bucket(key, buckets), expected);
        }
    }
}
