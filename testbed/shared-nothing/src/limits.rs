/// What one client may ask of the server's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub key_bytes: usize,
    pub value_bytes: usize,
    /// Of each thread.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { key_bytes: 1024, value_bytes: 1 << 20, connections: 10_000 }
    }
}
