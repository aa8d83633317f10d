//! `rudolph-load-limits`: 10,000 connections and 32 workers on one Envoy with the filter.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rudolph_reliability::ReliabilityError;
use rudolph_reliability::limits::{self, Options};

/// Many connections and workers on one Envoy, a few requests on each: every request must find its server.
#[derive(Debug, Parser)]
#[command(name = "rudolph-load-limits", version)]
struct Arguments {
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    connections: u32,
    /// Envoy's worker threads
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=128))]
    workers: u32,
    /// Requests on each connection
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,
    #[arg(long, default_value = "target/rudolph.wasm")]
    module: PathBuf,
    #[arg(long, default_value = "testbed/results/load-limits")]
    folder: PathBuf,
}

fn main() -> ExitCode {
    match carry_out(Arguments::parse()) {
        Ok(wrong) if wrong.is_empty() => ExitCode::SUCCESS,
        Ok(wrong) => {
            wrong.iter().for_each(|line| say(&format!("wrong: {line}")));
            ExitCode::FAILURE
        }
        Err(error) => {
            say(&format!("rudolph-load-limits: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn carry_out(arguments: Arguments) -> Result<Vec<String>, ReliabilityError> {
    let Arguments { connections, workers, rounds, module, folder } = arguments;
    let file = |action, path: &PathBuf| {
        let path = path.clone();
        move |source| ReliabilityError::File { action, path, source }
    };
    let options = Options {
        connections: connections as usize,
        workers,
        rounds: rounds as usize,
        module: std::path::absolute(&module).map_err(file("resolve", &module))?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(file("start", &"the runtime".into()))?;
    let outcome = runtime.block_on(limits::run(&options, say))?;
    let json = serde_json::to_string_pretty(&outcome).map_err(|error| {
        ReliabilityError::Output { what: "load-limits.json", reason: error.to_string() }
    })?;
    fs::create_dir_all(&folder).map_err(file("make", &folder))?;
    let path = folder.join("load-limits.json");
    fs::write(&path, &json).map_err(file("write", &path))?;
    say(&json);
    Ok(outcome.wrong())
}

fn say(line: &str) {
    _ = writeln!(io::stdout(), "{line}"); // nobody may be listening
}
