//! What happens to the cluster meanwhile, one thing after the other, so that what each leaves behind adds up.

use std::time::Duration;

use rudolph_cluster::{Cluster, ClusterError};
use serde::Serialize;
use serde_json::json;

use crate::planted_trap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Disturbance {
    Kill,
    Trap,
    Remove,
    Reload,
    Pause,
    Weight,
}

const ALL: [Disturbance; 6] = [
    Disturbance::Kill,
    Disturbance::Trap,
    Disturbance::Remove,
    Disturbance::Reload,
    Disturbance::Pause,
    Disturbance::Weight,
];

/// How long a server stays away: health checks find out within two seconds.
const AWAY: Duration = Duration::from_secs(5);
const POLL_MS: usize = 1_000;
/// So many configurations differ; then they come again. More than there are arenas.
const CONFIGURATIONS: usize = 80;

impl Disturbance {
    pub(crate) fn of_turn(turn: usize) -> Self {
        ALL[turn % ALL.len()]
    }

    /// Does it and undoes it. `turn` chooses the server and the new configuration.
    pub(crate) async fn happen(
        self,
        cluster: &mut Cluster,
        turn: usize,
    ) -> Result<(), ClusterError> {
        let round = turn / ALL.len();
        let server = round % cluster.server_addresses().len().max(1);
        match self {
            Self::Kill => {
                cluster.kill_server(server)?;
                tokio::time::sleep(AWAY).await;
                cluster.restart_server(server).await
            }
            Self::Remove => {
                cluster.remove_server(server).await?;
                tokio::time::sleep(AWAY).await;
                cluster.return_server(server).await
            }
            Self::Pause => {
                cluster.stop_server(server)?;
                tokio::time::sleep(AWAY).await;
                cluster.continue_server(server)
            }
            Self::Weight => {
                cluster.set_weight(server, 2)?;
                tokio::time::sleep(AWAY).await;
                cluster.set_weight(server, 1)
            }
            Self::Reload => {
                let mut config = cluster.filter_config().cloned().ok_or(ClusterError::NoFilter)?;
                config["membership"]["poll_interval_ms"] = json!(POLL_MS + round % CONFIGURATIONS);
                cluster.reload_filter_config(&config.to_string()).await
            }
            Self::Trap => {
                // The answer is Envoy's own for a request whose filter failed, or none: both are what was asked for.
                _ = planted_trap::pull(cluster.envoy_address()).await;
                Ok(())
            }
        }
    }
}
