use serde::{Deserialize, Serialize};

use super::Placement;
use crate::Machine;

/// What is run. It is part of the file `experiment.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub placements: Vec<Placement>,
    /// Sizes in real Envoy, and in the simulator.
    pub envoy_servers: Vec<usize>,
    pub simulated_servers: Vec<usize>,
    pub repeats: u32,
    /// The mean latency that must not be reached.
    pub limit_ms: f64,
    /// How long a write holds its slot, and how many slots a server has.
    pub service_ms: f64,
    pub slots: u32,
    /// Between two rates that are told apart.
    pub step: f64,
    /// Of each probe in Envoy.
    pub warm_up_s: u64,
    pub seconds: u64,
    /// Of a probe that says nothing because the machine was its limit. One stall must not halve what a search finds.
    pub tries: u32,
    /// Of each probe in the simulator.
    pub simulated_seconds: u64,
    pub scans: ScanPlan,
}

/// The range scans: always on the slots of the writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScanPlan {
    pub servers: usize,
    /// Keys in the table.
    pub table: u64,
    /// Bucket counts; the range placement is run besides.
    pub buckets: Vec<u32>,
    /// How many keys a scan asks for.
    pub lengths: Vec<u64>,
    /// How many scans are under way at a time.
    pub scanners: Vec<usize>,
    /// What each key adds to the service time of a request.
    pub row_us: f64,
    pub seconds: u64,
}

/// Where and how it was run. It is the file `experiment.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    pub plan: Plan,
    pub quick: bool,
    pub machine: Machine,
    pub command: String,
    pub versions: String,
}

impl Plan {
    /// Service times such that two cores carry ten servers at full rate, 2,500 writes a second, and have room to spare.
    #[must_use]
    pub fn full() -> Self {
        Self {
            placements: Placement::ALL.to_vec(),
            envoy_servers: vec![5, 10],
            simulated_servers: vec![5, 10, 20, 40],
            repeats: 3,
            limit_ms: 10.0,
            service_ms: 4.0,
            slots: 1,
            step: 0.02,
            warm_up_s: 1,
            seconds: 6,
            tries: 3,
            simulated_seconds: 40,
            scans: ScanPlan {
                servers: 10,
                table: 2_000,
                buckets: vec![1, 2, 5, 10, 20],
                lengths: vec![10, 100],
                scanners: vec![1, 16],
                row_us: 50.0,
                seconds: 4,
            },
        }
    }

    /// It shows that everything runs.
    #[must_use]
    pub fn quick() -> Self {
        let full = Self::full();
        Self {
            placements: vec![Placement::Range, Placement::Hash10],
            envoy_servers: vec![4],
            simulated_servers: vec![5, 10],
            repeats: 1,
            step: 1.0,
            seconds: 1,
            tries: 1,
            simulated_seconds: 4,
            scans: ScanPlan {
                servers: 4,
                table: 200,
                buckets: vec![10],
                lengths: vec![50],
                scanners: vec![2],
                seconds: 1,
                ..full.scans
            },
            ..full
        }
    }

    /// What one server could do without any waiting.
    #[must_use]
    pub(super) fn capacity_rps(&self) -> f64 {
        f64::from(self.slots) * 1e3 / self.service_ms
    }

    /// From a quarter of one server's capacity to that of all: nobody can be above.
    pub(super) fn search(&self, servers: usize) -> super::Search {
        let one = self.capacity_rps();
        super::Search::between(one / 4.0, one * servers as f64, self.step)
    }
}
