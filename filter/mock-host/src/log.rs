//! Log lines of every VM of a host.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::abi::LogLevel;
use crate::locked::Locked;

/// One line that a module logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The worker, by number; a canary VM has none.
    pub worker: Option<u32>,
    /// The context that logged.
    pub context: u32,
    /// Severity.
    pub level: LogLevel,
    /// Text; bytes that are not UTF-8 are replaced.
    pub message: String,
}

#[derive(Debug)]
struct Lines {
    level: LogLevel,
    capacity: usize,
    kept: VecDeque<LogLine>,
    total: u64,
}

/// A handle on a host's log; clones see the same lines. Only the newest 10,000 are kept.
#[derive(Clone, Debug)]
pub struct Log(Arc<Locked<Lines>>);

impl Default for Log {
    fn default() -> Self {
        let lines =
            Lines { level: LogLevel::Trace, capacity: 10_000, kept: VecDeque::new(), total: 0 };
        Self(Arc::new(Locked::new(lines)))
    }
}

impl Log {
    pub(crate) fn push(&self, line: LogLine) {
        let mut lines = self.0.hold();
        if line.level < lines.level {
            return;
        }
        if lines.kept.len() == lines.capacity {
            lines.kept.pop_front();
        }
        lines.kept.push_back(line);
        lines.total += 1;
    }

    /// Envoy's `--component-log-level wasm:...`: lines below it are not kept.
    pub fn set_level(&self, level: LogLevel) {
        self.0.hold().level = level;
    }

    /// The level set.
    pub fn level(&self) -> LogLevel {
        self.0.hold().level
    }

    /// The lines kept, oldest first.
    pub fn lines(&self) -> Vec<LogLine> {
        self.0.hold().kept.iter().cloned().collect()
    }

    /// The lines kept, which are then forgotten.
    pub fn take(&self) -> Vec<LogLine> {
        self.0.hold().kept.drain(..).collect()
    }

    /// Lines at or above the level since the start, kept or not: to assert that nothing logs in a loop.
    pub fn total(&self) -> u64 {
        self.0.hold().total
    }

    /// Whether a kept line contains this text.
    pub fn contains(&self, text: &str) -> bool {
        self.0.hold().kept.iter().any(|line| line.message.contains(text))
    }
}
