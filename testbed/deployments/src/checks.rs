use std::future::Future;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

use crate::Failure;

/// Named checks, each reported when it ends, and their count at last.
#[derive(Debug, Default)]
pub struct Checks {
    passed: u32,
    failed: u32,
    skipped: u32,
}

impl Checks {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs one check; what it found, if anything, stands behind its name. True if it held.
    pub async fn check(
        &mut self,
        name: &str,
        work: impl Future<Output = Result<String, Failure>>,
    ) -> bool {
        let started = Instant::now();
        show_running(name);
        let result = work.await;
        clear_running();
        let seconds = started.elapsed().as_secs_f64();
        match result {
            Ok(found) if found.is_empty() => say(&format!("ok {name} ({seconds:.1} s)")),
            Ok(found) => say(&format!("ok {name}: {found} ({seconds:.1} s)")),
            Err(failure) => {
                say(&format!("FAIL {name}: {failure} ({seconds:.1} s)"));
                self.failed += 1;
                return false;
            }
        }
        self.passed += 1;
        true
    }

    pub fn skip(&mut self, name: &str, why: &str) {
        say(&format!("SKIP {name}: {why}"));
        self.skipped += 1;
    }

    #[must_use]
    pub fn all_held(&self) -> bool {
        self.failed == 0
    }

    /// The last line; a failure if any check failed or none was run.
    #[must_use]
    pub fn finish(self) -> ExitCode {
        say(&self.summary());
        let anything = self.passed + self.skipped > 0;
        if self.failed == 0 && anything { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn summary(&self) -> String {
        format!("{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

fn say(line: &str) {
    _ = writeln!(io::stdout(), "{line}"); // nobody may be listening
}

fn show_running(name: &str) {
    if io::stderr().is_terminal() {
        _ = write!(io::stderr(), "\r\x1b[K... {name}");
    }
}

fn clear_running() {
    if io::stderr().is_terminal() {
        _ = write!(io::stderr(), "\r\x1b[K");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn counts_what_held_what_failed_and_what_was_skipped() {
        let mut checks = Checks::new();
        assert!(checks.check("holds", async { Ok(String::new()) }).await);
        assert!(checks.all_held());
        let broken = async { Err(Failure::unmet("servers", 5, 4)) };
        assert!(!checks.check("does not", broken).await);
        checks.skip("cannot", "no such thing here");
        assert!(!checks.all_held());
        assert_eq!(checks.summary(), "1 passed, 1 failed, 1 skipped");
    }
}
