//! The compiled module under random schedules and faults, repeatable from a seed.
//!
//! A run is a gateway of the [mock host](rudolph_mock_host): its workers tick, serve requests, poll and plan in an
//! order that the seed chooses, down to single host calls, since a worker may stand still between two of them while
//! others run ([`lane`]). Meanwhile VMs trap, host calls fail, clocks jump, values are damaged, the admin interface
//! lies, servers come and go, and configurations change ([`faults`]). Every store is judged as it is made ([`watch`]),
//! every request as it is answered ([`requests`], against the [`oracle`]), and after each time of faults the gateway
//! must come to rest ([`rest`]). What is promised is the list in [`Broken`].
//!
//! `make sim SEEDS=1000` runs many seeds; a failure prints the command that runs its seed again.

mod actor;
mod admin;
mod books;
mod broken;
mod faults;
mod history;
mod job;
mod lane;
mod many;
mod oracle;
mod random;
mod requests;
mod rest;
mod scenario;
mod schedule;
mod watch;
mod world;

use std::time::{SystemTime, UNIX_EPOCH};

use rudolph_mock_host::FilterModule;

pub use broken::Broken;
pub use many::{Outcome, run_many};

use history::History;
use random::Random;
use scenario::Scenario;
use world::World;

/// The first seed of a day: each day has its own.
#[must_use]
pub fn first_seed_of_today() -> u64 {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 86_400;
    days * 10_000_000
}

/// A run that broke a promise.
#[derive(Debug)]
pub struct Failure {
    /// Its seed.
    pub seed: u64,
    /// The promise.
    pub broken: Broken,
    /// What the seed chose.
    pub scenario: String,
    /// The last steps.
    pub steps: Vec<String>,
}

/// Runs one seed, and keeps so many of its last steps. Returns how many steps there were.
///
/// # Errors
/// The promise that was broken.
pub fn run(module: &FilterModule, seed: u64, kept: usize) -> Result<u64, Box<Failure>> {
    let mut random = Random::of(seed);
    let failure = |broken: Broken, scenario: String, steps: Vec<String>| {
        Box::new(Failure { seed, broken, scenario, steps })
    };
    let scenario = Scenario::of(&mut random)
        .map_err(|error| failure(error.into(), String::new(), Vec::new()))?;
    let told = scenario.to_string();
    let acts = scenario.acts;
    let mut world = World::new(module, scenario, random, History::keeping(kept))
        .map_err(|broken| failure(broken, told.clone(), Vec::new()))?;
    let played = (0..acts).try_for_each(|_| world.play().and_then(|()| world.rest()));
    let history = std::mem::replace(&mut world.history, History::keeping(0));
    match played {
        Ok(()) => Ok(history.total()),
        Err(broken) => Err(failure(broken, told, history.into_lines())),
    }
}
