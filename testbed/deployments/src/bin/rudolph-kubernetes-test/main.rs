//! Checks envoy/kubernetes-sidecar on a real Kubernetes: its manifests on an API server, its pods on a node.

mod kubectl;
mod load;
mod manifests;
mod options;
mod pods;
mod processes;
mod servers;
mod sidecars;

use std::process::ExitCode;

use clap::Parser;
use rudolph_deployments::{Checks, Failure};

use kubectl::Kubectl;
use options::Options;

/// What needs a node, by name: skipped by name where there is none.
const ON_A_NODE: [&str; 9] = [
    pods::ROLLED_OUT,
    pods::LOCKED_DOWN,
    sidecars::AFFINITY,
    sidecars::CLOSED,
    servers::KILLED,
    servers::GONE,
    servers::ROLLED,
    pods::CALLER_ENDS_FIRST,
    pods::BUDGET,
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = Options::parse();
    let mut checks = Checks::new();
    let work = check_all(&options, &mut checks);
    tokio::select! {
        () = work => {}
        _ = tokio::signal::ctrl_c() => {
            checks.check("all checks", async { Err(Failure::Interrupted) }).await;
        }
    }
    checks.finish()
}

async fn check_all(options: &Options, checks: &mut Checks) {
    let kubectl = Kubectl::new(options);
    manifests::check(&kubectl, options, checks).await;
    match &options.no_pods {
        Some(why) => ON_A_NODE.iter().for_each(|name| checks.skip(name, why)),
        None => on_a_node(&kubectl, checks).await,
    }
    checks.skip(
        "the module from an image volume, in a pod",
        "the container runtime here may be too old for it; the manifest is checked above",
    );
}

async fn on_a_node(kubectl: &Kubectl, checks: &mut Checks) {
    if !checks.check(pods::ROLLED_OUT, pods::roll_out(kubectl)).await {
        let why = "there are no pods to look at";
        ON_A_NODE[1..].iter().for_each(|name| checks.skip(name, why));
        return;
    }
    checks.check(pods::LOCKED_DOWN, pods::locked_down(kubectl)).await;
    checks.check(sidecars::AFFINITY, sidecars::affinity(kubectl)).await;
    checks.check(sidecars::CLOSED, sidecars::closed(kubectl)).await;
    checks.check(servers::KILLED, servers::killed(kubectl)).await;
    checks.check(servers::GONE, servers::gone(kubectl)).await;
    checks.check(servers::ROLLED, servers::rolled(kubectl)).await;
    checks.check(pods::CALLER_ENDS_FIRST, pods::caller_ends_first(kubectl)).await;
    checks.check(pods::BUDGET, pods::budget(kubectl)).await;
}
