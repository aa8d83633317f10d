//! Envoy's own CPU time a request, read from the process: native MAGLEV without the filter against the filter on
//! `spread`, with its status page and without, and on `rotation`. The Envoys stand side by side and take short turns, so that
//! drift hits all alike, and each round is compared within itself. They are started anew several times: two processes of
//! one program differ by some per cent for as long as they live.

mod client;
mod figures;
mod options;

use std::process::ExitCode;

use rudolph_cluster::{Baseline, Cluster, StubServers};

use crate::client::Load;
use crate::figures::{Contender, Figures};
use crate::options::Options;

const SERVERS: usize = 5;

/// Rounds that warm connections, caches and the compiler inside Envoy, and do not count.
const WARM_ROUNDS: usize = 4;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// One thread for clients and servers, so that Envoy has the other core to itself.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = match Options::from_arguments(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    match run(&options).await {
        Ok(figures) => {
            print!("{figures}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: &Options) -> Result<Figures, Failure> {
    let servers = StubServers::start(SERVERS).await?;
    let load = Load::prepare(options)?;
    let mut figures = Figures::default();
    for sitting in 1..=options.sittings {
        sit(options, &servers, &load, &mut figures).await?;
        eprintln!("sitting {sitting} of {}", options.sittings);
    }
    Ok(figures)
}

/// All contenders, started anew, in rounds that each has its turn in.
async fn sit(
    options: &Options,
    servers: &StubServers,
    load: &Load,
    figures: &mut Figures,
) -> Result<(), Failure> {
    let mut contenders = Vec::new();
    for contender in Contender::ALL {
        let builder =
            Cluster::builder().external_servers(servers.addresses().to_vec()).concurrency(1);
        let builder = match contender {
            Contender::Maglev => builder.baseline(Baseline::Maglev),
            Contender::Spread => builder.strategy("spread"),
            Contender::SpreadWithoutPage => builder.strategy("spread").status_page(false),
            Contender::Rotation => builder.strategy("rotation"),
        };
        contenders.push((contender, builder.start().await?));
    }
    for round in 0..WARM_ROUNDS + options.rounds {
        for turn in 0..contenders.len() {
            let (contender, cluster) = &contenders[(turn + round) % contenders.len()];
            let micros = cpu_micros_per_request(cluster, load, options.requests).await?;
            if round >= WARM_ROUNDS {
                figures.add(*contender, micros);
            }
        }
    }
    Ok(())
}

async fn cpu_micros_per_request(
    cluster: &Cluster,
    load: &Load,
    requests: usize,
) -> Result<f64, Failure> {
    let before = cluster.envoy_cpu_seconds()?;
    load.run(cluster.envoy_address(), requests).await?;
    let spent = cluster.envoy_cpu_seconds()? - before;
    Ok(spent * 1e6 / requests as f64)
}
