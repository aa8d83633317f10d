//! `rudolph-chaos`: breaks one thing after the other before the filter and before Envoy's own `MAGLEV`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rudolph_reliability::ReliabilityError;
use rudolph_reliability::chaos::{self, Contender, Fault, Judgement, Phases, Plan, Trial};

/// Faults in a real Envoy under load, with the filter and without: who fails which requests, and for how long.
#[derive(Debug, Parser)]
#[command(name = "rudolph-chaos", version)]
struct Arguments {
    /// Only these faults
    #[arg(long, value_enum, value_delimiter = ',')]
    faults: Vec<Fault>,
    /// Only these contenders
    #[arg(long, value_enum, value_delimiter = ',')]
    contenders: Vec<Contender>,
    /// Short phases
    #[arg(long)]
    quick: bool,
    /// Requests a second
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(10..=5_000))]
    rate: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long, default_value = "testbed/results/chaos")]
    folder: PathBuf,
    #[arg(long, default_value = "target/rudolph.wasm")]
    module: PathBuf,
}

fn main() -> ExitCode {
    match carry_out(&Arguments::parse()) {
        Ok(broken) if broken.is_empty() => ExitCode::SUCCESS,
        Ok(broken) => {
            for Judgement { fault, reason, .. } in broken {
                say(&format!("broken promise: {}: {reason}", fault.name()));
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            say(&format!("rudolph-chaos: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn carry_out(arguments: &Arguments) -> Result<Vec<Judgement>, ReliabilityError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|source| ReliabilityError::File {
        action: "start",
        path: "the runtime".into(),
        source,
    })?;
    let all = |given: &[Fault]| if given.is_empty() { Fault::ALL.to_vec() } else { given.to_vec() };
    let plan = Plan {
        faults: all(&arguments.faults),
        phases: if arguments.quick { Phases::QUICK } else { Phases::FULL },
        rate: f64::from(arguments.rate),
        seed: arguments.seed,
    };
    let versions = rudolph_cluster::envoy_version()?;
    let contenders = match arguments.contenders.as_slice() {
        [] => &Contender::ALL[..],
        given => given,
    };
    let mut trials = Vec::new();
    for &contender in contenders {
        trials.extend(runtime.block_on(chaos::run(contender, &plan, &arguments.module, tell))?);
    }
    let broken = chaos::judge(&trials);
    let table = chaos::write(&arguments.folder, &plan, &versions, &trials, &broken)?;
    say(&format!("\n{table}\nfiles: {}", arguments.folder.display()));
    Ok(broken)
}

fn tell(trial: &Trial) {
    let Trial { fault, contender, outcome, fault_s } = trial;
    say(&format!(
        "{}: {}: {} requests, {} failed {:?}, p99 {:.0} ms, {fault_s:.1} s",
        contender.name(),
        fault.name(),
        outcome.requests,
        outcome.failed(),
        outcome.errors,
        outcome.p99_ms,
    ));
}

fn say(line: &str) {
    _ = writeln!(io::stdout(), "{line}"); // nobody may be listening
}
