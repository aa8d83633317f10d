//! The application servers, as processes of this cluster or as addresses that somebody else serves.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::admin::AdminAddress;
use crate::error::ClusterError;
use crate::ports;
use crate::process::Process;

/// How long a server may take to answer its health page.
const START: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);

/// What each application server can do; the same for all.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// Requests that a server works on at the same time; the others wait in line.
    pub slots: u32,
    /// Service time of a request that the cache answers.
    pub hit: Duration,
    /// Service time of a request that goes to the database.
    pub miss: Duration,
    pub cache_entries: u64,
    /// Further arguments for `rudolph-app-server`.
    pub extra: Vec<String>,
}

impl Default for ServerSettings {
    fn default() -> Self {
        let (hit, miss) = (Duration::from_millis(1), Duration::from_millis(5));
        Self { slots: 4, hit, miss, cache_entries: 20_000, extra: Vec::new() }
    }
}

impl ServerSettings {
    fn arguments(&self, listen: SocketAddr, database: &Path) -> Vec<String> {
        let milliseconds = |time: Duration| (time.as_secs_f64() * 1000.0).to_string();
        let flags = [
            ("--listen", listen.to_string()),
            ("--database", database.display().to_string()),
            ("--slots", self.slots.to_string()),
            ("--hit-ms", milliseconds(self.hit)),
            ("--miss-ms", milliseconds(self.miss)),
            ("--cache-entries", self.cache_entries.to_string()),
        ];
        let flags = flags.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]);
        flags.chain(self.extra.iter().cloned()).collect()
    }
}

/// Servers that are not `rudolph-app-server`. Each is told where to `--listen`, a folder of its own for its `--data`, and
/// every other server as a `--peer`.
#[derive(Debug, Clone)]
pub struct ServerProgram {
    pub file: PathBuf,
    /// Further arguments.
    pub arguments: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    App { program: PathBuf, settings: ServerSettings, database: PathBuf },
    Other(ServerProgram),
}

/// All that is needed to start one more server like the others.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub(crate) kind: Kind,
    pub(crate) folder: PathBuf,
}

impl Recipe {
    fn program(&self) -> &Path {
        match &self.kind {
            Kind::App { program, .. } => program,
            Kind::Other(other) => &other.file,
        }
    }

    fn arguments(&self, listen: SocketAddr, others: &[SocketAddr]) -> Vec<String> {
        match &self.kind {
            Kind::App { settings, database, .. } => settings.arguments(listen, database),
            Kind::Other(other) => {
                let data = self.folder.join(format!("server-{}", listen.port()));
                let (listen, data) = (listen.to_string(), data.display().to_string());
                let own = ["--listen".to_owned(), listen, "--data".to_owned(), data];
                let peers = others.iter().flat_map(|peer| ["--peer".to_owned(), peer.to_string()]);
                own.into_iter().chain(peers).chain(other.arguments.iter().cloned()).collect()
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) weight: u32,
    /// Whether it is among the servers that Envoy knows.
    pub(crate) listed: bool,
    pub(crate) process: Option<Process>,
}

impl Server {
    pub(crate) fn external(address: SocketAddr) -> Self {
        Self { address, weight: 1, listed: true, process: None }
    }

    /// Starts a server on a free port, without waiting for it.
    pub(crate) fn start(recipe: &Recipe, others: &[SocketAddr]) -> Result<Self, ClusterError> {
        let mut server = Self::external(ports::free_address()?);
        server.start_process(recipe, others)?;
        Ok(server)
    }

    /// Starts the process again, on the address that it had.
    pub(crate) fn start_process(
        &mut self,
        recipe: &Recipe,
        others: &[SocketAddr],
    ) -> Result<(), ClusterError> {
        let what = format!("server {}", self.address);
        let log = recipe.folder.join(format!("server-{}.log", self.address.port()));
        let arguments = recipe.arguments(self.address, others);
        self.process = Some(Process::start(&what, recipe.program(), &arguments, &log)?);
        Ok(())
    }

    /// Returns once the health page says so; at once for a server of somebody else.
    pub(crate) async fn wait_until_healthy(&mut self) -> Result<(), ClusterError> {
        let Some(process) = &mut self.process else {
            return Ok(());
        };
        let page = AdminAddress::Tcp(self.address);
        let deadline = Instant::now() + START;
        while page.page("/healthz").await.is_err() {
            process.check_running()?;
            if Instant::now() > deadline {
                return Err(process.not_ready("/healthz", START));
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_out_in_milliseconds_and_extras_last() {
        let mut settings =
            ServerSettings { hit: Duration::from_micros(1500), ..ServerSettings::default() };
        settings.extra = vec!["--more".to_owned()];
        let arguments = settings.arguments(([127, 0, 0, 1], 7).into(), Path::new("/d"));
        let text = arguments.join(" ");
        assert!(
            text.starts_with(
                "--listen 127.0.0.1:7 --database /d --slots 4 --hit-ms 1.5 --miss-ms 5 "
            ),
            "{text}"
        );
        assert!(text.ends_with(" --more"), "{text}");
    }
}
