//! Others' ways, written as their authors describe them.

pub(crate) mod jump;
pub(crate) mod ketama;
pub(crate) mod maglev;
pub(crate) mod ring;
pub(crate) mod scoring;
