//! The shared-nothing server beside Debian's Redis, and beside itself with one lock, in one run: all servers stand at
//! once and take turns under redis-benchmark. What counts is the server's own processor time a request, in user and
//! kernel mode: it is what a core can carry, and a busy machine disturbs it least.

mod contender;
mod demand;
mod load;
mod pooling;
mod process;
mod results;
mod summary;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rudolph_experiments::artefacts::ArtefactError;
use rudolph_experiments::{Machine, redis};

use crate::contender::Contender;
use crate::demand::Demand;
use crate::load::Load;
use crate::process::{ProcessError, Running};
use crate::summary::Trial;

/// Measures the shared-nothing server beside Redis and beside itself with a lock.
#[derive(Debug, Parser)]
#[command(name = "rudolph-shared-nothing-experiment", version)]
struct Options {
    /// Folder that holds redis-server and redis-benchmark
    #[arg(long)]
    redis: PathBuf,
    /// The program rudolph-shared-nothing
    #[arg(long)]
    server: PathBuf,
    /// Folder of the results; this experiment has its own in it
    #[arg(long, default_value = "testbed/results")]
    results: PathBuf,
    /// A short run: does everything work?
    #[arg(long)]
    quick: bool,
}

#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("the tenants' load: {0}")]
    Pooling(io::Error),
    #[error(transparent)]
    Result(#[from] ArtefactError),
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            _ = writeln!(io::stderr(), "rudolph-shared-nothing-experiment: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), RunError> {
    let load = Load::of(options.quick);
    let contenders = Contender::all();
    let servers: Vec<Running> = contenders
        .iter()
        .map(|contender| Running::start(*contender, &options.redis, &options.server))
        .collect::<Result<_, _>>()?;
    let mut trials = Vec::new();
    // The first round fills the caches and does not count.
    for round in 0..=load.rounds {
        for demand in Demand::ALL {
            for turn in 0..servers.len() {
                let place = (turn + round) % servers.len();
                let figures = load.run(&options.redis, &servers[place], demand)?;
                if round > 0 {
                    trials.push(Trial { contender: contenders[place], demand, round, figures });
                }
            }
            say(&format!("round {round} of {}: {demand}", load.rounds));
        }
    }
    let tenants = pooling::measure(servers[Contender::PLAIN].address(), load.tenant_seconds);
    let tenants = tenants.map_err(RunError::Pooling)?;
    drop(servers);
    let folder = options.results.join("shared-nothing");
    let quick = if options.quick { "QUICK=1 " } else { "" };
    let origin = format!(
        "{}. Rudolph {}, Redis {}. `{quick}make experiment NAME=shared-nothing`",
        Machine::this(),
        env!("CARGO_PKG_VERSION"),
        redis::version(&options.redis)
            .map_err(|(program, source)| ProcessError::Run { program, source })?,
    );
    let page = results::write(&folder, &trials, &tenants, options.quick, &origin)?;
    _ = writeln!(io::stdout(), "{page}\nfiles: {}", folder.display());
    Ok(())
}

fn say(line: &str) {
    _ = writeln!(io::stderr(), "{line}");
}
