//! The pinned 64-bit hash of keys and addresses, and the variates drawn from it.
//!
//! A key's hash is a wire contract: gateways that never talk agree on a key's home only because they
//! hash alike. `vectors/key_hash.txt` holds golden values made by another implementation.

use xxhash_rust::xxh64::xxh64;

/// XXH64 with this seed names a key; it is what `xxhsum -H1` prints.
const KEY_SEED: u64 = 0;

/// The odd constant that steps a splitmix64 sequence.
pub(crate) const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The 64-bit hash of a request's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyHash(pub u64);

impl KeyHash {
    /// Hashes the bytes that name a shard.
    #[inline]
    #[must_use]
    pub fn of(key: &[u8]) -> Self {
        Self(xxh64(key, KEY_SEED))
    }
}

/// A digest of bytes, for checksums and for telling two lists apart. `domain` keeps uses apart.
#[must_use]
pub fn digest(domain: u64, bytes: &[u8]) -> u64 {
    xxh64(bytes, domain)
}

/// The finaliser of splitmix64: every input bit reaches every output bit.
#[inline]
pub(crate) const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Fractional bits of [`exponential`].
const EXPONENTIAL_FRACTION_BITS: u32 = 24;

/// `log2(1 + i/256)` in 24 fractional bits, computed bit by bit so that no platform's `ln` is asked.
static LOG2: [u32; 257] = log2_table();

const fn log2_table() -> [u32; 257] {
    let mut table = [0u32; 257];
    table[256] = 1 << EXPONENTIAL_FRACTION_BITS;
    let mut i = 0;
    while i < 256 {
        // Repeated squaring of a number in [1, 2): each carry over 2 is the next bit of its log2.
        let mut x = (256 + i as u64) << 23;
        let mut bit = 0;
        while bit < EXPONENTIAL_FRACTION_BITS {
            x = (x * x) >> 31;
            table[i] <<= 1;
            if x >= 1 << 32 {
                x >>= 1;
                table[i] |= 1;
            }
            bit += 1;
        }
        i += 1;
    }
    table
}

/// Turns 48 uniform bits into a standard exponential variate, `-ln(u)`, in 24 fractional bits.
///
/// Integer arithmetic only: equal bits give an equal result on every platform.
#[inline]
pub(crate) fn exponential(uniform_48_bits: u64) -> u64 {
    const LN_2: u64 = 11_629_080;
    let x = uniform_48_bits + 1;
    let zeros = x.leading_zeros();
    let mantissa = x << zeros;
    let step = ((mantissa >> 55) & 0xff) as usize;
    let within = (mantissa >> 31) & 0xff_ffff;
    let (low, high) = (u64::from(LOG2[step]), u64::from(LOG2[step + 1]));
    let fraction = low + (((high - low) * within) >> EXPONENTIAL_FRACTION_BITS);
    let log2 = (u64::from(63 - zeros) << EXPONENTIAL_FRACTION_BITS) + fraction;
    let negated = (48 << EXPONENTIAL_FRACTION_BITS) - log2;
    (negated * LN_2) >> EXPONENTIAL_FRACTION_BITS
}
