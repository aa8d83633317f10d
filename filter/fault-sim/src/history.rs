//! The last steps before a failure.

use std::collections::VecDeque;

/// Keeps the newest lines; or all of them, where a failure is replayed.
#[derive(Debug)]
pub(crate) struct History {
    lines: VecDeque<String>,
    most: usize,
    total: u64,
}

impl History {
    pub(crate) fn keeping(most: usize) -> Self {
        Self { lines: VecDeque::new(), most, total: 0 }
    }

    pub(crate) fn add(&mut self, line: impl FnOnce() -> String) {
        self.total += 1;
        if self.most == 0 {
            return;
        }
        if self.lines.len() == self.most {
            self.lines.pop_front();
        }
        self.lines.push_back(line());
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.into()
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }
}
