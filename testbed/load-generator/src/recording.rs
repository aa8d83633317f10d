use std::collections::{BTreeMap, HashMap};

use hyper::header::HeaderValue;

use rudolph_workload::KeyId;

use crate::{
    LatencySummary, ServerSecond, ServerTotal, Snapshot, StopRule, latency::Latencies, moves::Moves,
};

/// An answer, as far as it is counted.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub server: Option<HeaderValue>,
    pub cache: Option<CacheMark>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheMark {
    Hit,
    Miss,
}

/// Why there was no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    #[error("connect")]
    Connect,
    #[error("timeout")]
    Timeout,
    #[error("reset")]
    Reset,
    #[error("request")]
    Request,
    /// It still waited for a connection when the run was over.
    #[error("unfinished")]
    Unfinished,
}

pub type Outcome = Result<Reply, SendError>;

pub(crate) const SECOND_NS: u64 = 1_000_000_000;
/// Name of the row for answers without an `x-server` header, such as the gateway's own.
const UNNAMED: &str = "(none)";
/// More servers than this share the row of the unnamed.
const MOST_SERVERS: usize = 4_096;

#[derive(Clone, Debug, Default)]
struct Counts {
    requests: u64,
    hits: u64,
    misses: u64,
    errors: u64,
}

/// One row: counts, and the latencies of what succeeded.
#[derive(Clone, Debug)]
struct Row {
    counts: Counts,
    latencies: Latencies,
}

#[derive(Debug)]
struct Server {
    name: String,
    total: Row,
    second: Row,
}

/// Counts what happened, by second and by server. No clock: times are arguments, in nanoseconds since the start.
#[derive(Debug)]
pub(crate) struct Recorder {
    rule: StopRule,
    total: Row,
    second: Row,
    servers: Vec<Server>,
    by_name: HashMap<Box<[u8]>, usize>,
    total_errors: BTreeMap<String, u64>,
    second_errors: BTreeMap<String, u64>,
    current_second: u64,
    timeline: Vec<Snapshot>,
    moves: Moves,
}

impl Row {
    fn new(digits: u8) -> Result<Self, hdrhistogram::CreationError> {
        Ok(Self { counts: Counts::default(), latencies: Latencies::new(digits)? })
    }

    fn add(&mut self, latency_ns: u64, cache: Option<CacheMark>, is_error: bool) {
        if is_error {
            self.counts.errors += 1;
            return;
        }
        self.counts.requests += 1;
        match cache {
            Some(CacheMark::Hit) => self.counts.hits += 1,
            Some(CacheMark::Miss) => self.counts.misses += 1,
            None => {}
        }
        self.latencies.record_ns(latency_ns);
    }

    fn clear(&mut self) {
        self.counts = Counts::default();
        self.latencies.clear();
    }
}

const TOTAL_DIGITS: u8 = 3;
const SECOND_DIGITS: u8 = 2;
/// A thousand servers may be seen: 20 kB each, not 150.
const SERVER_DIGITS: u8 = 2;

impl Recorder {
    pub(crate) fn new(rule: StopRule) -> Result<Self, hdrhistogram::CreationError> {
        Ok(Self {
            rule,
            total: Row::new(TOTAL_DIGITS)?,
            second: Row::new(SECOND_DIGITS)?,
            servers: Vec::new(),
            by_name: HashMap::new(),
            total_errors: BTreeMap::new(),
            second_errors: BTreeMap::new(),
            current_second: 0,
            timeline: Vec::new(),
            moves: Moves::default(),
        })
    }

    /// Counts one request. It belongs to the second in which it ended, and to the totals if it should have started inside
    /// the measured window.
    pub(crate) fn record(
        &mut self,
        intended_ns: u64,
        finished_ns: u64,
        key: KeyId,
        outcome: &Outcome,
    ) {
        self.close_seconds_before(finished_ns);
        let latency_ns = finished_ns.saturating_sub(intended_ns);
        let measured = self.rule.measures(intended_ns);
        let cause = error_cause(outcome);
        if let Some(cause) = &cause {
            count(&mut self.second_errors, cause);
            if measured {
                count(&mut self.total_errors, cause);
            }
        }
        let cache = outcome.as_ref().ok().and_then(|reply| reply.cache);
        self.second.add(latency_ns, cache, cause.is_some());
        if measured {
            self.total.add(latency_ns, cache, cause.is_some());
        }
        if let Ok(reply) = outcome
            && let Some(index) = self.server(reply.server.as_ref())
            && let Some(server) = self.servers.get_mut(index)
        {
            server.second.add(latency_ns, cache, cause.is_some());
            if measured {
                server.total.add(latency_ns, cache, cause.is_some());
            }
            if cause.is_none() {
                self.moves.met(key, index, measured);
            }
        }
    }

    /// Ends every second that is over at `now_ns`, empty ones too, and returns the last one ended.
    pub(crate) fn close_seconds_before(&mut self, now_ns: u64) -> Option<&Snapshot> {
        while self.current_second < now_ns / SECOND_NS {
            self.close_second();
        }
        self.timeline.last()
    }

    fn close_second(&mut self) {
        let start_ns = self.current_second * SECOND_NS;
        let servers = self.servers.iter_mut().map(Server::take_second).collect();
        let counts = self.second.counts.clone();
        self.timeline.push(Snapshot {
            second: self.current_second,
            phase: self.rule.phase(start_ns, 0),
            requests: counts.requests,
            hits: counts.hits,
            misses: counts.misses,
            latency: self.second.latencies.summary(),
            errors: std::mem::take(&mut self.second_errors),
            servers,
        });
        self.second.clear();
        self.current_second += 1;
    }

    /// The row of this server, made when it is first seen. (Making it cannot fail once one has been made.)
    fn server(&mut self, name: Option<&HeaderValue>) -> Option<usize> {
        let name = name.map_or(UNNAMED.as_bytes(), HeaderValue::as_bytes);
        if let Some(&index) = self.by_name.get(name) {
            return Some(index);
        }
        let name = if self.servers.len() < MOST_SERVERS { name } else { UNNAMED.as_bytes() };
        let index = *self.by_name.entry(name.into()).or_insert(self.servers.len());
        if index == self.servers.len() {
            self.servers.push(Server {
                name: String::from_utf8_lossy(name).into_owned(),
                total: Row::new(SERVER_DIGITS).ok()?,
                second: Row::new(SECOND_DIGITS).ok()?,
            });
        }
        Some(index)
    }

    /// Everything counted, at the end.
    pub(crate) fn into_totals(self) -> Totals {
        let mut servers: Vec<ServerTotal> = self.servers.iter().map(Server::total).collect();
        servers.sort_by(|a, b| a.server.cmp(&b.server));
        let named = servers.iter().filter(|server| server.server != UNNAMED);
        let named_requests: u64 = named.clone().map(|server| server.requests).sum();
        let mean = ratio(named_requests, named.count() as u64);
        for server in &mut servers {
            server.share_over_mean = if mean > 0.0 { server.requests as f64 / mean } else { 0.0 };
        }
        Totals {
            requests: self.total.counts.requests,
            hits: self.total.counts.hits,
            misses: self.total.counts.misses,
            latency: self.total.latencies.summary(),
            histogram_us: self.total.latencies.buckets(),
            errors: self.total_errors,
            servers,
            timeline: self.timeline,
            moves: self.moves,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Totals {
    pub(crate) requests: u64,
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) latency: LatencySummary,
    pub(crate) histogram_us: Vec<(u64, u64)>,
    pub(crate) errors: BTreeMap<String, u64>,
    pub(crate) servers: Vec<ServerTotal>,
    pub(crate) timeline: Vec<Snapshot>,
    pub(crate) moves: Moves,
}

impl Server {
    fn take_second(&mut self) -> ServerSecond {
        let second = ServerSecond {
            server: self.name.clone(),
            requests: self.second.counts.requests,
            hits: self.second.counts.hits,
            misses: self.second.counts.misses,
            errors: self.second.counts.errors,
            latency: self.second.latencies.summary(),
        };
        self.second.clear();
        second
    }

    fn total(&self) -> ServerTotal {
        let counts = &self.total.counts;
        ServerTotal {
            server: self.name.clone(),
            requests: counts.requests,
            share_over_mean: 0.0,
            hits: counts.hits,
            misses: counts.misses,
            hit_percent: 100.0 * ratio(counts.hits, counts.hits + counts.misses),
            errors: counts.errors,
            latency: self.total.latencies.summary(),
        }
    }
}

/// `None` for an answer of 1xx to 3xx; a status or a cause otherwise.
fn error_cause(outcome: &Outcome) -> Option<String> {
    match outcome {
        Ok(reply) if reply.status < 400 => None,
        Ok(reply) => Some(format!("http_{}", reply.status)),
        Err(error) => Some(error.to_string()),
    }
}

fn count(errors: &mut BTreeMap<String, u64>, cause: &str) {
    *errors.entry(cause.to_owned()).or_insert(0) += 1;
}

#[allow(clippy::cast_precision_loss)] // counts of requests
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
