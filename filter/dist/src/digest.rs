//! SHA-256, as files and images write it.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The digest in hexadecimal digits, as `sha256sum` prints it.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing into a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::hex;

    /// The two examples of FIPS 180-4's test vectors that fit in a line.
    #[test]
    fn published_digests() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!([hex(b"abc"), hex(b"")], [abc, nothing]);
    }
}
