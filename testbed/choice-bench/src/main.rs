//! What choosing a server costs: ours beside others' ways, on the same keys, taking turns in one run so that the
//! machine's drift hits all alike. Prints tables and, last, lines `figure NAME VALUE`; leaves a chapter for the page of all
//! experiments.

mod chooser;
mod measure;
mod ours;
mod report;
mod rivals;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use peak_alloc::PeakAlloc;
use rudolph_experiments::Machine;
use rudolph_experiments::artefacts::ArtefactError;

use crate::measure::{Round, measure};
use crate::report::Report;

/// Counts what the choosers keep; choosing itself allocates nothing.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// How many servers are chosen among.
const SIZES: [usize; 8] = [10, 100, 250, 300, 400, 500, 1000, 5000];
const FULL: Round = Round { keys: 1 << 16, rounds: 15 };
/// Enough to see that everything works.
const QUICK: Round = Round { keys: 1 << 8, rounds: 2 };

/// Measures what choosing a server costs, ours and others' ways.
#[derive(Debug, Parser)]
#[command(name = "rudolph-choice-bench", version)]
struct Options {
    /// Folder of the results; this bench has its own in it
    #[arg(long, default_value = "testbed/results")]
    results: PathBuf,
    /// A short run: does everything work?
    #[arg(long)]
    quick: bool,
}

#[derive(Debug, thiserror::Error)]
enum BenchError {
    #[error(transparent)]
    Choosers(#[from] chooser::ChooserError),
    #[error("the figures cannot be printed: {0}")]
    Print(#[from] io::Error),
    #[error(transparent)]
    Result(#[from] ArtefactError),
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            _ = writeln!(io::stderr(), "rudolph-choice-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), BenchError> {
    let round = if options.quick { QUICK } else { FULL };
    let mut report = Report::default();
    for servers in SIZES {
        writeln!(io::stderr(), "choosing among {servers} servers")?;
        report.add(servers, measure(servers, round)?);
    }
    write!(io::stdout(), "{report}")?;
    let folder = options.results.join("choosing");
    let origin =
        format!("{}. Rudolph {}. `make bench`", Machine::this(), env!("CARGO_PKG_VERSION"));
    report.write(&folder, options.quick, origin)?;
    writeln!(io::stdout(), "files: {}", folder.display())?;
    Ok(())
}
