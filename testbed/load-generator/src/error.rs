use std::io;

use rudolph_workload::SpecError;

use crate::{BottleneckReason, ConfigError, Report};

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Workload(#[from] SpecError),
    #[error("the load thread cannot be started: {0}")]
    Thread(#[from] io::Error),
    #[error("a histogram cannot be made: {0}")]
    Histogram(#[from] hdrhistogram::CreationError),
    #[error("the load thread ended without a report")]
    Lost,
    #[error(
        "more than {limit} requests wait for a connection: the target is far too slow for this rate"
    )]
    Backlog { limit: usize },
    /// The figures say more about the generator than about the target. They are here for whoever must see them.
    #[error("no report: the generator was the bottleneck: {}", join(.reasons))]
    Bottleneck { reasons: Vec<BottleneckReason>, report: Box<Report> },
}

fn join(reasons: &[BottleneckReason]) -> String {
    let lines: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    lines.join("; ")
}
