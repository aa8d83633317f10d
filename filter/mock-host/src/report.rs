//! What callbacks cost: host calls by name, wall time, and fuel (a count of Wasm instructions).

use std::fmt;
use std::time::Duration;

use crate::abi::{Callback, Hostcall};
use crate::worker::Worker;

/// Number of host calls of each name.
#[derive(Clone, PartialEq, Eq)]
pub struct HostcallCounts([u64; Hostcall::ALL.len()]);

impl HostcallCounts {
    pub(crate) fn count(&mut self, hostcall: Hostcall) {
        self.0[hostcall as usize] += 1;
    }

    /// How often this one was called.
    pub fn get(&self, hostcall: Hostcall) -> u64 {
        self.0[hostcall as usize]
    }

    /// How often any was called.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Those that were called at all, with how often.
    pub fn iter(&self) -> impl Iterator<Item = (Hostcall, u64)> {
        Hostcall::ALL
            .iter()
            .map(|&hostcall| (hostcall, self.get(hostcall)))
            .filter(|(_, count)| *count > 0)
    }
}

impl Default for HostcallCounts {
    fn default() -> Self {
        Self([0; Hostcall::ALL.len()])
    }
}

impl fmt::Debug for HostcallCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// All runs of one callback in one worker VM since it started.
#[derive(Clone, Debug, Default)]
pub struct CallbackTotals {
    /// Number of runs.
    pub runs: u64,
    /// Host calls of all runs.
    pub hostcalls: HostcallCounts,
    /// Fuel of all runs.
    pub fuel: u64,
    /// Fuel of the dearest run.
    pub longest_fuel: u64,
    /// Wall time of all runs.
    pub wall: Duration,
    /// Wall time of the longest run.
    pub longest_wall: Duration,
}

/// Costs of the last operation (one method of `Worker`), and of each callback since the start.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) last: CallbackTotals,
    pub(crate) by_callback: Vec<CallbackTotals>,
    pub(crate) running: Callback,
}

impl Default for Report {
    fn default() -> Self {
        let by_callback = vec![CallbackTotals::default(); Callback::ALL.len()];
        Self { last: CallbackTotals::default(), by_callback, running: Callback::Start }
    }
}

impl Report {
    pub(crate) fn begin_operation(&mut self) {
        self.last = CallbackTotals::default();
    }

    pub(crate) fn count(&mut self, hostcall: Hostcall) {
        self.last.hostcalls.count(hostcall);
        self.by_callback[self.running as usize].hostcalls.count(hostcall);
    }

    pub(crate) fn end_callback(&mut self, fuel: u64, wall: Duration) {
        for totals in [&mut self.last, &mut self.by_callback[self.running as usize]] {
            totals.runs += 1;
            totals.fuel += fuel;
            totals.longest_fuel = totals.longest_fuel.max(fuel);
            totals.wall += wall;
            totals.longest_wall = totals.longest_wall.max(wall);
        }
    }
}

impl Worker {
    /// Size of the VM's linear memory: it only grows.
    pub fn memory_bytes(&self) -> usize {
        self.instance.memory_bytes()
    }

    /// Host calls of the last operation: of one request, one finish, one tick, one answer.
    pub fn hostcalls(&self) -> &HostcallCounts {
        &self.instance.seen().report.last.hostcalls
    }

    /// Everything measured about the last operation, over all callbacks it made.
    pub fn last(&self) -> &CallbackTotals {
        &self.instance.seen().report.last
    }

    /// Everything measured about one callback since this VM started.
    pub fn totals(&self, callback: Callback) -> &CallbackTotals {
        &self.instance.seen().report.by_callback[callback as usize]
    }
}
