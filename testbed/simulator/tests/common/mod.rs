//! Runs a scenario that is written in a test.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may stop")]

use rudolph_simulator::report::Row;
use rudolph_simulator::run::run_all;
use rudolph_simulator::scenario::sweep;

/// The rows of all strategies of all variants, in order.
pub(crate) fn rows(text: &str) -> Vec<Row> {
    let variants = sweep::read(text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let outcomes = run_all(&variants, 2, &|| {}).unwrap();
    outcomes.iter().map(|outcome| Row::of(&outcome.strategy, &outcome.measured)).collect()
}
