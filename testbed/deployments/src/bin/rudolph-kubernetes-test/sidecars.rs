//! What the sidecars do, each for its own pod.

use std::net::SocketAddr;
use std::time::Duration;

use rudolph_deployments::{
    Failure, Gateway, Samples, eventually, get, numbered_keys, servers_shown,
};
use tokio::net::TcpStream;

use crate::kubectl::{Kubectl, Pod};
use crate::processes;

pub(crate) const AFFINITY: &str = "two sidecars that do not talk send each key to the same server";
pub(crate) const CLOSED: &str = "from outside the pod a sidecar shows its metrics and nothing else";

pub(crate) const GATEWAY: u16 = 10_000;
pub(crate) const METRICS: u16 = 9902;
pub(crate) const STATUS: u16 = 9903;
pub(crate) const CALLERS: &str = "app.kubernetes.io/name=caller";
pub(crate) const SERVERS: &str = "app.kubernetes.io/name=app";
const KEYS: usize = 2000;

pub(crate) async fn affinity(kubectl: &Kubectl) -> Result<String, Failure> {
    let callers = kubectl.pods(CALLERS).await?;
    let servers = kubectl.pods(SERVERS).await?;
    Failure::unless(callers.len() == 2, "callers", 2, callers.len())?;
    for caller in &callers {
        knows(caller, servers.len()).await?;
    }
    let keys = numbered_keys("cart", KEYS);
    let first = kubectl.forward(callers[0].name(), GATEWAY).await?;
    let second = kubectl.forward(callers[1].name(), GATEWAY).await?;
    let by_first = Gateway::new(first.address()).servers_of(&keys).await?;
    let by_second = Gateway::new(second.address()).servers_of(&keys).await?;
    let moved = by_first.moved_in(&by_second).len();
    Failure::unless(moved == 0, "keys with two homes", 0, moved)?;
    let used = by_first.servers().len();
    Failure::unless(used == servers.len(), "servers used", servers.len(), used)?;
    let page = kubectl.forward(callers[0].name(), STATUS).await?;
    let shown = servers_shown(page.address()).await?;
    Failure::unless(shown == servers.len(), "servers on the status page", servers.len(), shown)?;
    let fallback = metric(&callers[0], "rudolph_requests_fallback").await?;
    let memory = processes::resident_mib("envoy");
    Ok(format!(
        "{KEYS} keys on {used} servers, {fallback} by the fallback policy, {memory} MiB in Envoy"
    ))
}

/// The sidecar has a plan with so many servers.
pub(crate) async fn knows(caller: &Pod, servers: usize) -> Result<(), Failure> {
    eventually(Duration::from_secs(60), async || {
        let known = metric(caller, "rudolph_servers").await?;
        Failure::unless(known == servers.to_string(), "servers in the plan", servers, known)
    })
    .await
}

pub(crate) async fn metric(caller: &Pod, name: &str) -> Result<String, Failure> {
    let text = get(caller.at_port(METRICS)?, "/stats/prometheus").await?;
    let value = Samples::parse(&text).sum(name, &[]);
    Ok(value.map_or("no such metric".to_owned(), |value| value.to_string()))
}

pub(crate) async fn closed(kubectl: &Kubectl) -> Result<String, Failure> {
    let callers = kubectl.pods(CALLERS).await?;
    let caller = callers.first().ok_or_else(|| Failure::unmet("callers", "some", 0))?;
    let metrics = caller.at_port(METRICS)?;
    for path in ["/", "/stats", "/clusters", "/config_dump", "/stats/prometheus/../../clusters"] {
        let refused = get(metrics, path).await.err().map(|error| error.reason).unwrap_or_default();
        Failure::unless(refused.contains("404"), path, "404", refused)?;
    }
    Failure::unless(get(metrics, "/ready").await.is_ok(), "/ready", "200", "another")?;
    for (what, port) in [("the callers' port", GATEWAY), ("the status page's port", STATUS)] {
        let open = connects(caller.at_port(port)?).await;
        Failure::unless(!open, what, "closed", "open")?;
    }
    Ok(String::new())
}

async fn connects(address: SocketAddr) -> bool {
    let connecting = TcpStream::connect(address);
    let connected = tokio::time::timeout(Duration::from_secs(5), connecting).await;
    connected.is_ok_and(|connected| connected.is_ok())
}
