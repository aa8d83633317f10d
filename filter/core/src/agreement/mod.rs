//! How the workers of one gateway agree without a coordinator: few values in a shared store, each changed by
//! compare-and-swap.
//!
//! A configuration claims an [`arena`] of the store, a worker claims a [`slot`] of the arena, and whoever first
//! sees that an epoch is over claims the next [`epoch`] and with it the right to plan. [`Shelf`] is how each of
//! them reads and replaces one value.

pub mod arena;
pub mod epoch;
mod shelf;
pub mod slot;

pub use shelf::{Seen, Shelf};

use crate::wire::WireFault;

/// A value with the version that a later compare-and-swap must name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Changes with every store of the key.
    pub version: u32,
}

/// What must hold for a store to succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The key is absent.
    Absent,
    /// The key still has this version.
    Version(u32),
}

/// What became of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The value is in.
    Yes,
    /// Someone else was faster.
    Lost,
}

/// The store itself failed; the number is the host's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreFault(pub u32);

/// Data that all workers of a gateway share. Each call is atomic; nothing else is.
pub trait SharedStore {
    /// Reads a copy of a value.
    ///
    /// # Errors
    /// The host's status.
    fn get(&mut self, key: &str) -> Result<Option<Versioned>, StoreFault>;

    /// Stores a value if what is expected holds.
    ///
    /// # Errors
    /// The host's status.
    fn set(&mut self, key: &str, value: &[u8], expect: Expect) -> Result<Stored, StoreFault>;
}

/// Counts of what agreement came across.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Values refused because they were torn, cut, foreign or of another format.
    pub refused: u64,
    /// Compare-and-swaps that someone else won.
    pub lost: u64,
}

impl Tally {
    /// A value of another configuration is where it belongs and no defect; all else is.
    fn refuse(&mut self, fault: WireFault) {
        if fault != WireFault::Config {
            self.refused += 1;
        }
    }
}
