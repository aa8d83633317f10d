//! The machine that it ran on, and how busy it was.

use std::fs;

use serde::{Deserialize, Serialize};

/// Enough to judge whether somebody else's figures may differ for that reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    pub cores: usize,
    pub memory_gib: u64,
    pub kernel: String,
}

impl Machine {
    /// This one; what it does not tell is `unknown`.
    #[must_use]
    pub fn this() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let unknown = || "unknown".to_owned();
        Self {
            processor: field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
            memory_gib: field(&read("/proc/meminfo"), "MemTotal")
                .and_then(|text| text.split(' ').next()?.parse().ok())
                .map_or(0, |kib: u64| (kib + (1 << 19)) >> 20),
            kernel: match read("/proc/sys/kernel/osrelease").trim() {
                "" => unknown(),
                release => format!("Linux {release}"),
            },
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { processor, cores, memory_gib, kernel } = self;
        write!(out, "{processor}, {cores} cores, {memory_gib} GiB, {kernel}")
    }
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(found, _)| found.trim() == name)?;
    Some(value.trim().to_owned())
}

/// Processor time of the whole machine since it started, in ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessorTime {
    busy: u64,
    all: u64,
}

impl ProcessorTime {
    /// `None` where the system does not tell.
    pub(crate) fn now() -> Option<Self> {
        parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Share of all processors that was busy, or taken by other tenants of the machine, between the two.
    pub(crate) fn busy_percent_since(self, start: Self) -> f64 {
        let (busy, all) =
            (self.busy.saturating_sub(start.busy), self.all.saturating_sub(start.all));
        if all == 0 { 0.0 } else { 100.0 * busy as f64 / all as f64 }
    }
}

/// The line `cpu user nice system idle iowait irq softirq steal guest ...`; guests are in user already.
fn parse(stat: &str) -> Option<ProcessorTime> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().take(8).map_while(|t| t.parse().ok()).collect();
    let idle = ticks.get(3)? + ticks.get(4)?;
    let all: u64 = ticks.iter().sum();
    Some(ProcessorTime { busy: all - idle, all })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_waiting_for_disks_are_not_busy() {
        let start = parse("cpu  100 0 100 700 100 0 0 0 50 0\ncpu0 1 2 3").unwrap();
        let end = parse("cpu  150 10 120 800 100 5 5 10 50 0").unwrap();
        assert!((end.busy_percent_since(start) - 50.0).abs() < 1e-9);
        assert!(parse("intr 1").is_none());
    }

    #[test]
    fn finds_a_field() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmodel name\t: other\n";
        assert_eq!(field(text, "model name").as_deref(), Some("Some CPU @ 2 GHz"));
        assert_eq!(field(text, "MemTotal"), None);
    }
}
