//! The replicated store behind the filter beside one Redis and three, in one run: all stand at once and take turns under
//! clients of one kind.

mod client;
mod contender;
mod load;
mod results;
mod servers;
mod summary;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rudolph_experiments::artefacts::ArtefactError;
use rudolph_experiments::{Machine, redis};

use crate::contender::Contender;
use crate::load::Load;
use crate::servers::{ServerError, Servers};
use crate::summary::{Trial, cases};

/// Measures the replicated store beside one Redis and three.
#[derive(Debug, Parser)]
#[command(name = "rudolph-replicated-store-experiment", version)]
struct Options {
    /// Folder that holds redis-server
    #[arg(long)]
    redis: PathBuf,
    /// The program rudolph-replicated-store
    #[arg(long)]
    server: PathBuf,
    /// Folder of the results; this experiment has its own in it
    #[arg(long, default_value = "testbed/results")]
    results: PathBuf,
    /// Envoy's worker threads
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    workers: u32,
    /// Rounds that count, instead of five
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=50))]
    rounds: Option<u8>,
    /// A short run: does everything work?
    #[arg(long)]
    quick: bool,
}

#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error("{contender}: {source}")]
    Load { contender: Contender, source: io::Error },
    #[error("the runtime cannot be started: {0}")]
    Runtime(io::Error),
    #[error(transparent)]
    Result(#[from] ArtefactError),
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            _ = writeln!(io::stderr(), "rudolph-replicated-store-experiment: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), RunError> {
    let load = Load::of(options.quick, options.rounds);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(RunError::Runtime)?;
    say("starting Redis, the servers and Envoy");
    let servers =
        runtime.block_on(Servers::start(&options.redis, &options.server, options.workers))?;
    let failed = |contender| move |source| RunError::Load { contender, source };
    for contender in Contender::ALL {
        load.fill(&servers, contender).map_err(failed(contender))?;
    }
    let trials = measure(&load, &servers)?;
    drop(servers);
    let folder = options.results.join("arpeggio");
    let quick = if options.quick { "QUICK=1 " } else { "" };
    let origin = format!(
        "{}. Rudolph {}, {}, Redis {}. `{quick}make experiment NAME=arpeggio`",
        Machine::this(),
        env!("CARGO_PKG_VERSION"),
        rudolph_cluster::envoy_version().map_err(ServerError::from)?,
        redis::version(&options.redis)
            .map_err(|(program, source)| ServerError::Run { program, source })?,
    );
    let page = results::write(&folder, &trials, options.quick, &origin)?;
    _ = writeln!(io::stdout(), "{page}\nfiles: {}", folder.display());
    Ok(())
}

/// The first round warms everything up and does not count. Who begins changes from round to round.
fn measure(load: &Load, servers: &Servers) -> Result<Vec<Trial>, RunError> {
    let mut trials = Vec::new();
    for round in 0..=load.rounds {
        let cases = cases();
        let turns = cases.chunks(Contender::ALL.len());
        for contenders in turns {
            for turn in 0..contenders.len() {
                let case = contenders[(turn + round) % contenders.len()];
                let failed = |source| RunError::Load { contender: case.contender, source };
                let figures = load.run(servers, case).map_err(failed)?;
                if round > 0 {
                    trials.push(Trial { case, round, figures });
                }
            }
            if let Some(case) = contenders.first() {
                let (command, keys, clients) = (case.command, case.keys, case.clients);
                let of = load.rounds;
                say(&format!("round {round} of {of}: {command}, {keys} keys, clients: {clients}"));
            }
        }
    }
    Ok(trials)
}

fn say(line: &str) {
    _ = writeln!(io::stderr(), "{line}");
}
