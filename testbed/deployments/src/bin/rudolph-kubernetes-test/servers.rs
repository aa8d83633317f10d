//! Servers that end in every way there is, under load that must not notice.

use std::time::Duration;

use rudolph_deployments::{Cmd, Failure, eventually};

use crate::kubectl::{Kubectl, Pod};
use crate::load::{Load, Losses};
use crate::processes;
use crate::sidecars::{CALLERS, SERVERS, knows};

pub(crate) const KILLED: &str = "a server's process is killed: no request is lost";
pub(crate) const GONE: &str = "a pod is removed without notice: no request is lost";
pub(crate) const ROLLED: &str = "a rolling restart of all servers: no request is lost";

const BRIEF_S: u64 = 25;
const ROLL_S: u64 = 100;
const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) async fn killed(kubectl: &Kubectl) -> Result<String, Failure> {
    let load = Load::start(kubectl, BRIEF_S).await?;
    let victim = some_server(kubectl).await?;
    kill(victim.name()).await?;
    eventually(PATIENCE, async || {
        let again = kubectl.pods(SERVERS).await?;
        let again = again.iter().find(|pod| pod.name() == victim.name()).map_or(0, Pod::restarts);
        Failure::unless(again > victim.restarts(), "restarts of the server", "one more", again)
    })
    .await?;
    let losses = load.finish().await?;
    losses.none()?;
    Ok(said(&losses))
}

pub(crate) async fn gone(kubectl: &Kubectl) -> Result<String, Failure> {
    let load = Load::start(kubectl, BRIEF_S).await?;
    let victim = some_server(kubectl).await?;
    kubectl.run(&["delete", "pod", victim.name(), "--force", "--grace-period=0"]).await?;
    let losses = load.finish().await?;
    losses.none()?;
    rolled_out(kubectl).await?;
    Ok(said(&losses))
}

pub(crate) async fn rolled(kubectl: &Kubectl) -> Result<String, Failure> {
    let before = names(&kubectl.pods(SERVERS).await?);
    let load = Load::start(kubectl, ROLL_S).await?;
    kubectl.run(&["rollout", "restart", "deployment/app"]).await?;
    rolled_out(kubectl).await?;
    let after = kubectl.pods(SERVERS).await?;
    let stayed = names(&after).iter().filter(|name| before.contains(name)).count();
    Failure::unless(stayed == 0, "servers of before", 0, stayed)?;
    let losses = load.finish().await?;
    losses.none()?;
    for server in before.iter().chain(&names(&after)) {
        let answered = losses.servers.contains(server);
        Failure::unless(answered, server, "answers under the load", "none")?;
    }
    for caller in kubectl.pods(CALLERS).await? {
        knows(&caller, after.len()).await?;
    }
    Ok(said(&losses))
}

async fn rolled_out(kubectl: &Kubectl) -> Result<(), Failure> {
    kubectl.run(&["rollout", "status", "deployment/app", "--timeout=180s"]).await?;
    Ok(())
}

async fn some_server(kubectl: &Kubectl) -> Result<Pod, Failure> {
    let first = kubectl.pods(SERVERS).await?.into_iter().next();
    first.ok_or_else(|| Failure::unmet("servers", "some", 0))
}

fn names(pods: &[Pod]) -> Vec<String> {
    pods.iter().map(|pod| pod.name().to_owned()).collect()
}

fn said(losses: &Losses) -> String {
    format!("{} requests to {} servers", losses.requests, losses.servers.len())
}

/// Each server is told its pod's name.
async fn kill(pod: &str) -> Result<(), Failure> {
    let process = processes::with_argument(&format!("--name={pod}"));
    let process = process.ok_or_else(|| Failure::unmet(pod, "a process", "none"))?;
    Cmd::new("kill").args(["-KILL", &process]).run().await?;
    Ok(())
}
