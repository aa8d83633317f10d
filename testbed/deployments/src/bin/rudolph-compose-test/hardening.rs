use std::collections::BTreeSet;

use rudolph_deployments::{Failure, HttpError, get};
use serde_json::Value;

use crate::docker::{self, Container};
use crate::stack::Stack;

/// Every container of the stack, by what the Engine says, and by trying.
pub(crate) async fn of_containers(stack: &Stack) -> Result<String, Failure> {
    let containers = docker::containers(stack).await?;
    for container in &containers {
        settings(container)?;
        ports(container)?;
        let user = container.exec("echo $EUID").await?;
        must(container, "runs as", "no root", &user, user != "0" && !user.is_empty())?;
        let written = container.exec("touch /probe /usr/bin/probe && echo written || true").await?;
        must(container, "its root file system", "read-only", &written, written.is_empty())?;
        let capabilities = container.exec("grep CapEff /proc/self/status").await?;
        let none = capabilities.ends_with("0000000000000000");
        must(container, "its capabilities", "none", &capabilities, none)?;
    }
    let services: BTreeSet<&str> = containers.iter().map(Container::service).collect();
    Ok(format!("{} containers of {}", containers.len(), join(&services)))
}

fn settings(container: &Container) -> Result<(), Failure> {
    let host = container.at("/HostConfig");
    let positive = |name: &str| host[name].as_i64().is_some_and(|limit| limit > 0);
    let listed = |name: &str, word: &str| {
        let list = host[name].as_array();
        list.is_some_and(|list| list.iter().any(|found| found.as_str() == Some(word)))
    };
    let no_new = listed("SecurityOpt", "no-new-privileges:true");
    let wanted = [
        ("read-only root", host["ReadonlyRootfs"] == Value::Bool(true)),
        ("not privileged", host["Privileged"] == Value::Bool(false)),
        ("no capabilities", listed("CapDrop", "ALL")),
        ("no new privileges", no_new),
        ("a limit of memory", positive("Memory")),
        ("a limit of processor time", positive("NanoCpus")),
        ("a limit of processes", positive("PidsLimit")),
        ("a user", !matches!(container.text("/Config/User"), "" | "root" | "0" | "0:0")),
    ];
    wanted.into_iter().try_for_each(|(what, holds)| must(container, "settings", what, host, holds))
}

/// Nothing is published but on this machine's loopback.
fn ports(container: &Container) -> Result<(), Failure> {
    let bindings = container.at("/HostConfig/PortBindings").as_object();
    let bindings = bindings.into_iter().flat_map(|bindings| bindings.values());
    let hosts = bindings.flat_map(|list| list.as_array().into_iter().flatten());
    hosts.map(|binding| &binding["HostIp"]).try_for_each(|host| {
        must(container, "published on", "127.0.0.1", host, host.as_str() == Some("127.0.0.1"))
    })
}

fn must(
    container: &Container,
    what: &str,
    wanted: &str,
    found: impl ToString,
    holds: bool,
) -> Result<(), Failure> {
    Failure::unless(holds, format!("{}: {what}", container.service()), wanted, found)
}

/// Of the admin interface only two pages may be read, and its port only from inside its container.
pub(crate) async fn of_the_admin_interface(stack: &Stack) -> Result<String, Failure> {
    get(stack.metrics(), "/ready").await?;
    for path in ["/stats", "/clusters", "/config_dump", "/quitquitquit", "/stats/prometheus/../x"] {
        let refused = get(stack.metrics(), path).await;
        let found = format!("{refused:?}").chars().take(80).collect::<String>();
        let is_404 = matches!(&refused, Err(HttpError { reason, .. }) if reason.contains("404"));
        Failure::unless(is_404, path, "404", found)?;
    }
    let servers = docker::of_service(stack, "app").await?;
    let Some(server) = servers.first() else {
        return Err(Failure::unmet("servers", "one", "none"));
    };
    let open = |port| format!("timeout 3 bash -c '</dev/tcp/gateway/{port}' && echo open || true");
    let reached = server.exec(&open(9902)).await?;
    Failure::unless(reached == "open", "gateway:9902 from a server", "open", reached)?;
    let reached = server.exec(&open(9901)).await?;
    Failure::unless(reached.is_empty(), "gateway:9901 from a server", "closed", reached)?;
    Ok(String::new())
}

pub(crate) async fn of_restarts(stack: &Stack) -> Result<String, Failure> {
    for container in docker::containers(stack).await? {
        let restarts = container.at("/RestartCount");
        must(&container, "restarts", "0", restarts, restarts.as_i64() == Some(0))?;
    }
    Ok(String::new())
}

fn join(words: &BTreeSet<&str>) -> String {
    words.iter().copied().collect::<Vec<_>>().join(", ")
}
