/// What one client may ask of the server's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub key_bytes: u32,
    pub value_bytes: u32,
    /// Of each thread.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { key_bytes: 1024, value_bytes: 1 << 20, connections: 10_000 }
    }
}
