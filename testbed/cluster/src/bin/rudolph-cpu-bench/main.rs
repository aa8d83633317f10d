//! Envoy's own CPU time a request, read from the process: native MAGLEV without the filter against the filter on
//! `spread` and on `rotation`. The three Envoys stand side by side and take turns, so that drift hits all alike, and each
//! round is compared within itself.

mod client;
mod figures;
mod options;

use std::process::ExitCode;

use rudolph_cluster::{Baseline, Cluster, StubServers};

use crate::client::Load;
use crate::figures::{Contender, Figures};
use crate::options::Options;

const SERVERS: usize = 5;

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
    let mut contenders = Vec::new();
    for contender in Contender::ALL {
        let builder =
            Cluster::builder().external_servers(servers.addresses().to_vec()).concurrency(1);
        let builder = match contender {
            Contender::Maglev => builder.baseline(Baseline::Maglev),
            Contender::Spread => builder.strategy("spread"),
            Contender::Rotation => builder.strategy("rotation"),
        };
        contenders.push((contender, builder.start().await?));
    }
    let mut figures = Figures::default();
    // The first round warms connections, caches and the compiler inside Envoy, and does not count.
    for round in 0..=options.rounds {
        for turn in 0..contenders.len() {
            let (contender, cluster) = &contenders[(turn + round) % contenders.len()];
            let micros = cpu_micros_per_request(cluster, &load, options.requests).await?;
            if round > 0 {
                figures.add(*contender, micros);
                eprintln!(
                    "round {round} of {}: {contender} {micros:.2} us a request",
                    options.rounds
                );
            }
        }
    }
    Ok(figures)
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
