//! Why requests fell back and what was refused: from Envoy's own counters, so that both say the same.

use std::collections::VecDeque;

use crate::document::Cause;
use rudolph_core::telemetry::{Counter, Counters, Gauge};

/// What Envoy says of the metrics of one filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    pub counters: Counters,
    pub gauges: [u64; Gauge::ALL.len()],
}

/// Reads a filter's metrics by their common prefix; `None` if Envoy does not give them.
pub trait MetricSource {
    fn read(&mut self, prefix: &str) -> Option<Readings>;
}

/// What is recent.
const RECENT_MS: u64 = 60_000;

/// What still goes on: since the reading before the last one.
const PRESENT_MS: u64 = 5_000;

/// Readings of the last minute or so.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    past: VecDeque<(u64, Counters)>,
}

impl Meter {
    pub(crate) fn note(&mut self, now_ms: u64, counters: Counters) {
        // A clock that jumped, or counters that began anew, leave nothing to compare with.
        let newer = |(at, past): &(u64, Counters)| {
            *at > now_ms || past.iter().zip(&counters).any(|(past, now)| past > now)
        };
        if self.past.back().is_some_and(newer) {
            self.past.clear();
        }
        // The last of those that are too old stays, so that the whole span can be told.
        while self.past.get(1).is_some_and(|(at, _)| now_ms.saturating_sub(*at) >= RECENT_MS) {
            self.past.pop_front();
        }
        self.past.push_back((now_ms, counters));
    }

    /// How much each counter rose since about so long ago.
    fn rise(&self, now_ms: u64, counters: &Counters, span_ms: u64) -> Counters {
        let mut rise = Counters::default();
        let old = self.past.iter().rev().find(|(at, _)| now_ms.saturating_sub(*at) >= span_ms);
        let Some((_, past)) = old.or(self.past.front()) else { return rise };
        for (rise, (now, past)) in rise.iter_mut().zip(counters.iter().zip(past)) {
            *rise = now.saturating_sub(*past);
        }
        rise
    }

    pub(crate) fn causes(&self, now_ms: u64, counters: &Counters) -> Vec<Cause> {
        let recent = self.rise(now_ms, counters, RECENT_MS);
        let present = self.rise(now_ms, counters, PRESENT_MS);
        SHOWN
            .iter()
            .map(|(counter, text, rule)| Cause {
                name: counter.name(),
                text,
                total: counters[*counter as usize],
                recent: recent[*counter as usize],
                matters: match rule {
                    Rule::Recent => recent[*counter as usize] > 0,
                    Rule::Present => present[*counter as usize] > 0,
                    Rule::Share => share_matters(&present, *counter, 1),
                    Rule::Sampled => share_matters(&present, *counter, AUDITED),
                    Rule::Never => false,
                },
            })
            .collect()
    }
}

/// When a cause matters.
#[derive(Clone, Copy, Debug)]
enum Rule {
    /// Once in the last minute is too often.
    Recent,
    /// While it goes on.
    Present,
    /// While it is more than a hundredth of the requests.
    Share,
    /// The same, where only one finished request in 32 is looked at.
    Sampled,
    Never,
}

/// So many finished requests stand behind one that is looked at, as a rule.
const AUDITED: u64 = 32;

fn share_matters(present: &Counters, counter: Counter, each: u64) -> bool {
    let requests: u64 = present[..=Counter::RequestsNoServer as usize].iter().sum();
    present[counter as usize].saturating_mul(each).saturating_mul(100) > requests
}

const SHOWN: [(Counter, &str, Rule); 12] = [
    (Counter::RequestsNoServer, "no server was usable", Rule::Present),
    (Counter::RequestsNoPlan, "no plan was there yet", Rule::Present),
    (Counter::RequestsNoKey, "the request had no key", Rule::Share),
    (Counter::Fallback, "the named server was not in the cluster", Rule::Present),
    (Counter::RetriesToSuccessor, "the first owner failed and a later one answered", Rule::Sampled),
    (Counter::RequestsSpilled, "the home was in an emergency", Rule::Never),
    (Counter::PollsFailed, "Envoy did not say who its servers are", Rule::Present),
    (Counter::PlansRefused, "a plan broke a guarantee", Rule::Recent),
    (Counter::SharedRefused, "shared data could not be read", Rule::Recent),
    (Counter::SharedFailed, "shared data failed", Rule::Recent),
    (Counter::HostFailed, "a call to Envoy failed", Rule::Recent),
    (Counter::SharedLost, "another worker was faster", Rule::Never),
];
