//! What the Engine says about the stack's containers.

use rudolph_deployments::{Cmd, Failure};
use serde_json::Value;

use crate::stack::Stack;

/// One container, as `docker inspect` describes it.
#[derive(Debug, Clone)]
pub(crate) struct Container(Value);

impl Container {
    pub(crate) fn at(&self, path: &str) -> &Value {
        self.0.pointer(path).unwrap_or(&Value::Null)
    }

    pub(crate) fn text(&self, path: &str) -> &str {
        self.at(path).as_str().unwrap_or_default()
    }

    pub(crate) fn id(&self) -> &str {
        self.text("/Id")
    }

    /// What the server in it calls itself.
    pub(crate) fn host_name(&self) -> &str {
        self.text("/Config/Hostname")
    }

    pub(crate) fn service(&self) -> &str {
        self.at("/Config/Labels")["com.docker.compose.service"].as_str().unwrap_or_default()
    }

    /// Its addresses in the networks that it is in.
    pub(crate) fn addresses(&self) -> Vec<&str> {
        let networks = self.at("/NetworkSettings/Networks").as_object();
        let networks = networks.into_iter().flat_map(|networks| networks.values());
        networks.filter_map(|network| network["IPAddress"].as_str()).collect()
    }

    pub(crate) async fn exec(&self, script: &str) -> Result<String, Failure> {
        let output =
            Cmd::new("docker").args(["exec", self.id(), "bash", "-c", script]).run().await?;
        Ok(output.stdout.trim().to_owned())
    }
}

/// All that run.
pub(crate) async fn containers(stack: &Stack) -> Result<Vec<Container>, Failure> {
    let ids = listed(&["ps", "--quiet"], stack).await?;
    let output = Cmd::new("docker").args(["inspect"]).args(&ids).run().await?;
    let parsed: Vec<Value> = serde_json::from_str(&output.stdout)
        .map_err(|error| Failure::unreadable("docker inspect", error))?;
    Ok(parsed.into_iter().map(Container).collect())
}

pub(crate) async fn of_service(stack: &Stack, service: &str) -> Result<Vec<Container>, Failure> {
    let mut all = containers(stack).await?;
    all.retain(|container| container.service() == service);
    Ok(all)
}

/// `docker VERB ID`.
pub(crate) async fn tell(verb: &str, container: &Container) -> Result<(), Failure> {
    Cmd::new("docker").args([verb, container.id()]).run().await?;
    Ok(())
}

/// Containers, networks and volumes of the project.
pub(crate) async fn left_of(stack: &Stack) -> Result<Vec<String>, Failure> {
    let mut left = listed(&["ps", "--all", "--quiet"], stack).await?;
    left.extend(listed(&["network", "ls", "--quiet"], stack).await?);
    left.extend(listed(&["volume", "ls", "--quiet"], stack).await?);
    Ok(left)
}

async fn listed(words: &[&str], stack: &Stack) -> Result<Vec<String>, Failure> {
    let label = format!("label=com.docker.compose.project={}", stack.project());
    let output = Cmd::new("docker").args(words).args(["--filter", &label]).run().await?;
    Ok(output.stdout.lines().map(str::to_owned).collect())
}
