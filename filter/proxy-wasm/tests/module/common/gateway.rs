//! A gateway: workers of one host that tick in turn, each a little after the other.

use std::time::Duration;

use rudolph_mock_host::{Configuration, Host, Stream, Worker, WorkerError};

use super::admin::Admin;
use super::watch::{Shared, Watch};
use super::{Setup, address, module};

pub(crate) const TICK_MS: u64 = 100;

/// An ordinary wall time, in nanoseconds.
const START_NANOS: u64 = 1_700_000_000_000_000_000;

pub(crate) const UPSTREAM: &str = "x-rudolph-upstream";

/// What a worker made of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Routed {
    pub(crate) owners: Vec<String>,
    /// From the debug header; 0 where there was no plan.
    pub(crate) plan: u64,
    pub(crate) reason: String,
}

impl Routed {
    pub(crate) fn of(stream: &Stream) -> Self {
        let text = |name: &str| {
            let value = stream.headers.get(name).unwrap_or_default();
            String::from_utf8(value.to_vec()).expect("the filter writes text")
        };
        let debug = text("x-debug");
        let field = |name: &str| {
            debug.split(' ').find_map(|part| part.strip_prefix(name)).unwrap_or_default().to_owned()
        };
        let list = text(UPSTREAM);
        let owners = list.split(',').filter(|owner| !owner.is_empty());
        Self {
            owners: owners.map(str::to_owned).collect(),
            plan: field("plan=").parse().unwrap_or(0),
            reason: field("reason="),
        }
    }

    pub(crate) fn owner(&self) -> &str {
        self.owners.first().map_or("", String::as_str)
    }
}

#[derive(Debug)]
pub(crate) struct Gateway {
    pub(crate) host: Host,
    pub(crate) workers: Vec<Worker>,
    pub(crate) admin: Admin,
    pub(crate) watch: Watch,
    pub(crate) setup: Setup,
    versions: Vec<u64>,
}

impl Gateway {
    /// Workers that have not ticked yet. The admin interface knows five healthy servers.
    pub(crate) fn cold(workers: usize, setup: &Setup) -> Self {
        let host = Host::new();
        host.clock().set_nanos(START_NANOS);
        let mut gateway = Self {
            host,
            workers: Vec::new(),
            admin: Admin::healthy(&(0..5).map(address).collect::<Vec<_>>()),
            watch: Watch::default(),
            setup: setup.clone(),
            versions: Vec::new(),
        };
        for _ in 0..workers {
            gateway.add_worker();
        }
        gateway
    }

    /// Workers that have all had the time to follow a plan.
    pub(crate) fn start(workers: usize, setup: &Setup) -> Self {
        let mut gateway = Self::cold(workers, setup);
        gateway.tick_rounds(10);
        gateway
    }

    pub(crate) fn add_worker(&mut self) {
        let configuration = Configuration::plugin(self.setup.json());
        let worker = Worker::start(module(), &self.host, &configuration);
        self.workers.push(worker.expect("the worker takes the configuration"));
        self.versions.push(0);
    }

    /// A dead worker's VM is made anew; it knows no plan then.
    pub(crate) fn reload(&mut self, worker: usize) {
        self.workers[worker].reload().expect("a fresh VM starts");
        self.versions[worker] = 0;
    }

    pub(crate) fn shared(&self) -> Shared {
        Shared::of(&self.host, self.setup.config().digest)
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.host.clock().nanos() / 1_000_000
    }

    pub(crate) fn advance_ms(&self, ms: u64) {
        self.host.clock().advance(Duration::from_millis(ms));
    }

    /// One worker's tick, with the answers to its polls.
    pub(crate) fn tick(&mut self, worker: usize) {
        let ticked = self.try_tick(worker);
        ticked.unwrap_or_else(|error| panic!("worker {worker}: {error}"));
    }

    pub(crate) fn try_tick(&mut self, worker: usize) -> Result<(), WorkerError> {
        let ticked = self.workers[worker].tick();
        self.watch.look(&self.host);
        let served = ticked.and_then(|()| self.admin.serve(&mut self.workers[worker]));
        self.watch.look(&self.host);
        served
    }

    /// Every worker ticks once while one tick's time passes.
    pub(crate) fn tick_all(&mut self) {
        self.tick_all_but(&[]);
    }

    /// A round in which some workers stand still.
    pub(crate) fn tick_all_but(&mut self, still: &[usize]) {
        let workers = self.workers.len();
        let end = self.host.clock().nanos() + TICK_MS * 1_000_000;
        for worker in 0..workers {
            let step = TICK_MS * 1_000_000 / workers as u64;
            self.host.clock().advance(Duration::from_nanos(step));
            if !still.contains(&worker) {
                self.tick(worker);
            }
        }
        self.host.clock().set_nanos(end);
    }

    pub(crate) fn tick_rounds(&mut self, rounds: usize) {
        for _ in 0..rounds {
            self.tick_all();
        }
    }

    /// A request that stays unfinished.
    pub(crate) fn open(&mut self, worker: usize, key: &str) -> Stream {
        let headers = [(":method", "GET"), (":path", "/"), (":authority", "a"), ("x-key", key)];
        self.workers[worker].request(&headers).expect("a request does not trap")
    }

    /// A request from begin to end.
    pub(crate) fn request(&mut self, worker: usize, key: &str) -> Routed {
        let stream = self.open(worker, key);
        let routed = Routed::of(&stream);
        self.finish(worker, stream);
        // Without a key or a server there is no word of the plan.
        if ["no_key", "no_server"].contains(&routed.reason.as_str()) {
            return routed;
        }
        let before = std::mem::replace(&mut self.versions[worker], routed.plan);
        assert!(
            routed.plan >= before,
            "worker {worker} went from plan {before} to {}",
            routed.plan
        );
        routed
    }

    pub(crate) fn finish(&mut self, worker: usize, stream: Stream) {
        self.workers[worker].finish(stream).expect("the end of a request does not trap");
    }

    /// The plan versions that the workers follow.
    pub(crate) fn versions(&mut self) -> Vec<u64> {
        (0..self.workers.len()).map(|worker| self.request(worker, "probe").plan).collect()
    }

    /// The version that all workers follow.
    pub(crate) fn agreed_version(&mut self) -> u64 {
        let versions = self.versions();
        assert!(
            versions[0] > 0 && versions.iter().all(|version| *version == versions[0]),
            "the workers follow the plans {versions:?}"
        );
        versions[0]
    }

    pub(crate) fn counter(&self, name: &str) -> u64 {
        self.host.metrics().counter(&format!("rudolph.{name}")).unwrap_or(0)
    }

    pub(crate) fn gauge(&self, name: &str) -> Option<u64> {
        self.host.metrics().gauge(&format!("rudolph.{name}"))
    }
}
