//! How pods begin and end.

use rudolph_deployments::Failure;

use crate::kubectl::Kubectl;
use crate::load::{Load, Losses};
use crate::sidecars::{CALLERS, SERVERS};

pub(crate) const ROLLED_OUT: &str = "servers and callers are rolled out, Envoy before each caller";
pub(crate) const LOCKED_DOWN: &str = "a pod that is not locked down is refused in their namespace";
pub(crate) const CALLER_ENDS_FIRST: &str =
    "a caller that is told to end keeps its sidecar until it has";
pub(crate) const BUDGET: &str = "the disruption budget lets go of one server at a time";

pub(crate) async fn roll_out(kubectl: &Kubectl) -> Result<String, Failure> {
    let manifests = kubectl.rendered("example").await?;
    kubectl.apply(&manifests, &[]).await?;
    for deployment in ["deployment/app", "deployment/caller"] {
        kubectl.run(&["rollout", "status", deployment, "--timeout=180s"]).await?;
    }
    let callers = kubectl.pods(CALLERS).await?;
    let native = callers.iter().filter(|pod| pod.has_native_sidecar()).count();
    Failure::unless(native == 2, "callers with a native sidecar", 2, native)?;
    let servers = kubectl.pods(SERVERS).await?.len();
    Failure::unless(servers == 3, "servers", 3, servers)?;
    Ok(format!("{servers} servers, {native} callers"))
}

/// So those that run there are.
pub(crate) async fn locked_down(kubectl: &Kubectl) -> Result<String, Failure> {
    let bare = kubectl.run(&["run", "bare", "--image=bare", "--dry-run=server"]).await;
    let words = bare.err().map(|error| error.to_string()).unwrap_or_default();
    let refused = words.contains("violates PodSecurity");
    Failure::unless(refused, "a bare pod", "a violation of PodSecurity", words)?;
    Ok(String::new())
}

/// Its `preStop` lets the load generator work on, as many programs do when they are told to end: it needs Envoy until then.
pub(crate) async fn caller_ends_first(kubectl: &Kubectl) -> Result<String, Failure> {
    let load = Load::start(kubectl, 15).await?;
    let follow = kubectl.command(&["logs", "job/load", "--container", "caller", "--follow"]);
    let label = "app.kubernetes.io/name=load";
    let told = ["delete", "pod", "--selector", label, "--wait=false"];
    let told = kubectl.command(&told);
    let (report, told) = tokio::join!(follow.run(), told.run());
    told?;
    let losses = Losses::read(&report?.stdout)?;
    losses.none()?;
    load.remove().await?;
    Ok(format!("{} requests", losses.requests))
}

pub(crate) async fn budget(kubectl: &Kubectl) -> Result<String, Failure> {
    let pods = kubectl.pods(SERVERS).await?;
    Failure::unless(pods.len() == 3, "servers", 3, pods.len())?;
    evict(kubectl, pods[0].name()).await?;
    let second = evict(kubectl, pods[1].name()).await;
    let words = second.err().map(|error| error.to_string()).unwrap_or_default();
    Failure::unless(words.contains("disruption budget"), "the second eviction", "refused", words)?;
    kubectl.run(&["rollout", "status", "deployment/app", "--timeout=180s"]).await?;
    Ok(String::new())
}

async fn evict(kubectl: &Kubectl, pod: &str) -> Result<(), Failure> {
    let namespace = crate::kubectl::NAMESPACE;
    let eviction = serde_json::json!({
        "apiVersion": "policy/v1", "kind": "Eviction",
        "metadata": { "name": pod, "namespace": namespace },
    });
    let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}/eviction");
    let create = ["create", "--raw", &path, "--filename", "-"];
    kubectl.command(&create).input(eviction.to_string()).run().await?;
    Ok(())
}
