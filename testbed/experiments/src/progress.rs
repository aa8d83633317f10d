//! What is said while an experiment runs: on a terminal one line that moves, elsewhere a line a run.

use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

use rudolph_charts::grouped;
use rudolph_load_generator::Snapshot;

use crate::{Contender, Metric, Spec, Trial};

const BAR: usize = 20;
/// Starting a cluster, filling its caches and taking it down.
const AROUND_A_RUN: Duration = Duration::from_secs(6);

#[derive(Debug)]
pub struct Progress {
    terminal: bool,
    name: String,
    of_each: Duration,
    warm_up_s: u64,
    seconds: u64,
    runs: usize,
    done: usize,
    started: Instant,
    label: String,
}

impl Progress {
    #[must_use]
    pub fn new() -> Self {
        Self {
            terminal: io::stderr().is_terminal(),
            name: String::new(),
            of_each: Duration::ZERO,
            warm_up_s: 0,
            seconds: 0,
            runs: 0,
            done: 0,
            started: Instant::now(),
            label: String::new(),
        }
    }

    pub(crate) fn begin(&mut self, spec: &Spec, runs: usize) {
        self.name.clone_from(&spec.name);
        (self.warm_up_s, self.seconds) = (spec.load.warm_up_s, spec.load.seconds);
        self.of_each = Duration::from_secs(self.warm_up_s + self.seconds) + AROUND_A_RUN;
        (self.runs, self.done) = (runs, 0);
        self.started = Instant::now();
        say(&format!("{}: {} ({runs} runs, about {})", spec.name, spec.title, words(self.left())));
    }

    pub(crate) fn start(&mut self, contender: &Contender, repeat: u32) {
        self.label = format!("{contender}, repeat {}", repeat + 1);
        self.draw("starting");
    }

    pub(crate) fn second(&self, second: &Snapshot) {
        self.draw(&format!(
            "{}/{} s  {} requests/s  p99 {:.1} ms  hits {:.1} %  errors {}",
            second.second + 1,
            self.warm_up_s + self.seconds,
            grouped(second.requests as f64, 0),
            second.latency.p99_ms,
            second.hit_percent(),
            second.error_count(),
        ));
    }

    pub(crate) fn end(&mut self, trial: &Trial) {
        self.done += 1;
        self.clear();
        let void = if trial.void.is_empty() { "" } else { "  VOID: " };
        say(&format!(
            "  {:>3}/{} {:<24} {:>7} requests/s  p99 {:>7} ms  hits {:>5} %  machine {:>3.0}% busy{void}{}",
            self.done,
            self.runs,
            format!("{} r{}", trial.contender, trial.repeat + 1),
            grouped(trial.value(Metric::Rps), 0),
            grouped(trial.value(Metric::P99Ms), 1),
            grouped(trial.value(Metric::HitPercent), 1),
            trial.machine_busy_percent,
            trial.void.join("; "),
        ));
    }

    /// By what the runs so far took.
    fn left(&self) -> Duration {
        let runs = u32::try_from(self.runs - self.done).unwrap_or(u32::MAX);
        match u32::try_from(self.done) {
            Ok(done @ 1..) => self.started.elapsed() / done * runs,
            _ => self.of_each * runs,
        }
    }

    fn draw(&self, state: &str) {
        if !self.terminal {
            return;
        }
        let filled = self.done * BAR / self.runs.max(1);
        let bar = format!("{}{}", "#".repeat(filled), ".".repeat(BAR - filled));
        let left = words(self.left());
        let line = format!(
            "\r\x1b[K{} [{bar}] {}/{} {}: {state}  ({left} left)",
            self.name,
            self.done + 1,
            self.runs,
            self.label
        );
        _ = write!(io::stderr(), "{line}"); // nobody may be listening
    }

    fn clear(&self) {
        if self.terminal {
            _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

fn say(line: &str) {
    _ = writeln!(io::stderr(), "{line}"); // nobody may be listening
}

fn words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=90 => format!("{seconds} s"),
        seconds => format!("{} min", (seconds + 30) / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_exact_as_they_are_known() {
        assert_eq!(words(Duration::from_secs(40)), "40 s");
        assert_eq!(words(Duration::from_secs(600)), "10 min");
    }
}
