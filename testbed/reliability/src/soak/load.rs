//! The load of a soak: open loop, at a rate that leaves the machine to others.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rudolph_load_generator::{Arrivals, LoadConfig, LoadRun, Snapshot};
use rudolph_workload::{KeySpec, WorkloadSpec};

use crate::ReliabilityError;

/// What the clients saw so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) errors: BTreeMap<String, u64>,
}

impl Counts {
    fn add(&mut self, second: &Snapshot) {
        self.requests += second.requests;
        self.hits += second.hits;
        self.misses += second.misses;
        for (cause, count) in &second.errors {
            *self.errors.entry(cause.clone()).or_default() += count;
        }
    }
}

/// A load that runs until it is stopped.
#[derive(Debug)]
pub(crate) struct Load {
    run: LoadRun,
    counts: Arc<Mutex<Counts>>,
}

const CONNECTIONS: usize = 64;
const KEYS: u64 = 10_000;

impl Load {
    pub(crate) fn start(
        gateway: SocketAddr,
        rate: f64,
        longest: Duration,
        seed: u64,
    ) -> Result<Self, ReliabilityError> {
        // Dealt anew every 10 s: what is hot changes all the time, so that plans and sketches have work to do.
        let keys = KeySpec::Zipf { count: KEYS, alpha: 1.0, ramp: None, reshuffle_s: Some(10.0) };
        let config = LoadConfig {
            workload: WorkloadSpec { seed, keys, ..WorkloadSpec::default() },
            arrivals: Arrivals::Constant { rate },
            connections: CONNECTIONS,
            warm_up: Duration::ZERO,
            duration: longest,
            ..LoadConfig::new(gateway)
        };
        let run = LoadRun::start(config)?;
        let counts = Arc::new(Mutex::new(Counts::default()));
        tokio::spawn(collect(run.snapshots(), Arc::clone(&counts)));
        Ok(Self { run, counts })
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Errors by cause, of the whole run.
    pub(crate) async fn stop(self) -> Result<Counts, ReliabilityError> {
        self.run.stopper().stop();
        // Whether the generator kept its times is not the question here: nothing is said about latencies.
        let report = self.run.finish_anyway().await?;
        Ok(Counts {
            requests: report.requests,
            hits: report.hits,
            misses: report.misses,
            errors: report.errors,
        })
    }
}

type Seconds = tokio::sync::watch::Receiver<Option<Arc<Snapshot>>>;

async fn collect(mut seconds: Seconds, counts: Arc<Mutex<Counts>>) {
    while seconds.changed().await.is_ok() {
        if let Some(second) = seconds.borrow_and_update().as_ref() {
            counts.lock().unwrap_or_else(PoisonError::into_inner).add(second);
        }
    }
}
