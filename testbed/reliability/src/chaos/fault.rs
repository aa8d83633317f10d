use std::time::Duration;

use clap::ValueEnum;
use rudolph_cluster::{Cluster, ClusterError};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde::Serialize;
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};

use super::impostor::{Impostor, Manner};
use crate::{ReliabilityError, planted_trap};

/// What is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// A server is killed, and started again later.
    Kill,
    /// A server stands still with its connections open.
    Pause,
    /// A server runs for a tenth of the time.
    Slow,
    /// Every server in turn drains, ends and starts again.
    Rolling,
    /// A server answers 503, and its health checks well.
    #[value(name = "answer-503")]
    #[serde(rename = "answer-503")]
    Answer503,
    /// A server resets the connection in place of every answer, and answers its health checks well.
    Reset,
    /// A server has no file descriptor left for another connection.
    OutOfFiles,
    /// Envoy gets other weights and the filter other configurations, again and again.
    Reload,
    /// Envoy is killed and started again.
    EnvoyKill,
    /// Another Envoy takes over from the first.
    HotRestart,
    /// The filter traps in one worker, once a second.
    Trap,
}

/// The server that is broken: any will do, as keys are spread by hash.
const VICTIM: usize = 1;
const PATIENCE: Duration = Duration::from_secs(60);
const RUNS: Duration = Duration::from_millis(5);
const STANDS: Duration = Duration::from_millis(45);
/// Longer than the longest `backoff` of the shipped `reload_config`: before that Envoy builds no second VM.
const TRAP_EVERY: Duration = Duration::from_millis(1_500);

impl Fault {
    pub const ALL: [Self; 11] = [
        Self::Kill,
        Self::Pause,
        Self::Slow,
        Self::Rolling,
        Self::Answer503,
        Self::Reset,
        Self::OutOfFiles,
        Self::Reload,
        Self::HotRestart,
        Self::EnvoyKill,
        Self::Trap,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kill => "server killed",
            Self::Pause => "server paused",
            Self::Slow => "server slowed",
            Self::Rolling => "servers restarted in turn",
            Self::Answer503 => "server answers 503",
            Self::Reset => "server resets",
            Self::OutOfFiles => "server out of files",
            Self::Reload => "configuration reloaded",
            Self::EnvoyKill => "Envoy killed",
            Self::HotRestart => "Envoy hot-restarted",
            Self::Trap => "filter traps",
        }
    }

    /// Breaks it, keeps it broken for `length`, and mends it. What takes longer than that takes longer.
    pub(crate) async fn happen(
        self,
        cluster: &mut Cluster,
        length: Duration,
    ) -> Result<(), ReliabilityError> {
        let end = Instant::now() + length;
        match self {
            Self::Kill => {
                cluster.kill_server(VICTIM)?;
                sleep_until(end).await;
                cluster.restart_server(VICTIM).await?;
            }
            Self::Pause => {
                cluster.stop_server(VICTIM)?;
                sleep_until(end).await;
                cluster.continue_server(VICTIM)?;
            }
            Self::Slow => slow(cluster, end).await?,
            Self::Rolling => rolling(cluster).await?,
            Self::Answer503 => replaced(cluster, Manner::Unavailable, end).await?,
            Self::Reset => replaced(cluster, Manner::Reset, end).await?,
            Self::OutOfFiles => out_of_files(cluster, end).await?,
            Self::Reload => reload(cluster, end).await?,
            Self::EnvoyKill => {
                cluster.kill_envoy();
                cluster.restart_envoy(PATIENCE).await?;
            }
            Self::HotRestart => {
                cluster.hot_restart_envoy(PATIENCE).await?;
                sleep_until(end).await;
            }
            Self::Trap => trap(cluster, end).await,
        }
        Ok(())
    }
}

async fn slow(cluster: &mut Cluster, end: Instant) -> Result<(), ClusterError> {
    while Instant::now() < end {
        cluster.stop_server(VICTIM)?;
        sleep(STANDS).await;
        cluster.continue_server(VICTIM)?;
        sleep(RUNS).await;
    }
    Ok(())
}

async fn rolling(cluster: &mut Cluster) -> Result<(), ClusterError> {
    for server in 0..cluster.server_addresses().len() {
        cluster.drain_server(server).await?;
        cluster.restart_server(server).await?;
    }
    Ok(())
}

async fn replaced(
    cluster: &mut Cluster,
    manner: Manner,
    end: Instant,
) -> Result<(), ReliabilityError> {
    let address = cluster.server_addresses().get(VICTIM).copied();
    let address = address.ok_or(ClusterError::NoSuchServer { index: VICTIM, servers: 0 })?;
    cluster.kill_server(VICTIM)?;
    let impostor = Impostor::start(address, manner).await;
    let impostor = impostor.map_err(|source| ReliabilityError::Network { address, source })?;
    sleep_until(end).await;
    drop(impostor);
    // The listener's task ends when it is next run, and only then is the port free.
    sleep(Duration::from_millis(50)).await;
    cluster.restart_server(VICTIM).await?;
    Ok(())
}

/// A server that has just started has no connection from Envoy, and cannot take one.
async fn out_of_files(cluster: &mut Cluster, end: Instant) -> Result<(), ReliabilityError> {
    cluster.restart_server(VICTIM).await?;
    let pid = cluster.server_pid(VICTIM).ok_or(ClusterError::NotRunning { index: VICTIM })?;
    let whole = limit_files(pid, Rlimit { current: Some(1), maximum: None })?;
    sleep_until(end).await;
    limit_files(pid, whole)?;
    Ok(())
}

/// Sets the soft limit, leaving the hard one, and returns what there was.
fn limit_files(pid: u32, wanted: Rlimit) -> Result<Rlimit, ReliabilityError> {
    let refused = |source: std::io::Error| ReliabilityError::Process { pid, source };
    let gone = || refused(std::io::ErrorKind::NotFound.into());
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(gone)?;
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).map_err(refused)?;
    let maximum = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))
        .and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    let wanted = Rlimit { current: wanted.current, maximum };
    prlimit(Some(process), Resource::Nofile, wanted).map_err(|error| refused(error.into()))
}

async fn reload(cluster: &mut Cluster, end: Instant) -> Result<(), ClusterError> {
    let mut round = 0;
    while Instant::now() < end {
        round += 1;
        cluster.set_weight(VICTIM, 1 + round % 2)?;
        if let Some(mut config) = cluster.filter_config().cloned() {
            config["membership"]["poll_interval_ms"] = json!(1_000 + round);
            cluster.reload_filter_config(&config.to_string()).await?;
        }
        sleep(Duration::from_millis(500)).await;
    }
    cluster.set_weight(VICTIM, 1)
}

async fn trap(cluster: &Cluster, end: Instant) {
    // No VM is so young that Envoy would wait before it builds another.
    sleep(TRAP_EVERY).await;
    while Instant::now() < end {
        // The one request that a trap answers. Without the filter nothing traps, and it is a request like others.
        _ = planted_trap::pull(cluster.envoy_address()).await;
        sleep(TRAP_EVERY).await;
    }
}
