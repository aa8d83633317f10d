use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rudolph_deployments::{Cmd, CommandError, Failure, Gateway, Output, Samples, get};

use crate::docker;

/// The first start makes a database and loads a module, on whatever machine this is.
const START: Duration = Duration::from_secs(240);
/// Servers drain for seconds before they end.
const STOP: Duration = Duration::from_secs(120);
pub(crate) const GRAFANA: &str = "grafana/grafana";

/// The services of docker-compose.yml under a project name and on ports of their own.
#[derive(Debug)]
pub(crate) struct Stack {
    root: PathBuf,
    compose: Vec<String>,
    project: String,
    ports: Ports,
}

#[derive(Debug)]
struct Ports {
    gateway: u16,
    metrics: u16,
    status: u16,
    prometheus: u16,
    grafana: u16,
}

impl Stack {
    pub(crate) fn new() -> Result<Self, Failure> {
        let command = std::env::var("RUDOLPH_COMPOSE").unwrap_or_default();
        let command = if command.trim().is_empty() { "docker compose".to_owned() } else { command };
        let project = std::env::var("RUDOLPH_PROJECT").unwrap_or_default();
        let own = format!("rudolph-test-{}", std::process::id());
        Ok(Self {
            root: repository()?,
            compose: command.split_whitespace().map(str::to_owned).collect(),
            project: if project.is_empty() { own } else { project },
            ports: Ports::free()?,
        })
    }

    pub(crate) fn gateway(&self) -> Gateway {
        Gateway::new(local(self.ports.gateway))
    }

    pub(crate) fn metrics(&self) -> SocketAddr {
        local(self.ports.metrics)
    }

    pub(crate) fn status(&self) -> SocketAddr {
        local(self.ports.status)
    }

    pub(crate) fn prometheus(&self) -> SocketAddr {
        local(self.ports.prometheus)
    }

    pub(crate) fn grafana(&self) -> SocketAddr {
        local(self.ports.grafana)
    }

    pub(crate) fn project(&self) -> &str {
        &self.project
    }

    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// What Envoy itself says now.
    pub(crate) async fn stats(&self) -> Result<Samples, Failure> {
        Ok(Samples::parse(&get(self.metrics(), "/stats/prometheus").await?))
    }

    pub(crate) async fn up(&self, servers: usize) -> Result<String, Failure> {
        self.scale(servers).await?;
        let containers = docker::containers(self).await?;
        Ok(format!("{} containers", containers.len()))
    }

    /// Starts or stops what differs, and waits until all are healthy.
    pub(crate) async fn scale(&self, servers: usize) -> Result<Output, CommandError> {
        let scale = format!("app={servers}");
        let words = ["up", "--no-build", "--no-recreate", "--detach", "--wait", "--scale", &scale];
        self.compose(&words, START).await
    }

    pub(crate) async fn start_grafana(&self) -> Result<Output, CommandError> {
        let words =
            ["--profile", "dashboards", "up", "--no-build", "--detach", "--wait", "grafana"];
        self.compose(&words, START).await
    }

    /// Stops the stack's own load for a while, so that figures stand still. By a signal: `docker pause` freezes a control
    /// group, which a busy kernel may refuse.
    pub(crate) async fn pause_load(&self) -> Result<Output, CommandError> {
        self.compose(&["kill", "--signal", "STOP", "load"], STOP).await
    }

    pub(crate) async fn resume_load(&self) -> Result<Output, CommandError> {
        self.compose(&["kill", "--signal", "CONT", "load"], STOP).await
    }

    /// Containers, networks and volumes; nothing may be left.
    pub(crate) async fn down(&self) -> Result<String, Failure> {
        let words = ["--profile", "dashboards", "down", "--volumes", "--remove-orphans"];
        self.compose(&words, STOP).await?;
        let left = docker::left_of(self).await?;
        Failure::unless(left.is_empty(), "left behind", "nothing", left.join(", "))?;
        Ok(String::new())
    }

    /// For whoever has to find out why a check failed.
    pub(crate) async fn show_logs(&self) {
        let logs = self.compose(&["logs", "--tail", "15", "--no-color"], STOP).await;
        let states = self.compose(&["ps", "--all"], STOP).await;
        for output in [logs, states].into_iter().flatten() {
            _ = writeln!(io::stderr(), "{}", output.stdout); // nobody may be listening
        }
    }

    pub(crate) async fn has_grafana(&self) -> bool {
        let images = Cmd::new("docker").args(["image", "ls", "--quiet", GRAFANA]).run().await;
        images.is_ok_and(|output| !output.stdout.trim().is_empty())
    }

    async fn compose(&self, words: &[&str], limit: Duration) -> Result<Output, CommandError> {
        let Some((program, first)) = self.compose.split_first() else {
            return Cmd::new("docker").args(["compose"]).args(words).run().await;
        };
        let command = Cmd::new(program)
            .args(first)
            .args(["--progress", "quiet", "--project-name", &self.project])
            .args(words)
            .env("GATEWAY_PORT", self.ports.gateway.to_string())
            .env("METRICS_PORT", self.ports.metrics.to_string())
            .env("STATUS_PORT", self.ports.status.to_string())
            .env("PROMETHEUS_PORT", self.ports.prometheus.to_string())
            .env("GRAFANA_PORT", self.ports.grafana.to_string())
            .folder(&self.root)
            .limit(limit);
        command.run().await
    }
}

impl Ports {
    /// Held all at once, so that they differ, and free again before anything is started.
    fn free() -> Result<Self, Failure> {
        let unusable = |error: io::Error| Failure::unmet("free ports", "five", error);
        let mut held = Vec::new();
        for _ in 0..5 {
            held.push(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(unusable)?);
        }
        let mut ports = [0; 5];
        for (port, listener) in ports.iter_mut().zip(&held) {
            *port = listener.local_addr().map_err(unusable)?.port();
        }
        let [gateway, metrics, status, prometheus, grafana] = ports;
        Ok(Self { gateway, metrics, status, prometheus, grafana })
    }
}

fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// The nearest folder, from where this runs upwards, that holds the compose file.
fn repository() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    let found = here.ancestors().find(|place| place.join("docker-compose.yml").is_file());
    found.map(Path::to_owned).ok_or_else(|| {
        Failure::unmet("docker-compose.yml", "in this folder or above it", here.display())
    })
}
