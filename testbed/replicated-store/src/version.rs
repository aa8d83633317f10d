//! Which of two copies of a key is newer.

use bytes::{BufMut, Bytes, BytesMut};

/// Bytes of a version.
pub(crate) const VERSION_BYTES: usize = 16;

/// The greater is the newer. Two writes never have the same: a writer is one run of one server and counts on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    pub(crate) counter: u64,
    pub(crate) writer: u64,
}

impl Version {
    /// Of a key that was never written.
    pub(crate) const NONE: Self = Self { counter: 0, writer: 0 };

    /// Orders like the version itself.
    pub(crate) fn to_bytes(self) -> [u8; VERSION_BYTES] {
        ((u128::from(self.counter) << 64) | u128::from(self.writer)).to_be_bytes()
    }

    /// `None` if there are not so many bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bits = u128::from_be_bytes(bytes.try_into().ok()?);
        Some(Self { counter: (bits >> 64) as u64, writer: bits as u64 })
    }
}

/// A value with its version, as it is stored and sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Copied {
    pub(crate) version: Version,
    pub(crate) value: Bytes,
}

impl Copied {
    pub(crate) fn to_bytes(&self) -> Bytes {
        let mut bytes = BytesMut::with_capacity(VERSION_BYTES + self.value.len());
        bytes.put_slice(&self.version.to_bytes());
        bytes.put_slice(&self.value);
        bytes.freeze()
    }

    pub(crate) fn from_bytes(mut bytes: Bytes) -> Option<Self> {
        if bytes.len() < VERSION_BYTES {
            return None;
        }
        let version = Version::from_bytes(&bytes.split_to(VERSION_BYTES))?;
        Some(Self { version, value: bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_order_like_versions_and_come_back() {
        let versions = [(0, 1), (1, 0), (1, u64::MAX), (256, 0), (u64::MAX, 7)]
            .map(|(counter, writer)| Version { counter, writer });
        for pair in versions.windows(2) {
            assert!(pair[0] < pair[1] && pair[0].to_bytes() < pair[1].to_bytes());
        }
        for version in versions {
            let copied = Copied { version, value: Bytes::from_static(b"\0v") };
            assert_eq!(Copied::from_bytes(copied.to_bytes()), Some(copied));
        }
        assert_eq!(Copied::from_bytes(Bytes::from_static(b"short")), None);
    }
}
