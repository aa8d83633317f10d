//! One configured filter in one worker: what the callbacks of its root context and its streams do.

use std::sync::Arc;

use proxy_wasm::types::{BufferType, LogLevel, MapType};
use rudolph_core::admin::CLUSTERS_PATH;
use rudolph_core::audit::Answered;
use rudolph_core::config::Config;
use rudolph_core::hash::KeyHash;
use rudolph_core::key::HeaderSource;
use rudolph_core::plan::Plan;
use rudolph_core::router::{Outcome, Route};
use rudolph_core::servers::ServerId;
use rudolph_core::telemetry::Counter;
use rudolph_core::worker::{Action, STARTING_TICK_MS, Worker};

use crate::host::{self, HostFault};
use crate::metrics::Metrics;
use crate::store::SharedData;

/// An answer of the admin interface beyond this is not read.
const MAX_CLUSTERS_BYTES: usize = 16 << 20;

/// A poll that is not answered by then has failed.
const POLL_TIMEOUT_MS: u32 = 2_000;

/// Where Envoy says a request really went, as the ABI writes a path of two parts.
const UPSTREAM_ADDRESS: &str = "upstream\0address";

/// A request that was sent to one of its key's owners.
#[derive(Debug)]
pub(crate) struct Sent {
    route: Route,
    plan: Arc<Plan>,
}

/// A filter.
#[derive(Debug)]
pub(crate) struct Filter {
    worker: Worker,
    metrics: Option<Metrics>,
    /// The owners list of the last request: its memory serves the next.
    owners: Vec<u8>,
}

/// The request at hand, as Envoy holds it.
struct Request;

impl HeaderSource for Request {
    fn header(&mut self, name: &str) -> Option<Vec<u8>> {
        // A header that cannot be read is a header that is not there: the next source has its turn.
        host::header(MapType::HttpRequestHeaders, name).ok().flatten()
    }
}

impl Filter {
    /// It is also made in a VM that Envoy throws away, so nothing is claimed before a tick.
    pub(crate) fn new(config: Config) -> Self {
        Self { worker: Worker::new(Arc::new(config)), metrics: None, owners: Vec::new() }
    }

    pub(crate) fn worker(&self) -> &Worker {
        &self.worker
    }

    /// The first tick comes soon; it is where a worker begins.
    pub(crate) fn start(&self) -> Result<(), HostFault> {
        host::tick_every(STARTING_TICK_MS.min(self.worker.config().tick_ms))
    }

    pub(crate) fn on_tick(&mut self) {
        // Without a clock nothing can be agreed on; the next tick tries again.
        let Ok(now_ms) = host::now_ms() else {
            return self.worker.count(Counter::HostFailed);
        };
        let actions = self.worker.tick(now_ms, &mut SharedData);
        self.perform(actions);
        self.write_metrics();
    }

    /// Puts the owners of the request's key in the header that Envoy routes by, or takes the header away: what
    /// the client wrote there decides nothing.
    pub(crate) fn on_request(&mut self) -> Option<Sent> {
        if self.worker.needs_clock()
            && let Ok(now_ms) = host::now_ms()
        {
            self.worker.catch_up(now_ms, &mut SharedData);
        }
        match self.route() {
            Ok(route) => self.send(route),
            Err(outcome) => {
                self.leave_to_fallback();
                self.explain(|| format!("reason={}", outcome.name()));
                None
            }
        }
    }

    fn route(&mut self) -> Result<Route, Outcome> {
        match self.worker.config().key.find(&mut Request) {
            Some(key) => {
                let hash = KeyHash::of(&key);
                self.worker.note_key(hash, &key);
                self.worker.route(hash)
            }
            None => Err(self.worker.no_key()),
        }
    }

    fn send(&mut self, route: Route) -> Option<Sent> {
        let Some(plan) = self.worker.plan().cloned() else {
            self.leave_to_fallback();
            return None;
        };
        self.worker.write_owners(&route, &mut self.owners);
        let name = &self.worker.config().upstream_header;
        if host::replace_request_header(name, &self.owners).is_err() {
            self.worker.count(Counter::HostFailed);
        }
        self.name_replicas(&route);
        self.explain(|| {
            let (bin, version, reason) = (route.bin, plan.version, route.outcome.name());
            format!("bin={bin} plan={version} reason={reason}")
        });
        Some(Sent { route, plan })
    }

    fn leave_to_fallback(&mut self) {
        let config = self.worker.config().clone();
        let replicas = config.replicas.as_ref().map(|replicas| &replicas.header);
        for name in [Some(&config.upstream_header), replicas].into_iter().flatten() {
            if host::remove_request_header(name).is_err() {
                self.worker.count(Counter::HostFailed);
            }
        }
    }

    /// Tells the server which servers should hold the key, if the configuration asks for it.
    fn name_replicas(&mut self, route: &Route) {
        let Some(replicas) = &self.worker.config().replicas else {
            return;
        };
        self.worker.write_replicas(route, replicas.count, &mut self.owners);
        if host::replace_request_header(&replicas.header, &self.owners).is_err() {
            self.worker.count(Counter::HostFailed);
        }
    }

    /// Writes the debug header if the configuration asks for one.
    fn explain(&mut self, text: impl FnOnce() -> String) {
        let Some(name) = &self.worker.config().debug_header else {
            return;
        };
        if host::replace_request_header(name, text().as_bytes()).is_err() {
            self.worker.count(Counter::HostFailed);
        }
    }

    /// A request is over: it is no longer in flight. Of some, Envoy is asked where they were answered.
    pub(crate) fn on_finished(&mut self, sent: &Sent) {
        if !self.worker.finish(sent.route.server) {
            return;
        }
        // Without an address it was answered by nobody: the client left, or no server could be reached.
        let Ok(Some(address)) = host::property(UPSTREAM_ADDRESS) else {
            return;
        };
        let servers = sent.plan.members.servers();
        let named = |owner: &u16| servers[ServerId(*owner).index()].address.as_str().as_bytes();
        let owners = sent.route.owners();
        self.worker.on_answered(match owners.iter().position(|owner| named(owner) == address) {
            Some(0) => Answered::ByFirst,
            Some(_) => Answered::BySuccessor,
            None => Answered::ByFallback,
        });
    }

    /// The admin interface answered, or Envoy gave up waiting, which has no headers.
    pub(crate) fn on_clusters(&mut self, headers: usize, body_size: usize) {
        let status = host::header(MapType::HttpCallResponseHeaders, ":status");
        let well = headers > 0 && status == Ok(Some(b"200".to_vec()));
        let body = if well && body_size <= MAX_CLUSTERS_BYTES {
            host::buffer(BufferType::HttpCallResponseBody, body_size).ok()
        } else {
            None
        };
        let actions = match body {
            Some(body) => self.worker.on_clusters(&body, &mut SharedData),
            None => self.worker.on_poll_failed(&mut SharedData),
        };
        self.perform(actions);
    }

    fn perform(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Poll { admin_cluster } => self.poll(&admin_cluster),
                Action::TickEvery(period_ms) => {
                    if host::tick_every(period_ms).is_err() {
                        self.worker.on_tick_period_refused();
                    }
                }
                Action::Warn(text) => host::log(LogLevel::Warn, &text),
                Action::Inform(text) => host::log(LogLevel::Info, &text),
            }
        }
    }

    fn poll(&mut self, admin_cluster: &str) {
        let headers = [(":method", "GET"), (":path", CLUSTERS_PATH), (":authority", "localhost")];
        if host::http_call(admin_cluster, &headers, POLL_TIMEOUT_MS).is_err() {
            let actions = self.worker.on_poll_failed(&mut SharedData);
            self.perform(actions);
        }
    }

    fn write_metrics(&mut self) {
        if self.metrics.is_none() {
            self.metrics = Metrics::define(&self.worker.config().stat_prefix).ok();
        }
        let Some(metrics) = &mut self.metrics else { return };
        if metrics.write(self.worker.counters(), self.worker.take_gauges()).is_err() {
            self.worker.count(Counter::HostFailed);
        }
    }

    /// Envoy drops the root context.
    pub(crate) fn on_end(&mut self) {
        self.worker.release(&mut SharedData);
        self.write_metrics();
    }
}
