use std::{fs, time::Duration};

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::latency::Latencies;

/// How the generator itself fared in the measured window.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct GeneratorHealth {
    /// Of one processor.
    pub cpu_percent: f64,
    /// Of the time, ready to run while others had the processors; absent where the system does not tell.
    pub waited_for_cpu_percent: Option<f64>,
    /// How late it was where nothing but itself could make it late.
    pub lag_p50_ms: f64,
    pub lag_p99_ms: f64,
    pub lag_max_ms: f64,
    /// Open loop: requests that had to wait for a connection (their latency counts from the intended start), and the
    /// most that waited at once.
    pub waited_for_connection: u64,
    pub backlog_peak: u64,
}

/// Why the figures are void.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BottleneckReason {
    #[error("its thread used {percent:.0}% of a processor (allowed: {allowed:.0}%)")]
    Cpu { percent: f64, allowed: f64 },
    #[error("it was late by {p99_ms:.2} ms at p99 (allowed: {allowed_ms:.2} ms)")]
    Lag { p99_ms: f64, allowed_ms: f64 },
}

const MOST_CPU_PERCENT: f64 = 90.0;

impl GeneratorHealth {
    /// Empty if the figures may be believed.
    #[must_use]
    pub fn reasons(&self, max_lag: Duration) -> Vec<BottleneckReason> {
        let allowed_ms = max_lag.as_secs_f64() * 1e3;
        let cpu = BottleneckReason::Cpu { percent: self.cpu_percent, allowed: MOST_CPU_PERCENT };
        let lag = BottleneckReason::Lag { p99_ms: self.lag_p99_ms, allowed_ms };
        let cpu = (self.cpu_percent > MOST_CPU_PERCENT).then_some(cpu);
        let lag = (self.lag_p99_ms > allowed_ms).then_some(lag);
        cpu.into_iter().chain(lag).collect()
    }
}

/// The generator's own lateness and use of its thread.
#[derive(Debug)]
pub(crate) struct SelfWatch {
    lag: Latencies,
    at_start: Option<ThreadTimes>,
    pub(crate) waited_for_connection: u64,
    pub(crate) backlog_peak: u64,
}

impl SelfWatch {
    pub(crate) fn new() -> Result<Self, hdrhistogram::CreationError> {
        Ok(Self {
            lag: Latencies::new(3)?,
            at_start: None,
            waited_for_connection: 0,
            backlog_peak: 0,
        })
    }

    /// Call on the generator's thread when the measured window begins; what was seen before is forgotten.
    pub(crate) fn begin(&mut self) {
        self.lag.clear();
        self.waited_for_connection = 0;
        self.backlog_peak = 0;
        self.at_start = Some(ThreadTimes::now());
    }

    pub(crate) fn late_by(&mut self, lag: Duration) {
        self.lag.record_ns(u64::try_from(lag.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Call on the generator's thread when the window ends.
    pub(crate) fn end(&self, window: Duration) -> GeneratorHealth {
        let now = ThreadTimes::now();
        let start = self.at_start.unwrap_or(now);
        let percent = |used: Duration| 100.0 * used.as_secs_f64() / window.as_secs_f64().max(1e-9);
        let waited = now.waited.zip(start.waited);
        let lag = self.lag.summary();
        GeneratorHealth {
            cpu_percent: percent(now.used.saturating_sub(start.used)),
            waited_for_cpu_percent: waited.map(|(end, start)| percent(end.saturating_sub(start))),
            lag_p50_ms: lag.p50_ms,
            lag_p99_ms: lag.p99_ms,
            lag_max_ms: lag.max_ms,
            waited_for_connection: self.waited_for_connection,
            backlog_peak: self.backlog_peak,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct ThreadTimes {
    used: Duration,
    waited: Option<Duration>,
}

impl ThreadTimes {
    fn now() -> Self {
        let used = clock_gettime(ClockId::ThreadCPUTime);
        Self { used: Duration::try_from(used).unwrap_or_default(), waited: waited_for_cpu() }
    }
}

/// Linux tells how long a thread was ready and not running.
fn waited_for_cpu() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let waited_ns = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(waited_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_why_it_is_void() {
        let max_lag = Duration::from_millis(5);
        let fine =
            GeneratorHealth { cpu_percent: 60.0, lag_p99_ms: 4.9, ..GeneratorHealth::default() };
        assert_eq!(fine.reasons(max_lag), []);
        let bad =
            GeneratorHealth { cpu_percent: 97.2, lag_p99_ms: 7.5, ..GeneratorHealth::default() };
        let reasons: Vec<String> = bad.reasons(max_lag).iter().map(ToString::to_string).collect();
        assert_eq!(
            reasons,
            [
                "its thread used 97% of a processor (allowed: 90%)",
                "it was late by 7.50 ms at p99 (allowed: 5.00 ms)"
            ]
        );
    }
}
