use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rudolph_deployments::{Cmd, Failure};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::options::Options;

pub(crate) const NAMESPACE: &str = "rudolph-example";
const LIMIT: Duration = Duration::from_secs(240);

#[derive(Debug)]
pub(crate) struct Kubectl {
    program: PathBuf,
    sidecar: PathBuf,
}

impl Kubectl {
    pub(crate) fn new(options: &Options) -> Self {
        Self { program: options.kubernetes.clone(), sidecar: options.sidecar.clone() }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Cmd {
        Cmd::new(&self.program)
            .args(["kubectl", "--namespace", NAMESPACE])
            .args(arguments)
            .limit(LIMIT)
    }

    pub(crate) async fn run(&self, arguments: &[&str]) -> Result<String, Failure> {
        Ok(self.command(arguments).run().await?.stdout)
    }

    pub(crate) async fn json(&self, arguments: &[&str]) -> Result<Value, Failure> {
        let text = self.run(&[arguments, &["--output", "json"]].concat()).await?;
        let what = || format!("kubectl {}", arguments.join(" "));
        serde_json::from_str(&text).map_err(|error| Failure::unreadable(what(), error))
    }

    /// What kustomize makes of an overlay.
    pub(crate) async fn rendered(&self, overlay: &str) -> Result<String, Failure> {
        let folder = self.sidecar.join("overlays").join(overlay);
        self.run(&["kustomize", &folder.to_string_lossy()]).await
    }

    /// As README.md says to apply it; unknown fields are refused.
    pub(crate) async fn apply(&self, manifests: &str, more: &[&str]) -> Result<String, Failure> {
        let apply = ["apply", "--server-side", "--validate=strict", "--filename", "-"];
        let command = self.command(&[&apply, more].concat()).input(manifests);
        Ok(command.run().await?.stdout)
    }

    /// The pods with a label, those that are ending left out.
    pub(crate) async fn pods(&self, label: &str) -> Result<Vec<Pod>, Failure> {
        let list = self.json(&["get", "pods", "--selector", label]).await?;
        let pods = list["items"].as_array().cloned().unwrap_or_default();
        let living = pods.into_iter().filter(|pod| pod["metadata"]["deletionTimestamp"].is_null());
        Ok(living.map(Pod).collect())
    }

    pub(crate) async fn forward(&self, pod: &str, port: u16) -> Result<Forward, Failure> {
        Forward::open(&self.program, pod, port).await
    }
}

/// A pod as the API server tells it.
#[derive(Debug, Clone)]
pub(crate) struct Pod(Value);

impl Pod {
    pub(crate) fn name(&self) -> &str {
        self.0["metadata"]["name"].as_str().unwrap_or_default()
    }

    pub(crate) fn at_port(&self, port: u16) -> Result<SocketAddr, Failure> {
        let ip = self.0["status"]["podIP"].as_str().unwrap_or_default();
        let what = || format!("the address of {}", self.name());
        let unreadable = |_| Failure::unreadable(what(), format!("{ip:?}"));
        Ok(SocketAddr::new(ip.parse().map_err(unreadable)?, port))
    }

    /// How often its first container was started again.
    pub(crate) fn restarts(&self) -> u64 {
        self.0["status"]["containerStatuses"][0]["restartCount"].as_u64().unwrap_or_default()
    }

    /// Envoy is an init container that runs on, and is ready.
    pub(crate) fn has_native_sidecar(&self) -> bool {
        let envoy = &self.0["spec"]["initContainers"][0];
        let status = &self.0["status"]["initContainerStatuses"][0];
        envoy["restartPolicy"] == "Always" && status["ready"] == true
    }
}

/// A free port of this machine's loopback that leads into a pod, until this is dropped.
#[derive(Debug)]
pub(crate) struct Forward {
    address: SocketAddr,
    _kubectl: Child,
    /// It writes a line for each connection, and would end if nobody could read that.
    _output: Lines<BufReader<ChildStdout>>,
}

impl Forward {
    async fn open(program: &PathBuf, pod: &str, port: u16) -> Result<Self, Failure> {
        let failed = |reason: String| Failure::unreadable(format!("port {port} of {pod}"), reason);
        let mut kubectl = Command::new(program)
            .args(["kubectl", "--namespace", NAMESPACE, "port-forward", pod, &format!(":{port}")])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let stdout = kubectl.stdout.take().ok_or_else(|| failed("no output".to_owned()))?;
        let mut output = BufReader::new(stdout).lines();
        let line = output.next_line().await.ok().flatten().unwrap_or_default();
        // "Forwarding from 127.0.0.1:40001 -> 10000"
        let address = line.split_whitespace().nth(2).and_then(|text| text.parse().ok());
        let address = address.ok_or_else(|| failed(format!("kubectl says {line:?}")))?;
        Ok(Self { address, _kubectl: kubectl, _output: output })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}
