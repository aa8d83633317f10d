//! What is taken, over every protocol.

/// Longest key.
pub(crate) const MAX_KEY_BYTES: usize = 1_024;

/// Longest value.
pub(crate) const MAX_VALUE_BYTES: usize = 1 << 20;
