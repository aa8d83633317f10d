//! A gateway on a clock that the test moves: workers that tick each in their own time over one store.

use std::collections::BTreeMap;
use std::sync::Arc;

use rudolph_core::agreement::{SharedStore, Tally, slot};
use rudolph_core::config::Config;
use rudolph_core::hash::KeyHash;
use rudolph_core::plan::Plan;
use rudolph_core::servers::Members;
use rudolph_core::telemetry::Counter;
use rudolph_core::worker::{Action, STARTING_TICK_MS, Worker};

use super::store::Store;
use super::{Rng, Zipf};

/// A tick may be so late.
pub const JITTER_MS: u64 = 15;

pub struct Seat {
    pub worker: Worker,
    pub log: Vec<String>,
    next_ms: u64,
    every_ms: u64,
    /// The highest version that it followed, for versions never go back.
    version: u64,
}

pub struct Gateway {
    pub config: Arc<Config>,
    pub seats: Vec<Seat>,
    pub now_ms: u64,
    pub rng: Rng,
    pub seed: u64,
    /// The plan of each version that any worker ever followed.
    pub plans: BTreeMap<u64, Arc<Plan>>,
    /// What the admin interface answers, `None` while it is silent.
    pub cluster: Option<Members>,
    pub polls: usize,
    /// Requests of each worker between two of its ticks.
    pub traffic: usize,
    zipf: Zipf,
}

impl Gateway {
    pub fn new(config: Arc<Config>, workers: usize, seed: u64) -> Self {
        let mut gateway = Self {
            config,
            seats: Vec::new(),
            now_ms: 1_700_000_000_000,
            rng: Rng::new(seed),
            seed,
            plans: BTreeMap::new(),
            cluster: None,
            polls: 0,
            traffic: 0,
            zipf: Zipf::new(500),
        };
        (0..workers).for_each(|_| gateway.start());
        gateway
    }

    /// One more worker starts.
    pub fn start(&mut self) {
        let next_ms = self.now_ms + self.rng.below(STARTING_TICK_MS as usize) as u64;
        self.seats.push(Seat {
            worker: Worker::new(self.config.clone()),
            log: Vec::new(),
            next_ms,
            every_ms: STARTING_TICK_MS,
            version: 0,
        });
    }

    /// A worker traps: its memory is lost, and it starts anew.
    pub fn reload(&mut self, at: usize) {
        self.seats.remove(at);
        self.start();
    }

    /// Lets time pass.
    pub fn run(&mut self, store: &mut Store, ms: u64) {
        let end = self.now_ms + ms;
        while let Some(at) = self.due(end) {
            self.now_ms = self.now_ms.max(self.seats[at].next_ms);
            self.tick(at, store);
        }
        self.now_ms = end;
    }

    pub fn ticks(&mut self, store: &mut Store, ticks: u64) {
        self.run(store, ticks * (self.config.tick_ms + JITTER_MS));
    }

    /// The wall clock is set, while the time between ticks goes on as it was.
    pub fn jump(&mut self, to_ms: u64) {
        for seat in &mut self.seats {
            seat.next_ms = to_ms + seat.next_ms.saturating_sub(self.now_ms);
        }
        self.now_ms = to_ms;
    }

    pub fn stall(&mut self, at: usize, ms: u64) {
        self.seats[at].next_ms = self.now_ms + ms;
    }

    fn due(&self, end: u64) -> Option<usize> {
        (0..self.seats.len())
            .filter(|&at| self.seats[at].next_ms <= end)
            .min_by_key(|&at| self.seats[at].next_ms)
    }

    fn tick(&mut self, at: usize, store: &mut Store) {
        for _ in 0..self.traffic {
            let key = KeyHash(super::mix(self.zipf.rank(&mut self.rng) as u64));
            let worker = &mut self.seats[at].worker;
            worker.catch_up(self.now_ms, store);
            if let Ok(route) = worker.route(key) {
                worker.finish(route.server);
            }
        }
        let actions = self.seats[at].worker.tick(self.now_ms, store);
        let late = self.rng.below(JITTER_MS as usize + 1) as u64;
        self.act(at, actions, store);
        let seat = &mut self.seats[at];
        seat.next_ms = self.now_ms + seat.every_ms + late;
        self.watch(at);
    }

    fn act(&mut self, at: usize, actions: Vec<Action>, store: &mut dyn SharedStore) {
        for action in actions {
            match action {
                Action::TickEvery(ms) => self.seats[at].every_ms = ms,
                Action::Warn(text) | Action::Inform(text) => self.seats[at].log.push(text),
                Action::Poll { admin_cluster } => {
                    assert_eq!(admin_cluster, "admin");
                    self.polls += 1;
                    let worker = &mut self.seats[at].worker;
                    let more = match &self.cluster {
                        Some(members) => worker.on_clusters(&clusters(members), store),
                        None => worker.on_poll_failed(store),
                    };
                    self.act(at, more, store);
                }
            }
        }
    }

    /// What always holds: versions rise, and a version is one plan.
    fn watch(&mut self, at: usize) {
        let seat = &mut self.seats[at];
        // A plan that a worker made for itself has the version 0.
        let Some(plan) = seat.worker.plan().filter(|plan| plan.version > 0) else { return };
        assert!(plan.version >= seat.version, "seed {}: a version went back", self.seed);
        seat.version = plan.version;
        let known = self.plans.entry(plan.version).or_insert_with(|| plan.clone());
        assert_eq!(known, plan, "seed {}: two plans of one version", self.seed);
    }

    /// Makes every worker as ready as before a request, and returns the plans that they follow.
    pub fn followed(&mut self, store: &mut Store) -> Vec<Arc<Plan>> {
        for at in 0..self.seats.len() {
            self.seats[at].worker.catch_up(self.now_ms, store);
            self.watch(at);
        }
        self.seats.iter().filter_map(|seat| seat.worker.plan().cloned()).collect()
    }

    /// The one plan that all follow.
    pub fn agreed(&mut self, store: &mut Store, context: &str) -> Arc<Plan> {
        let plans = self.followed(store);
        let seed = self.seed;
        assert_eq!(plans.len(), self.seats.len(), "seed {seed} {context}: a worker has no plan");
        let versions: Vec<u64> = plans.iter().map(|plan| plan.version).collect();
        let same = versions.iter().all(|version| *version == versions[0]);
        assert!(same, "seed {seed} {context}: {versions:?}");
        plans[0].clone()
    }

    pub fn counted(&self, counter: Counter) -> u64 {
        self.seats.iter().map(|seat| seat.worker.counters()[counter as usize]).sum()
    }

    /// The workers whose slots live.
    pub fn living(&self, store: &mut Store) -> usize {
        let (config, mut living) = (self.config.digest, 0);
        let tally = &mut Tally::default();
        slot::read_all(store, tally, config, 0, self.now_ms, |_| living += 1).unwrap();
        living
    }
}

/// What Envoy's admin interface says of healthy members.
pub fn clusters(members: &Members) -> Vec<u8> {
    let hosts: Vec<String> = (members.servers().iter())
        .map(|server| {
            let (ip, port) = server.address.as_str().rsplit_once(':').unwrap();
            let socket = format!(r#"{{"address": "{ip}", "port_value": {port}}}"#);
            let weight = server.weight;
            format!(r#"{{"address": {{"socket_address": {socket}}}, "weight": {weight}}}"#)
        })
        .collect();
    let hosts = hosts.join(",");
    format!(r#"{{"cluster_statuses": [{{"name": "app", "host_statuses": [{hosts}]}}]}}"#).into()
}

pub fn admin_config(strategy: &str, more: &str) -> Arc<Config> {
    let text = format!(
        r#"{{"strategy": "{strategy}", "key": ["path"], "membership": {{"source": "envoy_admin",
            "cluster": "app", "admin_cluster": "admin", "poll_interval_ms": 500}}{more}}}"#
    );
    Arc::new(Config::from_json(text.as_bytes()).unwrap())
}
