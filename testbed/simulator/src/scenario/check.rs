//! The bounds of a scenario. Each refusal names the field, the value and what is allowed.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::RangeInclusive;

use super::{Arrivals, Change, Choice, Scenario, ScenarioError, Servers};
use crate::core_driver;

const MOST_SERVERS: usize = 5_000;
const MOST_WORKERS: usize = 10_000;
/// The filter's store has slots for so many workers.
const MOST_TALKING: usize = 256;
/// Keys are kept in arrays.
const MOST_KEYS: u64 = 50_000_000;
/// Cache entries of all servers, each of some twenty bytes.
const MOST_CACHED: usize = 200_000_000;

pub(super) fn refuse<T>(
    field: impl Display,
    value: impl Display,
    allowed: impl Display,
) -> Result<T, ScenarioError> {
    Err(ScenarioError::Value {
        field: field.to_string(),
        value: value.to_string(),
        allowed: allowed.to_string(),
    })
}

fn within<T: PartialOrd + Display + Copy>(
    field: impl Display,
    value: T,
    allowed: RangeInclusive<T>,
) -> Result<(), ScenarioError> {
    if allowed.contains(&value) {
        return Ok(());
    }
    refuse(field, value, format!("{} to {}", allowed.start(), allowed.end()))
}

impl Scenario {
    /// Checks what the types do not.
    ///
    /// # Errors
    /// The first field that is wrong, and what is allowed.
    pub fn check(&self) -> Result<(), ScenarioError> {
        within("seeds", self.seeds.len(), 1..=1000)?;
        within("warmup_s", self.warmup_s, 0.0..=100_000.0)?;
        within("seconds", self.seconds, 0.001..=100_000.0)?;
        self.arrivals.check()?;
        self.servers.check()?;
        self.check_gateways()?;
        self.check_keys()?;
        self.check_events()?;
        self.check_strategies()
    }

    fn check_gateways(&self) -> Result<(), ScenarioError> {
        let gateways = &self.gateways;
        within("gateways.count", gateways.count, 1..=MOST_WORKERS)?;
        within("gateways.workers", gateways.workers, 1..=256)?;
        within("gateways.count times gateways.workers", self.workers(), 1..=MOST_WORKERS)?;
        within("gateways.agreement_delay_ms", gateways.agreement_delay_ms, 0.0..=60_000.0)?;
        within("gateways.detection_ms", gateways.detection_ms, 0.0..=600_000.0)?;
        if gateways.talk && self.workers() > MOST_TALKING {
            let allowed = format!("only where all workers together are at most {MOST_TALKING}");
            return refuse(
                "gateways.talk",
                format!("true with {} workers", self.workers()),
                allowed,
            );
        }
        Ok(())
    }

    fn check_keys(&self) -> Result<(), ScenarioError> {
        self.workload.validate()?;
        if let rudolph_workload::KeySpec::Replay { .. } = self.workload.keys {
            return refuse("workload.keys.kind", "replay", "any other; give a trace with --trace");
        }
        within("workload.keys.count", self.key_count(), 1..=MOST_KEYS)?;
        within("scan.share", self.scan.share, 0.0..=1.0)?;
        within("scan.keys", self.scan.keys, 1..=MOST_KEYS)
    }

    fn check_events(&self) -> Result<(), ScenarioError> {
        let mut last = 0.0;
        for (i, event) in self.events.iter().enumerate() {
            within(format!("events[{i}].at_s"), event.at_s, 0.0..=1e6)?;
            if event.at_s < last {
                let field = format!("events[{i}].at_s");
                return refuse(field, event.at_s, format!("at least {last}: events are in order"));
            }
            last = event.at_s;
            check_server(&format!("events[{i}].server"), event.server, self.servers.count)?;
        }
        Ok(())
    }

    fn check_strategies(&self) -> Result<(), ScenarioError> {
        within("strategies", self.strategies.len(), 1..=1000)?;
        let mut names = BTreeSet::new();
        for (index, strategy) in self.strategies.iter().enumerate() {
            if !names.insert(&strategy.name) {
                let field = format!("strategies[{index}].name");
                return refuse(field, &strategy.name, "each name once");
            }
            if let Choice::Filter(fields) = &strategy.choice {
                core_driver::config(fields, self)
                    .map_err(|source| ScenarioError::Filter { index, source })?;
            }
        }
        Ok(())
    }

    /// Which servers are there at the beginning.
    #[must_use]
    pub fn first_alive(&self) -> Vec<bool> {
        let first = |server| self.events.iter().find(|event| event.server == server);
        (0..self.servers.count)
            .map(|server| first(server).is_none_or(|event| event.change != Change::Up))
            .collect()
    }
}

impl Arrivals {
    fn check(&self) -> Result<(), ScenarioError> {
        match (self.clients, self.open_rps) {
            (Some(clients), None) => within("arrivals.clients", clients, 0..=10_000_000),
            (None, Some(rps)) => within("arrivals.open_rps", rps, 0.0..=1e9),
            (None, None) => refuse("arrivals", "neither", "clients = 64 or open_rps = 9000"),
            (Some(_), Some(_)) => refuse("arrivals", "both", "clients = 64 or open_rps = 9000"),
        }
    }
}

impl Servers {
    fn check(&self) -> Result<(), ScenarioError> {
        within("servers.count", self.count, 1..=MOST_SERVERS)?;
        within("servers.slots", self.slots, 1..=10_000)?;
        within("servers.cache_keys", self.cache_keys, 0..=MOST_CACHED / self.count)?;
        within("servers.hit_ms", self.hit_ms, 0.000_001..=1e6)?;
        within("servers.miss_ms", self.miss_ms, 0.0..=1e6)?;
        within("servers.sigma", self.sigma, 0.0..=3.0)?;
        within("servers.key_cost_sigma", self.key_cost_sigma, 0.0..=3.0)?;
        for (i, slow) in self.slow.iter().enumerate() {
            check_server(&format!("servers.slow[{i}].server"), slow.server, self.count)?;
            within(format!("servers.slow[{i}].speed"), slow.speed, 0.001..=1000.0)?;
        }
        Ok(())
    }
}

fn check_server(field: &str, server: usize, count: usize) -> Result<(), ScenarioError> {
    within(field, server, 0..=count - 1)
}
