//! Time as a module sees it: one base the test moves, and what each worker makes of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The wall clock of a host, in nanoseconds since the epoch. It moves only when told to.
#[derive(Clone, Debug, Default)]
pub struct Clock(Arc<AtomicU64>);

impl Clock {
    /// Nanoseconds since the epoch.
    pub fn nanos(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Sets the time; backwards too, as an operator or a time server may.
    pub fn set_nanos(&self, nanos: u64) {
        self.0.store(nanos, Relaxed);
    }

    /// Moves the time forward.
    pub fn advance(&self, by: Duration) {
        let nanos = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.0.store(self.nanos().saturating_add(nanos), Relaxed);
    }
}

/// One worker's view of its host's clock.
///
/// Workers of a real Envoy read one clock; between reading it and acting they can be held up, and
/// gateways on several machines disagree. Offset, drift and freeze make such things happen on demand.
#[derive(Clone, Debug)]
pub struct WorkerClock {
    base: Clock,
    offset_nanos: i64,
    drift_ppm: i64,
    drift_from_nanos: u64,
    frozen_nanos: Option<u64>,
}

impl WorkerClock {
    pub(crate) fn new(base: Clock) -> Self {
        let drift_from_nanos = base.nanos();
        Self { base, offset_nanos: 0, drift_ppm: 0, drift_from_nanos, frozen_nanos: None }
    }

    /// The time this worker reads.
    pub fn nanos(&self) -> u64 {
        self.frozen_nanos.unwrap_or_else(|| self.running_nanos())
    }

    fn running_nanos(&self) -> u64 {
        let base = i128::from(self.base.nanos());
        let elapsed = base - i128::from(self.drift_from_nanos);
        let drift = elapsed * i128::from(self.drift_ppm) / 1_000_000;
        let now = base + i128::from(self.offset_nanos) + drift;
        u64::try_from(now.max(0)).unwrap_or(u64::MAX)
    }

    /// Shifts the clock by this much, on top of earlier jumps; a negative jump goes back.
    pub fn jump_nanos(&mut self, by: i64) {
        self.offset_nanos = self.offset_nanos.saturating_add(by);
    }

    /// From now on the clock gains this many parts in a million (loses, if negative).
    pub fn set_drift_ppm(&mut self, ppm: i64) {
        let so_far = i128::from(self.running_nanos()) - i128::from(self.base.nanos());
        self.offset_nanos = i64::try_from(so_far).unwrap_or(i64::MAX);
        self.drift_from_nanos = self.base.nanos();
        self.drift_ppm = ppm;
    }

    /// Stops the clock where it stands.
    pub fn freeze(&mut self) {
        self.frozen_nanos = Some(self.nanos());
    }

    /// Lets the clock show the running time again: it leaps over what it missed.
    pub fn thaw(&mut self) {
        self.frozen_nanos = None;
    }
}
