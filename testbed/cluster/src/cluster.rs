use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::admin::AdminAddress;
use crate::builder::Builder;
use crate::changes::failed_reloads;
use crate::error::ClusterError;
use crate::launch::Launch;
use crate::process::Process;
use crate::procfs;
use crate::render::FilterParts;
use crate::scratch::Scratch;
use crate::server::{Recipe, Server};

const POLL: Duration = Duration::from_millis(20);
pub(crate) const HEALTHY: &str = "cluster.app.membership_healthy";

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
    /// The Envoy before this one, until it has finished what it had.
    pub(crate) parent: Option<Process>,
    pub(crate) launch: Launch,
    pub(crate) servers: Vec<Server>,
    pub(crate) recipe: Option<Recipe>,
    pub(crate) listener: SocketAddr,
    pub(crate) status: Option<SocketAddr>,
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

    /// Where the status page is, if there is one.
    #[must_use]
    pub fn status_address(&self) -> Option<SocketAddr> {
        self.status
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
        let servers = self.servers.iter().filter_map(|server| server.process.as_ref());
        std::iter::once(self.envoy.id()).chain(servers.map(Process::id)).collect()
    }

    /// The process id of a server of this cluster that runs.
    #[must_use]
    pub fn server_pid(&self, index: usize) -> Option<u32> {
        self.servers.get(index)?.process.as_ref().map(Process::id)
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
        awaits_plan: bool,
    ) -> Result<(), ClusterError> {
        let started = Instant::now();
        let healthy = self.listed().count() as u64;
        let plan = self.filter.is_some() && awaits_plan && healthy > 0;
        let steps: [(&str, Reached); 3] = [
            ("its start", Box::new(|stats| stats.get("server.live") == Some(&1))),
            ("healthy servers", Box::new(move |stats| stats.get(HEALTHY) == Some(&healthy))),
            ("the first plan with a server", Box::new(move |stats| !plan || has_plan(stats))),
        ];
        for (goal, reached) in steps {
            let left = patience.saturating_sub(started.elapsed());
            // A refusal may come at any time until then.
            let mut refused = false;
            self.wait_for_stats(&format!("waiting for {goal}"), left, |stats| {
                refused = failed_reloads(stats) > 0;
                refused || reached(stats)
            })
            .await?;
            if refused {
                return Err(ClusterError::Refused { log: self.envoy.log_tail() });
            }
        }
        Ok(())
    }

    pub(crate) fn listed(&self) -> impl Iterator<Item = &Server> {
        self.servers.iter().filter(|server| server.listed)
    }
}

type Reached = Box<dyn Fn(&BTreeMap<String, u64>) -> bool + Send>;

/// The first plan may come before the first health checks, and is without servers then.
fn has_plan(stats: &BTreeMap<String, u64>) -> bool {
    let own = |ending: &str| {
        let filter = stats.iter().filter(|(name, _)| name.starts_with("wasmcustom."));
        filter.filter(|(name, _)| name.ends_with(ending)).any(|(_, value)| *value > 0)
    };
    own(".plan_version") && own(".servers")
}
