//! Starts Envoy with what Envoy Gateway's or Istio's own translation made of the shipped resources, before real servers
//! on loopback, and checks that it keeps its promises.

mod checks;
mod config;
mod page;
mod processes;
mod translation;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use rudolph_deployments::{Answers, BackgroundLoad, Checks, Cmd, Failure, Gateway};
use serde_json::Value;
use tokio::process::Child;

use config::{Place, render};
use page::Page;
use processes::{Witness, free_port, start, start_server};
use translation::Translation;

/// The control plane that made the translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    EnvoyGateway,
    Istio,
}

#[derive(Debug, Parser)]
struct Options {
    /// Whose translation it is.
    #[arg(long, value_enum)]
    of: Kind,
    /// The translation, as JSON.
    #[arg(long, value_name = "FILE")]
    translation: PathBuf,
    #[arg(long, value_name = "FILE")]
    envoy: PathBuf,
    #[arg(long, value_name = "FILE")]
    module: PathBuf,
    #[arg(long, value_name = "FILE")]
    app_server: PathBuf,
    /// A folder for logs and files; left as it is.
    #[arg(long, value_name = "FOLDER")]
    scratch: PathBuf,
    /// Only write the configuration, with fixed ports and words in place of paths.
    #[arg(long, value_name = "FILE")]
    render: Option<PathBuf>,
    /// The resources have the status page off or left out: only this is checked, and that the gateway does its work.
    #[arg(long)]
    without_page: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = Options::parse();
    let mut checks = Checks::new();
    if options.render.is_some() {
        return match run(&options, &mut checks).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                eprintln!("rudolph-gateways-test: {failure}");
                ExitCode::FAILURE
            }
        };
    }
    match run(&options, &mut checks).await {
        Ok(()) => checks.finish(),
        Err(failure) => {
            let broken = async { Err::<String, _>(failure) };
            checks.check("the test itself", broken).await;
            checks.finish()
        }
    }
}

/// Each has one request on its way at a time.
const CLIENTS: usize = 8;

impl Kind {
    /// What a server may take with it. Istio's resources try reads again; Envoy Gateway has one retry policy a route,
    /// which must not send a write twice, so that a read that the server held is lost too.
    fn allowed_losses(self) -> u64 {
        match self {
            Self::EnvoyGateway => CLIENTS as u64,
            Self::Istio => 0,
        }
    }
}

struct Running {
    kind: Kind,
    gateway: Gateway,
    admin: SocketAddr,
    servers: Vec<SocketAddr>,
    children: Vec<Child>,
    witness: std::sync::Arc<Witness>,
    page: Option<Page>,
    _envoy: Child,
}

async fn run(options: &Options, checks: &mut Checks) -> Result<(), Failure> {
    let translation = Translation::read(options.of, &options.translation)?;
    let servers = servers_of(&translation.endpoints);
    if let Some(path) = &options.render {
        return write_golden(&translation, path);
    }
    let (gateway, admin, page_port) = (loopback().await?, loopback().await?, free_port().await?);
    let endpoints = options.scratch.join("endpoints.json");
    let module = &options.module;
    let rendered =
        render(&translation, &Place { gateway, admin, page_port, module, endpoints: &endpoints });
    for name in &rendered.left_out {
        checks.skip(&format!("{name} in Envoy"), "it needs Istio's own proxy and agent");
    }
    let bootstrap = options.scratch.join("envoy.json");
    write(&endpoints, &rendered.endpoints)?;
    write(&bootstrap, &rendered.bootstrap)?;
    let sound = checks.check("Envoy takes what was translated", validated(options, &bootstrap));
    if !sound.await {
        return Ok(());
    }

    let (last, apps) = servers
        .split_last()
        .ok_or_else(|| Failure::unmet("servers in the translation", "2 or more", 0))?;
    let start_app =
        |address: &SocketAddr| start_server(&options.app_server, *address, &options.scratch);
    let children = apps.iter().map(start_app).collect::<Result<Vec<_>, _>>()?;
    let witness = Witness::start(*last).await?;
    let arguments = ["-c", &bootstrap.display().to_string(), "--concurrency", "2", "-l", "warning"];
    let arguments: Vec<String> = arguments
        .iter()
        .map(|&text| text.to_owned())
        .chain(["--disable-hot-restart".to_owned()])
        .collect();
    let envoy = start(&options.envoy, &arguments, &options.scratch.join("envoy.log"))?;
    let gateway = Gateway::new(gateway);
    let (kind, page) = (options.of, rendered.page);
    let running = Running { kind, gateway, admin, servers, children, witness, page, _envoy: envoy };
    if options.without_page {
        check_without_page(&running, checks).await;
    } else {
        check_all(running, checks).await;
    }
    Ok(())
}

async fn check_without_page(running: &Running, checks: &mut Checks) {
    let Running { gateway, admin, page, .. } = *running;
    let count = running.servers.len();
    let works = async {
        checks::every_worker_plans_with(gateway, admin, count).await?;
        checks::keeps_keys(gateway, admin, count).await?;
        Ok(String::new())
    };
    checks.check("without the status page a key meets the same server too", works).await;
    checks.check("nothing listens for the status page", page::is_off(page)).await;
}

async fn check_page(running: &Running, homes: &Answers, checks: &mut Checks) {
    let Some(page) = running.page else {
        let missing = async { Err(Failure::unmet("listeners with the page", 1, 0)) };
        checks.check("the status page is on loopback and nowhere else", missing).await;
        return;
    };
    checks.check("the status page is on loopback and nowhere else", page.is_on_loopback()).await;
    let tells = page.tells_what_is(running.admin, &running.servers);
    checks.check("the page tells the plan, the workers and the servers", tells).await;
    checks.check("it names the server that a key's requests met", page.explains(homes)).await;
}

async fn check_all(mut running: Running, checks: &mut Checks) {
    let Running { gateway, admin, .. } = running;
    let count = running.servers.len();
    let planned = checks::every_worker_plans_with(gateway, admin, count);
    if !checks.check("the filter plans with every server", planned).await {
        return;
    }
    let mut homes = None;
    let keeps = async {
        homes = Some(checks::keeps_keys(gateway, admin, count).await?);
        Ok(String::new())
    };
    checks.check("a key meets the same server, by the filter's choice", keeps).await;
    let Some(homes) = homes else { return };
    check_page(&running, &homes, checks).await;
    let ignores = checks::ignores_clients(gateway.address(), &homes);
    checks.check("a client cannot choose its server", ignores).await;
    let hides = async { checks::hides_the_header(&running.witness) };
    checks.check("servers do not see the filter's header", hides).await;

    let dead = running.servers[0];
    let allowed = running.kind.allowed_losses();
    let loses_nothing = async {
        let load = BackgroundLoad::start(gateway.address(), CLIENTS, 7)?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let killed = running.children[0].kill().await;
        killed.map_err(|error| Failure::unreadable(format!("server {dead}"), error))?;
        checks::plans_with(admin, count - 1).await?;
        let report = load.stop().await?;
        let lost: u64 = report.errors.values().sum();
        let found = format!("{:?}", report.errors);
        Failure::unless(lost <= allowed, "requests that failed", allowed, found)?;
        Ok(format!("{lost} of {} requests failed", report.requests))
    };
    let promise = format!("a killed server costs at most {allowed} requests");
    checks.check(&promise, loses_nothing).await;
    checks.check("only its keys move", checks::moves_only(gateway, &homes, dead)).await;
}

/// The same on every machine, for a file to compare with.
fn write_golden(translation: &Translation, path: &Path) -> Result<(), Failure> {
    let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let (module, endpoints) = (Path::new("MODULE"), Path::new("ENDPOINTS"));
    let (gateway, admin, page_port) = (at(10_000), at(9_901), 9_903);
    let place = Place { gateway, admin, page_port, module, endpoints };
    write(path, &render(translation, &place).bootstrap)
}

/// The addresses that the control plane would tell Envoy.
fn servers_of(endpoints: &[Value]) -> Vec<SocketAddr> {
    let list = |json: &Value, name: &str| json[name].as_array().cloned().unwrap_or_default();
    let localities = endpoints.iter().flat_map(|cluster| list(cluster, "endpoints"));
    let hosts = localities.flat_map(|locality| list(&locality, "lbEndpoints"));
    let address = |host: Value| -> Option<SocketAddr> {
        let socket = host.pointer("/endpoint/address/socketAddress")?;
        let port = u16::try_from(socket["portValue"].as_u64()?).ok()?;
        Some((socket["address"].as_str()?.parse::<Ipv4Addr>().ok()?, port).into())
    };
    let mut servers: Vec<SocketAddr> = hosts.filter_map(address).collect();
    servers.sort();
    servers.dedup();
    servers
}

async fn loopback() -> Result<SocketAddr, Failure> {
    Ok((Ipv4Addr::LOCALHOST, free_port().await?).into())
}

async fn validated(options: &Options, bootstrap: &Path) -> Result<String, Failure> {
    let path = bootstrap.display().to_string();
    let arguments = ["--mode", "validate", "-l", "warning", "-c", path.as_str()];
    Cmd::new(options.envoy.display().to_string()).args(arguments).run().await?;
    Ok(String::new())
}

fn write(path: &Path, json: &Value) -> Result<(), Failure> {
    std::fs::write(path, format!("{json:#}\n"))
        .map_err(|error| Failure::unreadable(path.display().to_string(), error))
}
