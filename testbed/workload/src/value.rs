use crate::SplitMix64;

/// The value that a key has before anyone writes it: a function of the key's bytes alone, so that every server makes the
/// same value and a client can check it.
#[must_use]
pub fn derived_value(key: &[u8], bytes: usize) -> Vec<u8> {
    let mut rng = SplitMix64::new(fold(key));
    let mut value = Vec::with_capacity(bytes + 8);
    while value.len() < bytes {
        value.extend_from_slice(&rng.next_u64().to_le_bytes());
    }
    value.truncate(bytes);
    value
}

/// FNV-1a: enough to seed a value, and not the key hash of the filter.
fn fold(key: &[u8]) -> u64 {
    key.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_function_of_the_key() {
        for bytes in [0, 1, 7, 8, 9, 1000] {
            assert_eq!(derived_value(b"k1", bytes).len(), bytes);
            assert_eq!(derived_value(b"k1", bytes), derived_value(b"k1", bytes));
        }
        assert_ne!(derived_value(b"k1", 32), derived_value(b"k2", 32));
        assert!(derived_value(b"k1", 32).starts_with(&derived_value(b"k1", 16)));
    }
}
