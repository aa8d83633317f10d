//! What may happen to a cluster while it runs.

use std::collections::BTreeMap;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::cluster::{Cluster, HEALTHY};
use crate::error::ClusterError;
use crate::process::Process;
use crate::server::Server;
use crate::{render, watched};

/// Enough for a health check (1 s apart) to find a new server and for a reload.
const CHANGE: Duration = Duration::from_secs(10);
const DRAIN: Duration = Duration::from_secs(15);

const RELOAD_STATS: &str = "extension_config_discovery.http_filter.rudolph.";

impl Cluster {
    fn server(&mut self, index: usize) -> Result<&mut Server, ClusterError> {
        let servers = self.servers.len();
        self.servers.get_mut(index).ok_or(ClusterError::NoSuchServer { index, servers })
    }

    fn running(&mut self, index: usize) -> Result<&mut Process, ClusterError> {
        self.server(index)?.process.as_mut().ok_or(ClusterError::NotRunning { index })
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
        process.signal(signal).map_err(|error| ClusterError::io("signal", process.log(), error))
    }

    /// SIGKILL, as a crash of the gateway would do.
    pub fn kill_envoy(&mut self) {
        self.parent = None;
        self.envoy.kill();
    }

    /// Starts Envoy anew on the same ports, killing one that still runs, and waits until it is ready.
    pub async fn restart_envoy(&mut self, patience: Duration) -> Result<(), ClusterError> {
        self.kill_envoy();
        self.envoy = self.launch.first()?;
        self.wait_until_ready(patience, true).await
    }

    /// Starts a second Envoy that takes the listeners over from the first, and waits until it is ready. The first ends by
    /// itself some seconds later.
    pub async fn hot_restart_envoy(&mut self, patience: Duration) -> Result<(), ClusterError> {
        let next = self.launch.next()?;
        self.parent = Some(std::mem::replace(&mut self.envoy, next));
        let epoch = u64::from(self.launch.epoch);
        self.wait_for_stats("taking over", patience, |stats| {
            stats.get("server.hot_restart_epoch") == Some(&epoch)
        })
        .await?;
        self.wait_until_ready(patience, true).await
    }

    /// SIGTERM: the server finishes what it has and ends.
    pub async fn drain_server(&mut self, index: usize) -> Result<(), ClusterError> {
        self.running(index)?.terminate(DRAIN).await;
        self.server(index)?.process = None;
        Ok(())
    }

    /// Starts a server again on the port that it had, and waits until it answers; Envoy finds out by itself.
    pub async fn restart_server(&mut self, index: usize) -> Result<(), ClusterError> {
        let recipe = self.recipe.clone().ok_or(ClusterError::NotRunning { index })?;
        let mut others = self.server_addresses();
        if index < others.len() {
            others.remove(index);
        }
        let server = self.server(index)?;
        if let Some(process) = &mut server.process {
            process.kill();
        }
        server.start_process(&recipe, &others)?;
        server.wait_until_healthy().await
    }

    /// Starts one more server, tells Envoy, and waits until Envoy finds it healthy. Returns its index.
    pub async fn add_server(&mut self) -> Result<usize, ClusterError> {
        let index = self.servers.len();
        let recipe = self.recipe.clone().ok_or(ClusterError::NotRunning { index })?;
        let mut server = Server::start(&recipe, &self.server_addresses())?;
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
        self.list_server(index, false, "removing a server").await
    }

    /// Puts a server that was removed on Envoy's list again.
    pub async fn return_server(&mut self, index: usize) -> Result<(), ClusterError> {
        self.list_server(index, true, "returning a server").await
    }

    async fn list_server(
        &mut self,
        index: usize,
        listed: bool,
        goal: &str,
    ) -> Result<(), ClusterError> {
        self.server(index)?.listed = listed;
        self.publish_servers()?;
        let total = self.listed().count() as u64;
        self.wait_for_stats(goal, CHANGE, |stats| {
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
        let listed: Vec<_> = self.listed().map(|server| (server.address, server.weight)).collect();
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
            return Err(ClusterError::Refused { log: self.envoy.log_tail() });
        }
        if let (Some(parts), Ok(config)) = (self.filter.as_mut(), serde_json::from_str(config)) {
            parts.config = config;
        }
        Ok(())
    }
}

fn successful_reloads(stats: &BTreeMap<String, u64>) -> u64 {
    stats.get(&format!("{RELOAD_STATS}update_success")).copied().unwrap_or(0)
}

pub(crate) fn failed_reloads(stats: &BTreeMap<String, u64>) -> u64 {
    let stat = |name: &str| stats.get(&format!("{RELOAD_STATS}{name}")).copied().unwrap_or(0);
    stat("update_rejected") + stat("update_failure")
}
