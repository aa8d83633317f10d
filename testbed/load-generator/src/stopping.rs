use std::time::Duration;

use serde::Serialize;

/// Where in the run a request starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    WarmUp,
    Measure,
    Done,
}

/// When the run ends: after its time or after its requests, whichever is first. No clock: the time is an argument.
#[derive(Clone, Copy, Debug)]
pub struct StopRule {
    warm_up_ns: u64,
    end_ns: u64,
    max_requests: u64,
}

impl StopRule {
    #[must_use]
    pub fn new(warm_up: Duration, duration: Duration, max_requests: Option<u64>) -> Self {
        Self {
            warm_up_ns: nanoseconds(warm_up),
            end_ns: nanoseconds(warm_up + duration),
            max_requests: max_requests.unwrap_or(u64::MAX),
        }
    }

    /// The phase of a request that would start at `now_ns` after `started` others.
    #[must_use]
    pub fn phase(&self, now_ns: u64, started: u64) -> Phase {
        if now_ns >= self.end_ns || started >= self.max_requests {
            Phase::Done
        } else if now_ns < self.warm_up_ns {
            Phase::WarmUp
        } else {
            Phase::Measure
        }
    }

    /// True for a start inside the measured window, however many requests there were.
    #[must_use]
    pub fn measures(&self, start_ns: u64) -> bool {
        (self.warm_up_ns..self.end_ns).contains(&start_ns)
    }

    #[must_use]
    pub fn warm_up_ns(&self) -> u64 {
        self.warm_up_ns
    }

    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.end_ns
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_by_time_or_by_count() {
        let second = 1_000_000_000;
        let rule = StopRule::new(Duration::from_secs(1), Duration::from_secs(2), Some(10));
        assert_eq!(rule.phase(0, 0), Phase::WarmUp);
        assert_eq!(rule.phase(second - 1, 9), Phase::WarmUp);
        assert_eq!(rule.phase(second, 0), Phase::Measure);
        assert_eq!(rule.phase(3 * second - 1, 9), Phase::Measure);
        assert_eq!(rule.phase(3 * second, 0), Phase::Done);
        assert_eq!(rule.phase(0, 10), Phase::Done);
        assert!(rule.measures(second) && !rule.measures(second - 1) && !rule.measures(3 * second));
    }
}
