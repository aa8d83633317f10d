//! Phase 4 of `pin`: the hottest keys placed one by one, so that each fits beside the cold load.

use super::Request;
use super::merge::{LoadMap, MergedKey};
use crate::hot::{HotKey, HotTable};
use crate::plan::Plan;
use crate::servers::ServerId;
use crate::table::Table;

/// A key must be seen more often than this to be placed by itself.
const LEAST_ESTIMATE: f32 = 3.0;

/// Places the hottest keys over the measured cold load, hottest first: a key stays where it is if that
/// server stays within the tolerance of the mean, else it goes to the least loaded. Keys that end at
/// home need no entry, so one that cools goes home by being left out.
#[must_use]
pub fn pin(request: &Request<'_>, plan: &Plan, loads: &LoadMap, homes: &Table) -> Vec<HotKey> {
    let config = &request.config.pin;
    let hottest: Vec<&MergedKey> = (loads.keys.iter())
        .take_while(|merged| merged.count > LEAST_ESTIMATE)
        .take(config.keys)
        .collect();
    let home = |key| homes.home(homes.bin(key));
    let mut servers = Piles::new(plan, &loads.homes);
    for merged in &hottest {
        servers.take(home(merged.key), f64::from(merged.count));
    }
    let mean = loads.homes.iter().sum::<f64>() / servers.total_weight;
    let limit = mean * f64::from(config.tolerance);
    let present = present_pins(request, plan);
    let mut pins = Vec::new();
    for merged in hottest {
        let load = f64::from(merged.count);
        let home = home(merged.key);
        let here = present.get(merged.key).map_or(home, ServerId);
        let there = if servers.with(here, load) <= limit { here } else { servers.least() };
        servers.put(there, load);
        if there != home {
            pins.push(HotKey { key: merged.key, value: there.0 });
        }
    }
    pins
}

/// The pins in force, on the present members; a pin to a server that left is void.
fn present_pins(request: &Request<'_>, plan: &Plan) -> HotTable {
    let Some(previous) = request.previous else {
        return HotTable::new(&[]);
    };
    let still = |hot: &HotKey| {
        let server = previous.members.servers().get(usize::from(hot.value))?;
        let id = plan.members.find(&server.address)?;
        Some(HotKey { key: hot.key, value: id.0 })
    };
    let pins: Vec<HotKey> = previous.hot.iter().filter_map(still).collect();
    HotTable::new(&pins)
}

/// Load by server.
struct Piles {
    loads: Vec<f64>,
    weights: Vec<f64>,
    total_weight: f64,
}

impl Piles {
    fn new(plan: &Plan, loads: &[f64]) -> Self {
        let weights: Vec<f64> = (0..plan.members.len())
            .map(|i| plan.effective_weight(ServerId::from_index(i)))
            .collect();
        Self { loads: loads.to_vec(), total_weight: weights.iter().sum(), weights }
    }

    fn take(&mut self, server: ServerId, load: f64) {
        let pile = &mut self.loads[server.index()];
        *pile = (*pile - load).max(0.0);
    }

    fn put(&mut self, server: ServerId, load: f64) {
        self.loads[server.index()] += load;
    }

    /// Load over weight if `load` came on top.
    fn with(&self, server: ServerId, load: f64) -> f64 {
        (self.loads[server.index()] + load) / self.weights[server.index()]
    }

    fn least(&self) -> ServerId {
        let mut least = ServerId(0);
        for i in 1..self.loads.len() {
            let id = ServerId::from_index(i);
            if self.with(id, 0.0) < self.with(least, 0.0) {
                least = id;
            }
        }
        least
    }
}
