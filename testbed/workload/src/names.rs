//! What keys are called: `k` and twelve digits, so that their order as text is their order as numbers; and with the bucket
//! of a hash-sharded index in front.

use std::io::Write;

use crate::rng::mix;

/// The name of a numbered key.
#[must_use]
pub fn name_of(number: u64) -> Vec<u8> {
    let mut name = Vec::with_capacity(13);
    write_name(number, &mut name);
    name
}

/// The name of a numbered key behind a bucket, its own or not: a scan's end lies in every bucket.
#[must_use]
pub fn bucketed_name(bucket: u32, number: u64) -> Vec<u8> {
    let mut name = Vec::with_capacity(19);
    write_tagged(bucket, number, &mut name);
    name
}

/// The shard column of a hash-sharded index: a hash of the key, modulo the number of buckets.
///
/// The hash is of the number, so neighbours part ways; it is not the key hash of the filter, which gets the bucket.
#[must_use]
pub fn bucket_of(number: u64, buckets: u32) -> u32 {
    let bucket = mix(number.wrapping_add(0x9e37_79b9_7f4a_7c15)) % u64::from(buckets.max(1));
    u32::try_from(bucket).unwrap_or(0)
}

pub(crate) fn write_name(number: u64, out: &mut Vec<u8>) {
    _ = write!(out, "k{number:012}"); // writing to a vector cannot fail
}

pub(crate) fn write_bucketed(number: u64, buckets: u32, out: &mut Vec<u8>) {
    write_tagged(bucket_of(number, buckets), number, out);
}

fn write_tagged(bucket: u32, number: u64, out: &mut Vec<u8>) {
    _ = write!(out, "{{{bucket:04}}}");
    write_name(number, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_their_numbers_within_a_bucket() {
        let mut names: Vec<Vec<u8>> =
            (0..2_000).map(|n| bucketed_name(n / 1_000, n.into())).collect();
        let in_order = names.clone();
        names.sort();
        assert_eq!(names, in_order);
        assert_eq!(bucketed_name(7, 123), b"{0007}k000000000123");
        assert_eq!(name_of(999_999_999_999), b"k999999999999");
    }

    /// Buckets of any stretch of neighbours are even: within five deviations of a fair draw.
    #[test]
    fn neighbours_spread_over_all_buckets() {
        for (first, buckets) in [(0, 10), (1_000_000, 10), (123, 3), (77_000, 20), (5, 80)] {
            let mut counts = vec![0_u32; buckets as usize];
            let keys = 1_000 * u64::from(buckets);
            for number in first..first + keys {
                counts[bucket_of(number, buckets) as usize] += 1;
            }
            let even = |&count: &u32| (f64::from(count) - 1_000.0).abs() < 5.0 * 1_000_f64.sqrt();
            assert!(counts.iter().all(even), "{buckets} buckets from {first}: {counts:?}");
        }
        assert_eq!(bucket_of(9, 0), 0, "no bucket is one bucket");
    }
}
