//! Fills the caches before anything is shown: otherwise the first seconds tell only that caches are cold.

use std::time::Duration;

use rudolph_load_generator::{LoadConfig, LoadError, LoadRun};

/// Until the caches hold what they will hold later on, at the default number of keys.
const REQUESTS: u64 = 20_000;
const LONGEST: Duration = Duration::from_secs(20);

/// How well the machine kept up does not matter here.
pub(crate) async fn fill(load: &LoadConfig) -> Result<(), LoadError> {
    let run = LoadRun::start(load.clone().warming(REQUESTS, LONGEST))?;
    run.finish_anyway().await.map(|_| ())
}
