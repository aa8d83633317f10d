//! The status page in one worker: what the callbacks of its root context and its streams do.

use std::collections::BTreeMap;

use proxy_wasm::types::MapType;
use rudolph_core::config::StatusConfig;
use rudolph_core::shown::watch::HEARTBEAT_MS;
use rudolph_core::worker::STARTING_TICK_MS;
use rudolph_status::{MetricSource, Readings, Request, Status};

use crate::filter::Filter;
use crate::host::{self, HostFault};
use crate::metrics::Metrics;
use crate::store::SharedData;

/// A place that serves the page.
#[derive(Debug)]
pub(crate) struct StatusPage {
    status: Status,
    metrics: Readers,
    ticked: bool,
}

/// Envoy's values of filters' metrics, by prefix.
#[derive(Debug, Default)]
struct Readers(BTreeMap<String, Metrics>);

impl MetricSource for Readers {
    fn read(&mut self, prefix: &str) -> Option<Readings> {
        if !self.0.contains_key(prefix) {
            self.0.insert(prefix.to_owned(), Metrics::define(prefix).ok()?);
        }
        self.0.get(prefix)?.read().ok()
    }
}

impl StatusPage {
    pub(crate) fn new(config: StatusConfig) -> Self {
        Self { status: Status::new(config), metrics: Readers::default(), ticked: false }
    }

    /// The first tick comes soon: workers tell nothing before somebody may look.
    pub(crate) fn start(&self) -> Result<(), HostFault> {
        host::tick_every(STARTING_TICK_MS)
    }

    pub(crate) fn on_tick(&mut self) {
        // What fails now is tried again at the next tick; until then the page shows what there is.
        let Ok(now_ms) = host::now_ms() else { return };
        let told = self.status.tick(now_ms, &mut SharedData, &mut self.metrics);
        if !self.ticked && told.is_ok() {
            self.ticked = host::tick_every(HEARTBEAT_MS).is_ok();
        }
    }

    /// Answers the request at hand. Filters of this VM lend their tables, which cost milliseconds to make.
    pub(crate) fn on_request<'f>(&mut self, filters: impl Iterator<Item = &'f Filter>) {
        for filter in filters {
            if let Some((plan, table)) = filter.worker().routing() {
                self.status.tables().lend(filter.worker().config(), plan, table);
            }
        }
        let header = |name| {
            let found = host::header(MapType::HttpRequestHeaders, name);
            found.ok().flatten().unwrap_or_default()
        };
        let request = Request {
            method: header(":method"),
            path: header(":path"),
            authority: header(":authority"),
        };
        let now_ms = host::now_ms().unwrap_or(0);
        let answer = self.status.answer(&request, now_ms, &mut SharedData, &mut self.metrics);
        let headers: Vec<(&str, &str)> =
            answer.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        // Where Envoy does not take the answer, the router's own 404 follows.
        let _ = host::respond(answer.status, &headers, &answer.body);
    }
}
