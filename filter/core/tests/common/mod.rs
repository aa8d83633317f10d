//! What the test files share: random numbers without entropy, and short ways to servers, configurations and plans.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may stop")]

#[cfg(not(target_arch = "wasm32"))]
pub mod configurations;
pub mod gateway;
pub mod rig;
#[cfg(not(target_arch = "wasm32"))]
pub mod schema_rules;
pub mod store;

use std::sync::Arc;

use rudolph_core::config::Config;
use rudolph_core::plan::Plan;
use rudolph_core::planner::merge::{LoadMap, merge};
use rudolph_core::planner::{self, Request};
use rudolph_core::servers::{Address, Members, Server};
use rudolph_core::table::Table;

pub const STRATEGIES: [&str; 5] = ["spread", "pin", "rotation", "lpt", "static"];

/// The seeds of a property: `1 ..= count`, and the one in `RUDOLPH_SEED`, so that a failure can be run alone again.
pub fn seeds(count: u64) -> impl Iterator<Item = u64> {
    let more = std::env::var("RUDOLPH_SEED").ok();
    (1..=count).chain(more.and_then(|seed| seed.parse().ok()))
}

/// Splitmix64.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// In `0 .. end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// In `from ..= to`.
    pub fn between(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to - from + 1)
    }

    /// In `0 .. 1`.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

pub fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Ranks by Zipf's law with exponent 1.
pub struct Zipf(Vec<f64>);

impl Zipf {
    pub fn new(ranks: usize) -> Self {
        let mut sum = 0.0;
        Self(
            (1..=ranks)
                .map(|rank| {
                    sum += 1.0 / rank as f64;
                    sum
                })
                .collect(),
        )
    }

    pub fn rank(&self, rng: &mut Rng) -> usize {
        let at = rng.unit() * self.0.last().unwrap();
        self.0.partition_point(|&sum| sum <= at)
    }
}

/// Addresses whose order is that of their numbers.
pub fn address(number: usize) -> Address {
    let (high, low) = (100 + number / 100, 100 + number % 100);
    Address::parse(&format!("10.1.{high}.{low}:80")).unwrap()
}

pub fn weighted(weights: &[u32]) -> Members {
    numbered(weights.iter().copied().enumerate())
}

pub fn members(count: usize) -> Members {
    weighted(&vec![1; count])
}

pub fn numbered(servers: impl IntoIterator<Item = (usize, u32)>) -> Members {
    let server = |(number, weight)| Server { address: address(number), weight };
    Members::new(servers.into_iter().map(server).collect())
}

/// A configuration with static servers and some more fields, as in `"owners": 2`.
pub fn config(strategy: &str, members: &Members, more: &[&str]) -> Arc<Config> {
    let servers: Vec<String> = (members.servers().iter())
        .map(|s| format!(r#"{{"address": "{}", "weight": {}}}"#, s.address.as_str(), s.weight))
        .collect();
    let servers = servers.join(", ");
    let more: String = more.iter().map(|field| format!(", {field}")).collect();
    let text = format!(
        r#"{{"strategy": "{strategy}", "key": ["path"],
            "membership": {{"source": "static", "servers": [{servers}]}}{more}}}"#
    );
    Arc::new(Config::from_json(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e}")))
}

pub fn table(config: &Config, plan: &Plan) -> Arc<Table> {
    Arc::new(Table::of(plan, config))
}

pub fn request<'a>(
    config: &'a Config,
    members: &'a Members,
    previous: Option<&'a Plan>,
    loads: &'a LoadMap,
) -> Request<'a> {
    Request {
        config,
        members,
        previous,
        loads,
        epoch: previous.map_or(1, |plan| plan.epoch + 1),
        version: previous.map_or(1, |plan| plan.version + 1),
        now_ms: previous.map_or(1_000_000, |plan| plan.activate_at_ms + 5_000),
    }
}

pub fn make_plan(request: &Request<'_>) -> Plan {
    let mut homes = |plan: &Plan| table(request.config, plan);
    planner::plan(request, &mut homes).unwrap().plan
}

/// The plan of the first epoch, when nothing has been counted.
pub fn first_plan(config: &Config, members: &Members) -> Plan {
    make_plan(&request(config, members, None, &merge(config, members, 1, &[])))
}
