//! `rudolph-soak`: watches a real Envoy with the filter for drift.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rudolph_reliability::ReliabilityError;
use rudolph_reliability::soak::{self, Options, Outcome};

/// A cluster under a modest load while servers come and go, the filter is reconfigured and its VMs trap: nothing may grow.
#[derive(Debug, Parser)]
#[command(name = "rudolph-soak", version)]
struct Arguments {
    /// How long: 0.5 to 10080
    #[arg(long, default_value_t = 10.0, value_parser = number::<5, 100_800>)]
    minutes: f64,
    /// Requests a second: 1 to 10000
    #[arg(long, default_value_t = 300.0, value_parser = number::<10, 100_000>)]
    rate: f64,
    /// Seconds between disturbances: 1 to 3600
    #[arg(long, default_value_t = 20.0, value_parser = number::<10, 36_000>)]
    disturb_every: f64,
    /// Seconds between samples: 1 to 600
    #[arg(long, default_value_t = 10.0, value_parser = number::<10, 6_000>)]
    sample_every: f64,
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..=64))]
    servers: u16,
    /// Envoy's worker threads
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=8))]
    workers: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long, default_value = "testbed/results/soak")]
    folder: PathBuf,
    #[arg(long, default_value = "target/rudolph.wasm")]
    module: PathBuf,
}

/// A number from `LOW` to `HIGH` tenths.
fn number<const LOW: u32, const HIGH: u32>(text: &str) -> Result<f64, String> {
    let (low, high) = (f64::from(LOW) / 10.0, f64::from(HIGH) / 10.0);
    let value = text.parse().ok().filter(|value| (low..=high).contains(value));
    value.ok_or_else(|| format!("allowed: {low} to {high}"))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match soak(arguments) {
        Ok(outcome) if outcome.wrong.is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("rudolph-soak: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn soak(arguments: Arguments) -> Result<Outcome, ReliabilityError> {
    // Envoy looks for files from a directory of its own.
    let absolute = |path: PathBuf| {
        std::path::absolute(&path).map_err(|source| ReliabilityError::File {
            action: "resolve",
            path,
            source,
        })
    };
    let options = Options {
        minutes: arguments.minutes,
        rate: arguments.rate,
        disturb_every_s: arguments.disturb_every,
        sample_every_s: arguments.sample_every,
        servers: usize::from(arguments.servers),
        workers: arguments.workers,
        seed: arguments.seed,
        folder: absolute(arguments.folder)?,
        module: absolute(arguments.module)?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|source| ReliabilityError::File {
        action: "start",
        path: "the runtime".into(),
        source,
    })?;
    let outcome = runtime.block_on(soak::run(&options, say))?;
    tell(&outcome);
    Ok(outcome)
}

fn tell(outcome: &Outcome) {
    for line in &outcome.wrong {
        say(&format!("wrong: {line}"));
    }
    for line in &outcome.not_done {
        say(&format!("not carried out: {line}"));
    }
    let failed: u64 = outcome.errors.values().sum();
    say(&format!(
        "{:.1} min, {} requests, {failed} failed, {} disturbances: {}",
        outcome.lasted_s / 60.0,
        outcome.requests,
        outcome.disturbances,
        if outcome.wrong.is_empty() { "nothing drifts" } else { "not good" },
    ));
    say(&format!("files: {}", outcome.options.folder.display()));
}

fn say(line: &str) {
    _ = writeln!(io::stdout(), "{line}"); // nobody may be listening
}
