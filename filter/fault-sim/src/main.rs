//! `make sim`: many seeds, or one again.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::Instant;

use clap::Parser;
use rudolph_fault_sim::{Failure, first_seed_of_today, run, run_many};
use rudolph_mock_host::FilterModule;

/// The compiled module under random schedules and faults.
#[derive(Debug, Parser)]
struct Args {
    /// How many seeds to run.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    seeds: u64,
    /// The first of them; by default it follows from the date.
    #[arg(long)]
    first: Option<u64>,
    /// Runs this seed alone and shows all of its steps.
    #[arg(long, conflicts_with_all = ["seeds", "first"])]
    seed: Option<u64>,
    /// The module.
    #[arg(long, default_value = "target/rudolph.wasm")]
    module: PathBuf,
    /// Ends after so many failures.
    #[arg(long, default_value_t = NonZeroUsize::MIN)]
    failures: NonZeroUsize,
    /// Threads; by default one a core.
    #[arg(long)]
    threads: Option<NonZeroUsize>,
}

fn show(failure: &Failure) {
    println!("{}", failure.scenario);
    for step in &failure.steps {
        println!("{step}");
    }
    println!("seed {}: {}", failure.seed, failure.broken);
    println!("again, with every step: make sim SEED={}", failure.seed);
}

fn one(module: &FilterModule, seed: u64) -> ExitCode {
    match run(module, seed, usize::MAX) {
        Ok(steps) => {
            println!("seed {seed}: all promises held in {steps} steps");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            show(&failure);
            ExitCode::FAILURE
        }
    }
}

fn many(module: &FilterModule, args: &Args) -> ExitCode {
    let first = args.first.unwrap_or_else(first_seed_of_today);
    let seeds: Vec<u64> = (0..args.seeds).map(|i| first.wrapping_add(i)).collect();
    let threads =
        args.threads.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    println!("seeds {first} to {}, {threads} at a time", first.wrapping_add(args.seeds - 1));
    let begun = Instant::now();
    let progress = |done: u64, failure: Option<&Failure>| {
        if let Some(failure) = failure {
            show(failure);
        }
        if stderr().is_terminal() {
            eprint!("\r{done} of {} seeds", args.seeds);
        } else if done.is_multiple_of(100) {
            eprintln!("{done} of {} seeds, {} s", args.seeds, begun.elapsed().as_secs());
        }
    };
    let outcome = run_many(module, &seeds, threads, args.failures.get(), progress);
    if stderr().is_terminal() {
        eprintln!();
    }
    let failed = outcome.failures.len() as u64;
    println!(
        "{} passed, {failed} failed: {} steps in {:.1} s",
        outcome.seeds - failed,
        outcome.steps,
        begun.elapsed().as_secs_f64()
    );
    // A closed pipe is no reason to fail.
    let _ = stdout().flush();
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let module = match FilterModule::from_file(&args.module) {
        Ok(module) => module,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    match args.seed {
        Some(seed) => one(&module, seed),
        None => many(&module, &args),
    }
}
