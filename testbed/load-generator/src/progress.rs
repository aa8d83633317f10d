use std::time::Duration;

use crate::{LoadConfig, Phase, Snapshot};

const BAR: usize = 20;

/// One line for a terminal: how far the run is, and its last second.
#[must_use]
pub fn progress_line(config: &LoadConfig, second: &Snapshot) -> String {
    let passed = Duration::from_secs(second.second + 1);
    let whole = config.warm_up + config.duration;
    let part = (passed.as_secs_f64() / whole.as_secs_f64()).clamp(0.0, 1.0);
    let filled = (0..BAR).filter(|&cell| (cell as f64 + 0.5) / BAR as f64 <= part).count();
    let phase = match second.phase {
        Phase::WarmUp => "warm-up",
        Phase::Measure | Phase::Done => "measure",
    };
    format!(
        "[{}{}] {phase} {}/{:.0} s  {} requests/s  p99 {:.2} ms  hits {:.1}%  errors {}",
        "#".repeat(filled),
        ".".repeat(BAR - filled),
        passed.as_secs(),
        whole.as_secs_f64(),
        second.requests,
        second.latency.p99_ms,
        second.hit_percent(),
        second.error_count(),
    )
}
