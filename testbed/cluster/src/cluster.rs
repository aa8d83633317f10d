use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::admin::AdminAddress;
use crate::builder::Builder;
use crate::error::ClusterError;
use crate::process::Process;
use crate::render::{self, FilterParts};
use crate::scratch::Scratch;
use crate::server::{Recipe, Server};
use crate::{procfs, watched};

const POLL: Duration = Duration::from_millis(20);
/// Enough for a health check (1 s apart) to find a new server and for a reload.
const CHANGE: Duration = Duration::from_secs(10);
const DRAIN: Duration = Duration::from_secs(15);

const RELOAD_STATS: &str = "extension_config_discovery.http_filter.rudolph.";
const HEALTHY: &str = "cluster.app.membership_healthy";

/// The files that Envoy watches.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) servers: PathBuf,
    pub(crate) filter: PathBuf,
}

/// Servers and an Envoy in front of them. Dropping it kills every process and removes every file.
#[derive(Debug)]
pub struct Cluster {
    // In this order they are dropped: no client of a server outlives it, and files go last.
    pub(crate) envoy: Process,
    pub(crate) servers: Vec<Server>,
    pub(crate) recipe: Option<Recipe>,
    pub(crate) listener: SocketAddr,
    pub(crate) admin: AdminAddress,
    pub(crate) files: Watched,
    pub(crate) filter: Option<FilterParts>,
    pub(crate) scratch: Scratch,
}

impl Cluster {
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Where clients send their requests.
    #[must_use]
    pub fn envoy_address(&self) -> SocketAddr {
        self.listener
    }

    #[must_use]
    pub fn admin_address(&self) -> &AdminAddress {
        &self.admin
    }

    /// The addresses of all servers by index, also of those that are down or off the list.
    #[must_use]
    pub fn server_addresses(&self) -> Vec<SocketAddr> {
        self.servers.iter().map(|server| server.address).collect()
    }

    /// The process ids of Envoy and of the servers that run.
    #[must_use]
    pub fn process_ids(&self) -> Vec<u32> {
        let servers = self
            .servers
            .iter()
            .filter_map(|server| server.process.as_ref());
        std::iter::once(self.envoy.id())
            .chain(servers.map(Process::id))
            .collect()
    }

    /// The directory with the rendered configuration and the logs; gone when the cluster is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.scratch.path()
    }

    /// The bootstrap configuration that Envoy was started with.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.scratch.file("envoy.json")
    }

    /// Everything that Envoy has logged.
    pub fn envoy_log(&self) -> Result<String, ClusterError> {
        let log = self.envoy.log();
        std::fs::read_to_string(log).map_err(|error| ClusterError::io("read", log, error))
    }

    #[must_use]
    pub fn envoy_pid(&self) -> u32 {
        self.envoy.id()
    }

    /// CPU time that Envoy has used since it started, to 10 ms.
    pub fn envoy_cpu_seconds(&self) -> Result<f64, ClusterError> {
        procfs::cpu_time(self.envoy.id()).map(|time| time.as_secs_f64())
    }

    /// Envoy's resident memory.
    pub fn envoy_resident_bytes(&self) -> Result<u64, ClusterError> {
        procfs::resident_bytes(self.envoy.id())
    }

    /// All counters and gauges of Envoy by name; the filter's begin with `wasmcustom.`.
    pub async fn stats(&self) -> Result<BTreeMap<String, u64>, ClusterError> {
        self.admin.stats().await
    }

    /// Only what the filter itself counts, without the prefix `wasmcustom.`.
    pub async fn filter_stats(&self) -> Result<BTreeMap<String, u64>, ClusterError> {
        let stats = self.admin.stats_matching("wasmcustom").await?;
        let own = |(name, value): (String, u64)| {
            Some((name.strip_prefix("wasmcustom.")?.to_owned(), value))
        };
        Ok(stats.into_iter().filter_map(own).collect())
    }

    /// An error if Envoy has ended.
    pub fn check_running(&mut self) -> Result<(), ClusterError> {
        self.envoy.check_running()
    }

    /// The body of a page of the admin interface, such as `/clusters?format=json`.
    pub async fn admin_page(&self, path: &str) -> Result<String, ClusterError> {
        self.admin.page(path).await
    }

    /// Waits until `reached` holds for the stats, asking every 20 ms; `goal` names it in the error.
    pub async fn wait_for_stats(
        &mut self,
        goal: &str,
        patience: Duration,
        mut reached: impl FnMut(&BTreeMap<String, u64>) -> bool,
    ) -> Result<(), ClusterError> {
        let deadline = Instant::now() + patience;
        loop {
            self.envoy.check_running()?;
            // While Envoy starts, its admin interface may not answer yet.
            if self.admin.stats().await.is_ok_and(|stats| reached(&stats)) {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(self.envoy.not_ready(goal, patience));
            }
            tokio::time::sleep(POLL).await;
        }
    }

    pub(crate) async fn wait_until_ready(
        &mut self,
        patience: Duration,
    ) -> Result<(), ClusterError> {
        let started = Instant::now();
        let mut refused = false;
        let with_filter = self.filter.is_some();
        self.wait_for_stats("starting", patience, |stats| {
            refused = failed_reloads(stats) > 0;
            refused || stats.get("server.live") == Some(&1)
        })
        .await?;
        if refused {
            return Err(ClusterError::Refused {
                log: self.envoy.log_tail(),
            });
        }
        let healthy = self.listed().count() as u64;
        let left = patience.saturating_sub(started.elapsed());
        self.wait_for_stats("waiting for healthy servers", left, |stats| {
            stats.get(HEALTHY) == Some(&healthy)
        })
        .await?;
        if with_filter && healthy > 0 {
            let left = patience.saturating_sub(started.elapsed());
            self.wait_for_stats("waiting for the first plan", left, has_plan)
                .await?;
        }
        Ok(())
    }

    fn listed(&self) -> impl Iterator<Item = &Server> {
        self.servers.iter().filter(|server| server.listed)
    }

    fn server(&mut self, index: usize) -> Result<&mut Server, ClusterError> {
        let servers = self.servers.len();
        self.servers
            .get_mut(index)
            .ok_or(ClusterError::NoSuchServer { index, servers })
    }

    fn running(&mut self, index: usize) -> Result<&mut Process, ClusterError> {
        self.server(index)?
            .process
            .as_mut()
            .ok_or(ClusterError::NotRunning { index })
    }

    /// SIGKILL, as a crash would do. Envoy is told nothing.
    pub fn kill_server(&mut self, index: usize) -> Result<(), ClusterError> {
        self.running(index)?.kill();
        self.server(index)?.process = None;
        Ok(())
    }

    /// SIGSTOP: the server keeps its connections and answers nothing more.
    pub fn stop_server(&mut self, index: usize) -> Result<(), ClusterError> {
        self.signal_server(index, Signal::STOP)
    }

    /// Lets a stopped server go on.
    pub fn continue_server(&mut self, index: usize) -> Result<(), ClusterError> {
        self.signal_server(index, Signal::CONT)
    }

    fn signal_server(&mut self, index: usize, signal: Signal) -> Result<(), ClusterError> {
        let process = self.running(index)?;
        process
            .signal(signal)
            .map_err(|error| ClusterError::io("signal", process.log(), error))
    }

    /// SIGTERM: the server finishes what it has and ends.
    pub async fn drain_server(&mut self, index: usize) -> Result<(), ClusterError> {
        self.running(index)?.terminate(DRAIN).await;
        self.server(index)?.process = None;
        Ok(())
    }

    /// Starts a server again on the port that it had, and waits until it answers; Envoy finds out by itself.
    pub async fn restart_server(&mut self, index: usize) -> Result<(), ClusterError> {
        let recipe = self
            .recipe
            .clone()
            .ok_or(ClusterError::NotRunning { index })?;
        let server = self.server(index)?;
        if let Some(process) = &mut server.process {
            process.kill();
        }
        server.start_process(&recipe)?;
        server.wait_until_healthy().await
    }

    /// Starts one more server, tells Envoy, and waits until Envoy finds it healthy. Returns its index.
    pub async fn add_server(&mut self) -> Result<usize, ClusterError> {
        let index = self.servers.len();
        let recipe = self
            .recipe
            .clone()
            .ok_or(ClusterError::NotRunning { index })?;
        let mut server = Server::start(&recipe)?;
        server.wait_until_healthy().await?;
        self.servers.push(server);
        self.publish_servers()?;
        let total = self.listed().count() as u64;
        self.wait_for_stats("taking in a server", CHANGE, |stats| {
            stats.get("cluster.app.membership_total") == Some(&total)
                && stats.get(HEALTHY) >= Some(&1)
        })
        .await?;
        Ok(index)
    }

    /// Takes a server off Envoy's list; its process runs on.
    pub async fn remove_server(&mut self, index: usize) -> Result<(), ClusterError> {
        self.server(index)?.listed = false;
        self.publish_servers()?;
        let total = self.listed().count() as u64;
        self.wait_for_stats("removing a server", CHANGE, |stats| {
            stats.get("cluster.app.membership_total") == Some(&total)
        })
        .await
    }

    /// Gives a server another weight in Envoy's list.
    pub fn set_weight(&mut self, index: usize, weight: u32) -> Result<(), ClusterError> {
        self.server(index)?.weight = weight;
        self.publish_servers()
    }

    fn publish_servers(&self) -> Result<(), ClusterError> {
        let listed: Vec<_> = self
            .listed()
            .map(|server| (server.address, server.weight))
            .collect();
        watched::replace(&self.files.servers, &render::servers_resource(&listed))
    }

    /// The configuration that the filter was last given and took.
    #[must_use]
    pub fn filter_config(&self) -> Option<&Value> {
        self.filter.as_ref().map(|parts| &parts.config)
    }

    /// Gives the filter another configuration, as text, so that any text can be tried. Returns when Envoy has taken it,
    /// or [`ClusterError::Refused`] when it keeps the previous one.
    pub async fn reload_filter_config(&mut self, config: &str) -> Result<(), ClusterError> {
        let parts = self.filter.as_ref().ok_or(ClusterError::NoFilter)?;
        let resource = parts.resource(config);
        let before = self.stats().await?;
        watched::replace(&self.files.filter, &resource)?;
        let (taken, failed) = (successful_reloads(&before), failed_reloads(&before));
        let mut refused = false;
        self.wait_for_stats("reloading the filter", CHANGE, |stats| {
            refused = failed_reloads(stats) > failed;
            refused || successful_reloads(stats) > taken
        })
        .await?;
        if refused {
            return Err(ClusterError::Refused {
                log: self.envoy.log_tail(),
            });
        }
        if let (Some(parts), Ok(config)) = (self.filter.as_mut(), serde_json::from_str(config)) {
            parts.config = config;
        }
        Ok(())
    }
}

fn successful_reloads(stats: &BTreeMap<String, u64>) -> u64 {
    stats
        .get(&format!("{RELOAD_STATS}update_success"))
        .copied()
        .unwrap_or(0)
}

fn failed_reloads(stats: &BTreeMap<String, u64>) -> u64 {
    let stat = |name: &str| {
        stats
            .get(&format!("{RELOAD_STATS}{name}"))
            .copied()
            .unwrap_or(0)
    };
    stat("update_rejected") + stat("update_failure")
}

fn has_plan(stats: &BTreeMap<String, u64>) -> bool {
    let filter = stats
        .iter()
        .filter(|(name, _)| name.starts_with("wasmcustom."));
    filter
        .filter(|(name, _)| name.ends_with(".plan_version"))
        .any(|(_, version)| *version > 0)
}
