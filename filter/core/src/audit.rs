//! Which finished requests are looked at again, to see whether Envoy sent them where they were meant to go.
//!
//! Asking Envoy costs more than choosing a server, so in quiet times few are asked about; once one went astray all
//! are, for a while.

/// In quiet times one request in so many is looked at, and the first of each tick.
const ONE_IN: u32 = 32;

/// After a stray request all are looked at for so many ticks.
const ALERT_TICKS: u32 = 50;

/// Where a request was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// By the first of its owners.
    ByFirst,
    /// By a later owner: the first could not be reached.
    BySuccessor,
    /// By a server that was not named: Envoy's fallback policy chose it.
    ByFallback,
}

/// The choice of what to look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Audit {
    until_next: u32,
    alert_ticks: u32,
}

impl Audit {
    /// Whether this finished request is to be looked at.
    #[inline]
    pub fn wants_this(&mut self) -> bool {
        if self.until_next == 0 || self.alert_ticks > 0 {
            self.until_next = ONE_IN - 1;
            return true;
        }
        self.until_next -= 1;
        false
    }

    /// What was seen.
    pub fn saw(&mut self, answered: Answered) {
        if answered != Answered::ByFirst {
            self.alert_ticks = ALERT_TICKS;
        }
    }

    /// A tick passes.
    pub fn tick(&mut self) {
        self.until_next = 0;
        self.alert_ticks = self.alert_ticks.saturating_sub(1);
    }
}
