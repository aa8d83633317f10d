//! What is measured, from the end of the warm-up on.

use hdrhistogram::Histogram;

/// Latencies from a microsecond to a day, to three digits.
const LOWEST_NS: u64 = 1_000;
const HIGHEST_NS: u64 = 86_400_000_000_000;

/// The figures of one run, or of several added up.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Nanoseconds from arrival to answer.
    pub latency: Histogram<u64>,
    /// Sum of the latencies, exactly.
    pub latency_sum_ns: u128,
    pub seconds: f64,
    pub hits: u64,
    pub misses: u64,
    pub errors: u64,
    /// Requests sent again, because their server was gone.
    pub retries: u64,
    /// Highest of all servers over the mean, each second's, added up over `windows`.
    pub peaks: f64,
    pub windows: u64,
    /// Keys whose home changed; `None` where keys have none.
    pub moved_keys: Option<f64>,
    /// Cache entries a cached key at the end, added up over `runs`.
    pub copies: f64,
    pub runs: u32,
    /// Requests that waited or were served when the run ended.
    pub unfinished: u64,
    /// The highest p99 of any second of any run.
    pub worst_second_p99_ms: f64,
    /// A point a second, of the first run.
    pub timeline: Vec<Second>,
}

/// One second of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Second {
    pub completed: u64,
    pub p99_ms: f64,
    pub hits: u64,
    pub misses: u64,
    pub peak_over_mean: f64,
}

impl Measured {
    pub(crate) fn new() -> Result<Self, hdrhistogram::CreationError> {
        Ok(Self {
            latency: Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, 3)?,
            latency_sum_ns: 0,
            seconds: 0.0,
            hits: 0,
            misses: 0,
            errors: 0,
            retries: 0,
            peaks: 0.0,
            windows: 0,
            moved_keys: None,
            copies: 0.0,
            runs: 0,
            unfinished: 0,
            worst_second_p99_ms: 0.0,
            timeline: Vec::new(),
        })
    }

    /// Adds another run with another seed.
    pub(crate) fn add(&mut self, other: &Self) {
        // Both have the same bounds, so nothing can fail to fit.
        let _ = self.latency.add(&other.latency);
        self.latency_sum_ns += other.latency_sum_ns;
        self.seconds += other.seconds;
        self.hits += other.hits;
        self.misses += other.misses;
        self.errors += other.errors;
        self.retries += other.retries;
        self.peaks += other.peaks;
        self.windows += other.windows;
        self.moved_keys = match (self.moved_keys, other.moved_keys) {
            (Some(ours), Some(theirs)) => Some(ours + theirs),
            (ours, theirs) => ours.or(theirs),
        };
        self.copies += other.copies;
        self.runs += other.runs;
        self.unfinished += other.unfinished;
        self.worst_second_p99_ms = self.worst_second_p99_ms.max(other.worst_second_p99_ms);
        if self.timeline.is_empty() {
            self.timeline.clone_from(&other.timeline);
        }
    }
}

/// Takes the measurements of one run.
#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) measured: Measured,
    pub(crate) active: bool,
    /// Requests sent to each server in this second.
    sent: Vec<u32>,
    second: Histogram<u64>,
    hits_before: u64,
    misses_before: u64,
}

impl Meter {
    pub(crate) fn new(servers: usize) -> Result<Self, hdrhistogram::CreationError> {
        Ok(Self {
            measured: Measured::new()?,
            active: false,
            sent: vec![0; servers],
            second: Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, 2)?,
            hits_before: 0,
            misses_before: 0,
        })
    }

    #[inline]
    pub(crate) fn sent(&mut self, server: u32) {
        self.sent[server as usize] += 1;
    }

    #[inline]
    pub(crate) fn looked_up(&mut self, hit: bool) {
        if self.active {
            self.measured.hits += u64::from(hit);
            self.measured.misses += u64::from(!hit);
        }
    }

    #[inline]
    pub(crate) fn answered(&mut self, latency_ns: u64) {
        if self.active {
            self.measured.latency.saturating_record(latency_ns);
            self.measured.latency_sum_ns += u128::from(latency_ns);
            self.second.saturating_record(latency_ns);
        }
    }

    pub(crate) fn failed(&mut self) {
        self.measured.errors += u64::from(self.active);
    }

    pub(crate) fn retried(&mut self) {
        self.measured.retries += u64::from(self.active);
    }

    /// A second is over.
    pub(crate) fn close_second(&mut self, alive: usize) {
        let total: u64 = self.sent.iter().map(|&sent| u64::from(sent)).sum();
        let peak = self.sent.iter().copied().max().unwrap_or(0);
        self.sent.fill(0);
        if !self.active {
            return;
        }
        let mut peak_over_mean = 0.0;
        if total > 0 && alive > 0 {
            peak_over_mean = f64::from(peak) * alive as f64 / total as f64;
            self.measured.peaks += peak_over_mean;
            self.measured.windows += 1;
        }
        let (hits, misses) = (self.measured.hits, self.measured.misses);
        let p99_ms = match self.second.len() {
            0 => 0.0,
            _ => self.second.value_at_quantile(0.99) as f64 / 1e6,
        };
        self.measured.worst_second_p99_ms = self.measured.worst_second_p99_ms.max(p99_ms);
        self.measured.timeline.push(Second {
            completed: self.second.len(),
            p99_ms,
            hits: hits - self.hits_before,
            misses: misses - self.misses_before,
            peak_over_mean,
        });
        (self.hits_before, self.misses_before) = (hits, misses);
        self.second.reset();
    }
}
