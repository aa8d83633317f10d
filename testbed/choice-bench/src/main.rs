//! What choosing a server costs: ours beside others' ways, on the same keys, taking turns in one run so that the
//! machine's drift hits all alike. Prints a table and, last, lines `figure NAME VALUE`.

mod chooser;
mod measure;
mod ours;
mod report;
mod rivals;

use std::io::{self, Write};
use std::process::ExitCode;

use peak_alloc::PeakAlloc;

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

#[derive(Debug, thiserror::Error)]
enum BenchError {
    #[error("'{0}' is not an option; allowed: --quick, or nothing")]
    Option(String),
    #[error(transparent)]
    Choosers(#[from] chooser::ChooserError),
    #[error("the figures cannot be printed: {0}")]
    Print(#[from] io::Error),
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            _ = writeln!(io::stderr(), "rudolph-choice-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), BenchError> {
    let round = match std::env::args().nth(1).as_deref() {
        None | Some("--bench") => FULL,
        Some("--quick") => QUICK,
        Some(other) => return Err(BenchError::Option(other.to_owned())),
    };
    let mut report = Report::default();
    for servers in SIZES {
        writeln!(io::stderr(), "choosing among {servers} servers")?;
        report.add(servers, measure(servers, round)?);
    }
    write!(io::stdout(), "{report}")?;
    Ok(())
}
