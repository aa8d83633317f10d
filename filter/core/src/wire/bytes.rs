//! Little-endian numbers and counted lists. Reading never panics and never trusts a count.

use super::WireFault;

/// Appends values.
#[derive(Debug, Default)]
pub struct Writer {
    out: Vec<u8>,
}

impl Writer {
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    pub fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    pub fn f32(&mut self, value: f32) {
        self.u32(value.to_bits());
    }

    /// A count, then each item.
    pub fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.u32(items.len() as u32);
        for item in items {
            write(self, item);
        }
    }

    /// A length, then the bytes.
    pub fn text(&mut self, text: &str) {
        self.u16(text.len() as u16);
        self.bytes(text.as_bytes());
    }

    /// The bytes written.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.out
    }
}

/// Takes values off the front.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], WireFault> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(WireFault::Truncated)?;
        self.rest = rest;
        Ok(*head)
    }

    pub fn byte(&mut self) -> Result<u8, WireFault> {
        self.take().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Result<u16, WireFault> {
        self.take().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, WireFault> {
        self.take().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, WireFault> {
        self.take().map(u64::from_le_bytes)
    }

    /// A finite number that is not negative; nothing here may be another.
    pub fn f32(&mut self) -> Result<f32, WireFault> {
        let value = f32::from_bits(self.u32()?);
        if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(WireFault::Malformed) }
    }

    /// A counted list of at most `most` items.
    pub fn list<T>(
        &mut self,
        most: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, WireFault>,
    ) -> Result<Vec<T>, WireFault> {
        let count = self.u32()? as usize;
        // Every item takes a byte at the least, so a count that lies cannot make us reserve.
        if count > most || count > self.rest.len() {
            return Err(WireFault::Malformed);
        }
        (0..count).map(|_| read(self)).collect()
    }

    pub fn text(&mut self) -> Result<&'a str, WireFault> {
        let length = usize::from(self.u16()?);
        let (text, rest) = self.rest.split_at_checked(length).ok_or(WireFault::Truncated)?;
        self.rest = rest;
        std::str::from_utf8(text).map_err(|_| WireFault::Malformed)
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Nothing may follow.
    pub fn end(&self) -> Result<(), WireFault> {
        if self.rest.is_empty() { Ok(()) } else { Err(WireFault::Malformed) }
    }
}
