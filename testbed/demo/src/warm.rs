//! Fills the caches before anything is shown: otherwise the first seconds tell only that caches are cold.

use std::time::Duration;

use rudolph_load_generator::{LoadConfig, LoadError, LoadRun};

use crate::run::DemoError;

/// Until the caches hold what they will hold later on, at the default number of keys.
const REQUESTS: u64 = 20_000;
const CLIENTS: usize = 32;
const LONGEST: Duration = Duration::from_secs(20);

/// The load to come, drawn anew and answered at full speed.
pub(crate) fn start(load: &LoadConfig) -> Result<LoadRun, LoadError> {
    LoadRun::start(LoadConfig {
        warming: true,
        warm_up: Duration::ZERO,
        duration: LONGEST,
        max_requests: Some(REQUESTS),
        connections: CLIENTS,
        ..load.clone()
    })
}

/// How well the machine kept up does not matter here.
pub(crate) async fn finish(run: LoadRun) -> Result<(), DemoError> {
    match run.finish().await {
        Ok(_) | Err(LoadError::Bottleneck { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
