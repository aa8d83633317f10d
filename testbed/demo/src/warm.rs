//! Fills the caches before anything is shown: otherwise the first seconds tell only that caches are cold.

use std::collections::HashMap;
use std::time::Duration;

use rudolph_cluster::{Cluster, ClusterError};
use rudolph_load_generator::{LoadConfig, LoadError, LoadRun};
use rudolph_workload::{KeySpec, WorkloadSpec};

use crate::run::DemoError;

/// Each costs its server one miss: two seconds of work, and four requests in five of the load to come.
const HOTTEST: usize = 2_000;
/// Enough to meet the hottest keys, in the order of how often they come.
const SAMPLES: usize = 100_000;
/// Whatever the load will be, all servers are kept at work.
const CLIENTS: usize = 64;
const LONGEST: Duration = Duration::from_secs(20);

/// One pass over the hottest keys, through Envoy, so that each meets the server that will serve it.
pub(crate) fn start(cluster: &Cluster, load: &LoadConfig) -> Result<LoadRun, DemoError> {
    let keys = hottest(&load.workload)?;
    let count = keys.len() as u64;
    let path = cluster.directory().join("hottest-keys");
    std::fs::write(&path, keys.join(&b'\n')).map_err(|source| ClusterError::Io {
        action: "write",
        path: path.clone(),
        source,
    })?;
    let workload = WorkloadSpec { keys: KeySpec::Replay { path }, ..WorkloadSpec::default() };
    let config = LoadConfig {
        workload,
        warm_up: Duration::ZERO,
        duration: LONGEST,
        max_requests: Some(count),
        connections: CLIENTS,
        ..load.clone()
    };
    Ok(LoadRun::start(config)?)
}

/// How well the machine kept up does not matter here.
pub(crate) async fn finish(run: LoadRun) -> Result<(), DemoError> {
    match run.finish().await {
        Ok(_) | Err(LoadError::Bottleneck { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn hottest(workload: &WorkloadSpec) -> Result<Vec<Vec<u8>>, DemoError> {
    let mut stream = workload.build()?;
    let mut counts = HashMap::new();
    for _ in 0..SAMPLES {
        *counts.entry(stream.next(0).key).or_insert(0_u32) += 1;
    }
    let mut keys: Vec<_> = counts.into_iter().collect();
    keys.sort_unstable_by_key(|&(key, count)| (std::cmp::Reverse(count), key));
    let name = |(key, _)| {
        let mut name = Vec::new();
        stream.write_key(key, &mut name);
        name
    };
    Ok(keys.into_iter().take(HOTTEST).map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hottest_come_first_and_each_once() {
        let keys = KeySpec::OneHot { count: 50, share: 0.5 };
        let workload = WorkloadSpec { keys, ..WorkloadSpec::default() };
        let names = hottest(&workload).unwrap();
        assert_eq!(names.len(), 50);
        let mut stream = workload.build().unwrap();
        let mut hot = 0;
        for _ in 0..100 {
            let mut name = Vec::new();
            let key = stream.next(0).key;
            stream.write_key(key, &mut name);
            hot += u32::from(name == names[0]);
        }
        assert!(hot > 30, "{hot}");
    }
}
