//! Runs a trace through every strategy and finds how many servers each needs.

use serde::Serialize;

use super::Trace;
use crate::engine::{Keys, Measured};
use crate::report::Row;
use crate::run::{RunError, run_one};
use crate::scenario::{Arrivals, Choice, Rival, Scenario, Strategy};

/// Of the trace, so much only warms the caches.
const WARMUP_SHARE: f64 = 0.2;

/// The search for fewer servers uses at most so many of the last requests, half of them to warm the caches.
const SAMPLE: usize = 1_000_000;
const SAMPLE_WARMUP_SHARE: f64 = 0.5;

/// A p99 within this factor is no worse: two runs that differ in nothing that matters differ by as much.
const NO_WORSE: f64 = 1.02;

/// Where no rate is given: one that loads perfectly shared servers so far.
const USUAL_LOAD: f64 = 0.65;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// Servers, caches and gateways; its keys and times are those of the trace.
    pub scenario: Scenario,
    /// Requests a second, if known.
    pub rps: Option<f64>,
    /// What routes today: the others are compared with it.
    pub today: Strategy,
}

/// A key and its share of all requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HotKey {
    pub key: String,
    pub share: f64,
}

/// A row of a trace.
#[derive(Clone, Debug, Serialize)]
pub struct TraceRow {
    #[serde(flatten)]
    pub row: Row,
    /// With so few servers it is still no slower at p99 than today's way with all of them; `None`: not even with all.
    pub servers_enough: Option<usize>,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    pub requests: usize,
    pub unparsable_lines: u64,
    pub different_keys: usize,
    pub servers: usize,
    pub cache_keys: usize,
    pub rps: f64,
    /// What `servers_enough` compares with.
    pub today: String,
    /// The most that one owner a key can do about the peak: the hottest key's share of one server's fair share.
    pub hottest_key_of_a_fair_share: f64,
    pub hottest: Vec<HotKey>,
    pub rows: Vec<TraceRow>,
}

/// Answers; `on_done` is called twice for each strategy.
///
/// # Errors
/// A strategy's configuration does not fit so few servers.
pub fn advise(trace: &Trace, question: &Question, on_done: &dyn Fn()) -> Result<Advice, RunError> {
    let strategies = question.scenario.strategies.iter().chain([&question.today]);
    if strategies.into_iter().any(|strategy| matches!(strategy.choice, Choice::Rival(Rival::Range)))
    {
        return Err(RunError::RangeOfTrace);
    }
    let servers = question.scenario.servers.count;
    let rps = match question.rps {
        Some(rps) => rps,
        None => usual_rate(trace, &question.scenario)?,
    };
    let base = &question.scenario;
    let whole = Replay { trace, from: 0, warmup_share: WARMUP_SHARE, rps, base };
    let from = trace.keys.len().saturating_sub(SAMPLE);
    let sample = Replay { from, warmup_share: SAMPLE_WARMUP_SHARE, ..whole };
    let mut rows = Vec::new();
    for strategy in &question.scenario.strategies {
        let measured = whole.run(strategy, servers)?;
        rows.push(TraceRow { row: Row::of(&strategy.name, &measured), servers_enough: None });
        on_done();
    }
    let today = rows.iter().find(|row| row.row.strategy == question.today.name);
    let bar_ms = match today {
        Some(row) => row.row.p99_ms,
        None => p99_ms(&whole.run(&question.today, servers)?),
    };
    let sample_bar_ms = p99_ms(&sample.run(&question.today, servers)?);
    for (row, strategy) in rows.iter_mut().zip(&question.scenario.strategies) {
        if row.row.p99_ms <= bar_ms * NO_WORSE {
            row.servers_enough = Some(sample.enough(strategy, servers, sample_bar_ms)?);
        }
        on_done();
    }
    Ok(Advice {
        requests: trace.keys.len(),
        unparsable_lines: trace.unparsable,
        different_keys: trace.hashes.len(),
        servers,
        cache_keys: question.scenario.servers.cache_keys,
        rps,
        today: question.today.name.clone(),
        hottest_key_of_a_fair_share: trace.hottest[0].share * servers as f64,
        hottest: trace.hottest.clone(),
        rows,
    })
}

/// The rate that loads the servers as usual if their caches were one and their queues one.
fn usual_rate(trace: &Trace, scenario: &Scenario) -> Result<f64, RunError> {
    let servers = &scenario.servers;
    let pooled = servers.cache_keys * servers.count;
    let last = trace.keys.len().saturating_sub(2 * SAMPLE);
    let hits = crate::engine::hit_share(&trace.keys[last..], pooled, trace.hashes.len());
    let mean_ms = servers.hit_ms + (1.0 - hits) * servers.miss_ms;
    Ok(USUAL_LOAD * (servers.count * servers.slots as usize) as f64 * 1000.0 / mean_ms)
}

/// The trace from some line on, at a rate.
#[derive(Clone, Copy)]
struct Replay<'a> {
    trace: &'a Trace,
    from: usize,
    warmup_share: f64,
    rps: f64,
    base: &'a Scenario,
}

impl Replay<'_> {
    fn run(&self, strategy: &Strategy, servers: usize) -> Result<Measured, RunError> {
        let seconds = (self.trace.keys.len() - self.from) as f64 / self.rps;
        let mut scenario = self.base.clone();
        scenario.servers.count = servers;
        scenario.servers.slow.retain(|slow| slow.server < servers);
        scenario.arrivals = Arrivals { clients: None, open_rps: Some(self.rps) };
        scenario.warmup_s = seconds * self.warmup_share;
        scenario.seconds = seconds - scenario.warmup_s;
        let (keys, hashes) = (self.trace.keys.clone(), self.trace.hashes.clone());
        let keys = Keys::of_trace(keys, self.from, hashes);
        run_one(&scenario, strategy, scenario.seeds[0], keys)
    }

    /// The fewest servers with which p99 is no worse than the bar; more servers never make it worse.
    fn enough(&self, strategy: &Strategy, servers: usize, bar_ms: f64) -> Result<usize, RunError> {
        let suffices =
            |count| Ok::<_, RunError>(p99_ms(&self.run(strategy, count)?) <= bar_ms * NO_WORSE);
        // Mostly not even one can go, so that is tried first.
        if servers == 1 || !suffices(servers - 1)? {
            return Ok(servers);
        }
        let (mut too_few, mut enough) = (0, servers - 1);
        while enough - too_few > 1 {
            let middle = too_few.midpoint(enough);
            if suffices(middle)? { enough = middle } else { too_few = middle }
        }
        Ok(enough)
    }
}

fn p99_ms(measured: &Measured) -> f64 {
    Row::of("", measured).p99_ms
}
