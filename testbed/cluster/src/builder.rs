use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::admin::AdminAddress;
use crate::baseline::Baseline;
use crate::cluster::{Cluster, Watched};
use crate::error::ClusterError;
use crate::launch::Launch;
use crate::process::Process;
use crate::render::{self, Changes, Kind, Rendered, StatusPage};
use crate::scratch::Scratch;
use crate::server::{self, Recipe, Server, ServerProgram, ServerSettings};
use crate::{locate, ports, watched};

const DEBUG_HEADER: &str = "x-rudolph-debug";

/// What to start; every field has a default, five servers and the filter as shipped.
#[derive(Debug, Clone)]
pub struct Builder {
    servers: usize,
    external: Vec<SocketAddr>,
    settings: ServerSettings,
    program: Option<ServerProgram>,
    concurrency: u32,
    baseline: Option<Baseline>,
    fields: Map<String, Value>,
    module: Option<PathBuf>,
    debug_header: bool,
    admin_socket: bool,
    filter_polls: Option<SocketAddr>,
    status: bool,
    status_port: Option<u16>,
    status_fields: Map<String, Value>,
    failure_policy: Option<String>,
    awaits_plan: bool,
    log_level: String,
    extensions: Vec<Value>,
    hot_restart: bool,
    is_bare: bool,
    patience: Duration,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            servers: 5,
            external: Vec::new(),
            settings: ServerSettings::default(),
            program: None,
            concurrency: 1,
            baseline: None,
            fields: Map::new(),
            module: None,
            debug_header: false,
            admin_socket: false,
            filter_polls: None,
            status: true,
            status_port: None,
            status_fields: Map::new(),
            failure_policy: None,
            awaits_plan: true,
            log_level: "warning".to_owned(),
            extensions: Vec::new(),
            hot_restart: false,
            is_bare: false,
            patience: Duration::from_secs(30),
        }
    }
}

impl Builder {
    /// How many application servers to start.
    #[must_use]
    pub fn servers(mut self, servers: usize) -> Self {
        self.servers = servers;
        self
    }

    /// Servers that the caller runs, instead of processes started here.
    #[must_use]
    pub fn external_servers(mut self, addresses: Vec<SocketAddr>) -> Self {
        self.servers = 0;
        self.external = addresses;
        self
    }

    #[must_use]
    pub fn server_settings(mut self, settings: ServerSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Servers of another program than `rudolph-app-server`.
    #[must_use]
    pub fn server_program(mut self, program: ServerProgram) -> Self {
        self.program = Some(program);
        self
    }

    /// Envoy's worker threads.
    #[must_use]
    pub fn concurrency(mut self, workers: u32) -> Self {
        self.concurrency = workers;
        self
    }

    /// No filter: this native policy on the same key.
    #[must_use]
    pub fn baseline(mut self, baseline: Baseline) -> Self {
        self.baseline = Some(baseline);
        self
    }

    /// Envoy without what costs each request something and decides nothing: request ids, its own headers for the servers
    /// and the clients, counters by response code, taking the filter's header away.
    #[must_use]
    pub fn bare(mut self) -> Self {
        self.is_bare = true;
        self
    }

    #[must_use]
    pub fn strategy(self, strategy: &str) -> Self {
        self.filter_field("strategy", strategy)
    }

    /// Sets one top-level field of the filter's configuration, in place of what is shipped.
    #[must_use]
    pub fn filter_field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Another module than `target/rudolph.wasm`. Such a one is not asked for a status page.
    #[must_use]
    pub fn module(mut self, file: impl Into<PathBuf>) -> Self {
        self.module = Some(file.into());
        self.status = false;
        self
    }

    /// Each response carries the filter's decision in `x-rudolph-debug`.
    #[must_use]
    pub fn debug_header(mut self, on: bool) -> Self {
        self.debug_header = on;
        self
    }

    /// The admin interface on a Unix socket instead of a port.
    #[must_use]
    pub fn admin_socket(mut self, on: bool) -> Self {
        self.admin_socket = on;
        self
    }

    /// Where the filter looks for the admin interface, if not where it is.
    #[must_use]
    pub fn filter_polls(mut self, address: SocketAddr) -> Self {
        self.filter_polls = Some(address);
        self
    }

    /// Whether the filter's status page is served, as it is where the filter is shipped.
    #[must_use]
    pub fn status_page(mut self, on: bool) -> Self {
        self.status = on;
        self
    }

    /// A port for the status page, if it is free; else any.
    #[must_use]
    pub fn status_port(mut self, port: u16) -> Self {
        self.status_port = Some(port);
        self
    }

    /// Sets one field of the status page's configuration.
    #[must_use]
    pub fn status_field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.status_fields.insert(name.to_owned(), value.into());
        self
    }

    /// What Envoy does when the module traps, such as `FAIL_OPEN`, if not what is shipped.
    #[must_use]
    pub fn failure_policy(mut self, policy: &str) -> Self {
        self.failure_policy = Some(policy.to_owned());
        self
    }

    /// Whether one Envoy can take over from another. It costs shared memory of the machine while the cluster lives.
    #[must_use]
    pub fn hot_restart(mut self, on: bool) -> Self {
        self.hot_restart = on;
        self
    }

    /// One more of Envoy's `bootstrap_extensions`, such as a Wasm service that watches the filter's shared data.
    #[must_use]
    pub fn bootstrap_extension(mut self, extension: Value) -> Self {
        self.extensions.push(extension);
        self
    }

    /// Whether the cluster is ready only when the filter has a plan. Turn it off where there will be none.
    #[must_use]
    pub fn await_plan(mut self, on: bool) -> Self {
        self.awaits_plan = on;
        self
    }

    /// Envoy's log level, such as `info` or `debug`.
    #[must_use]
    pub fn log_level(mut self, level: &str) -> Self {
        self.log_level = level.to_owned();
        self
    }

    /// How long Envoy may take until it is ready, with every server healthy and a first plan.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Starts everything and returns when all servers are healthy, Envoy is ready and the filter has a plan.
    pub async fn start(self) -> Result<Cluster, ClusterError> {
        let root = locate::repository()?;
        let envoy = locate::envoy(&root)?;
        let scratch = Scratch::create()?;
        let recipe = self.recipe(&root, &scratch)?;
        let servers = self.start_servers(recipe.as_ref()).await?;
        let listener = ports::free_address()?;
        let admin = self.admin_address(&scratch)?;
        let files =
            Watched { servers: scratch.file("servers.json"), filter: scratch.file("filter.json") };
        let status = self.status_address()?;
        let mut rendered = self.render(&root, (listener, &servers), &admin, status, &files)?;
        if self.is_bare {
            render::make_bare(&mut rendered.bootstrap).map_err(|reason| {
                let path = root.join("envoy/standalone");
                ClusterError::Config { path, reason }
            })?;
        }
        if !self.extensions.is_empty() {
            rendered.bootstrap["bootstrap_extensions"] = self.extensions.clone().into();
        }
        write_files(&scratch, &files, &rendered, &servers)?;
        let mut launch = Launch {
            program: envoy,
            arguments: self.envoy_arguments(&scratch),
            log: scratch.file("envoy.log"),
            base_id_file: self.hot_restart.then(|| scratch.file("base-id")),
            epoch: 0,
        };
        let envoy: Process = launch.first()?;
        let mut cluster = Cluster {
            envoy,
            parent: None,
            launch,
            servers,
            recipe,
            listener,
            status,
            admin,
            files,
            filter: rendered.filter,
            scratch,
        };
        cluster.wait_until_ready(self.patience, self.awaits_plan).await?;
        Ok(cluster)
    }

    fn recipe(&self, root: &Path, scratch: &Scratch) -> Result<Option<Recipe>, ClusterError> {
        if self.servers == 0 {
            return Ok(None);
        }
        let kind = match &self.program {
            Some(other) => server::Kind::Other(other.clone()),
            None => server::Kind::App {
                program: locate::app_server(root)?,
                settings: self.settings.clone(),
                database: scratch.file("data.sqlite"),
            },
        };
        Ok(Some(Recipe { kind, folder: scratch.path().to_owned() }))
    }

    async fn start_servers(&self, recipe: Option<&Recipe>) -> Result<Vec<Server>, ClusterError> {
        let mut servers: Vec<Server> =
            self.external.iter().copied().map(Server::external).collect();
        if let Some(recipe) = recipe {
            for _ in 0..self.servers {
                let others: Vec<SocketAddr> = servers.iter().map(|server| server.address).collect();
                servers.push(Server::start(recipe, &others)?);
            }
        }
        for server in &mut servers {
            server.wait_until_healthy().await?;
        }
        Ok(servers)
    }

    fn admin_address(&self, scratch: &Scratch) -> Result<AdminAddress, ClusterError> {
        if self.admin_socket {
            return Ok(AdminAddress::Unix(scratch.file("admin.sock")));
        }
        ports::free_address().map(AdminAddress::Tcp)
    }

    fn status_address(&self) -> Result<Option<SocketAddr>, ClusterError> {
        if !self.status || self.baseline.is_some() {
            return Ok(None);
        }
        let wanted = self.status_port.and_then(ports::if_free);
        wanted.map_or_else(ports::free_address, Ok).map(Some)
    }

    fn render(
        &self,
        root: &Path,
        (listener, servers): (SocketAddr, &[Server]),
        admin: &AdminAddress,
        status: Option<SocketAddr>,
        files: &Watched,
    ) -> Result<Rendered, ClusterError> {
        let changes = |kind| Changes { listener, admin, servers_file: &files.servers, kind };
        if let Some(baseline) = self.baseline {
            let shipped = root.join("envoy/standalone/maglev.yaml");
            let servers: Vec<SocketAddr> = servers.iter().map(|server| server.address).collect();
            let kind = Kind::Baseline { policy: baseline, servers: &servers };
            return render::render(&shipped, &changes(kind));
        }
        let module = match &self.module {
            Some(file) => file.clone(),
            None => locate::module(root)?,
        };
        let mut fields = self.fields.clone();
        if self.debug_header {
            fields.insert("debug_header".to_owned(), DEBUG_HEADER.into());
        }
        let kind = Kind::Filter {
            file: &files.filter,
            module: &module,
            fields: &fields,
            polls: self.filter_polls,
            failure_policy: self.failure_policy.as_deref(),
            status: status.map(|listener| StatusPage { listener, fields: &self.status_fields }),
            echo_debug: self.debug_header.then_some(DEBUG_HEADER),
        };
        render::render(&root.join("envoy/standalone/rudolph.yaml"), &changes(kind))
    }

    fn envoy_arguments(&self, scratch: &Scratch) -> Vec<String> {
        let bootstrap = scratch.file("envoy.json").display().to_string();
        let workers = self.concurrency.to_string();
        let arguments = ["-c", &bootstrap, "--concurrency", &workers];
        let logging = ["--log-level", &self.log_level];
        arguments.iter().chain(&logging).map(|argument| (*argument).to_owned()).collect()
    }
}

fn write_files(
    scratch: &Scratch,
    files: &Watched,
    rendered: &Rendered,
    servers: &[Server],
) -> Result<(), ClusterError> {
    watched::replace(&scratch.file("envoy.json"), &rendered.bootstrap)?;
    let listed: Vec<_> = servers.iter().map(|server| (server.address, server.weight)).collect();
    watched::replace(&files.servers, &render::servers_resource(&listed))?;
    if let Some(parts) = &rendered.filter {
        watched::replace(&files.filter, &parts.resource(&parts.config.to_string()))?;
    }
    Ok(())
}
