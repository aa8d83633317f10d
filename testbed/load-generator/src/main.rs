//! `rudolph-load`: the load generator as a command.

mod args;

use std::{
    fs::File,
    io::{self, BufWriter, IsTerminal, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use args::{Args, ArgsError};
use clap::Parser;
use rudolph_load_generator::{LoadConfig, LoadError, LoadRun, Report, progress_line};
use tokio::signal::unix::{SignalKind, signal};

#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error(transparent)]
    Args(#[from] ArgsError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("no request was answered well: {errors}")]
    NothingAnswered { errors: String },
    #[error("--json {path:?} cannot be written: {source}")]
    Json { path: PathBuf, source: io::Error },
    #[error("the runtime cannot be started: {0}")]
    Runtime(#[from] io::Error),
}

impl RunError {
    /// 2: asked wrongly; 3: the generator was the bottleneck; 1: anything else.
    fn exit_code(&self) -> u8 {
        match self {
            Self::Args(_) | Self::Load(LoadError::Config(_) | LoadError::Workload(_)) => 2,
            Self::Load(LoadError::Bottleneck { .. }) => 3,
            _ => 1,
        }
    }
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return refuse_options(&error),
    };
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("rudolph-load: {error}"));
            ExitCode::from(error.exit_code())
        }
    }
}

/// Help goes out whole; an error is one line.
fn refuse_options(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        _ = error.print(); // nobody may be listening
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    let lines: Vec<&str> =
        text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    say(&format!("rudolph-load: {}; see --help", lines.join(" ")));
    ExitCode::from(2)
}

fn run(args: &Args) -> Result<(), RunError> {
    let config = args.config()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = match runtime.block_on(watch(config)) {
        Err(LoadError::Bottleneck { report, .. }) if args.report_anyway => *report,
        other => other?,
    };
    if report.requests == 0 {
        let errors = report.errors.iter().map(|(cause, count)| format!("{cause} {count}"));
        let errors = errors.collect::<Vec<_>>().join(", ");
        return Err(RunError::NothingAnswered { errors });
    }
    publish(&report, args.json.as_deref())
}

/// Shows the seconds on a terminal; Ctrl-C and SIGTERM end the run, which reports what there is.
async fn watch(config: LoadConfig) -> Result<Report, LoadError> {
    let run = LoadRun::start(config.clone())?;
    let told_to_stop = told_to_stop();
    tokio::pin!(told_to_stop);
    let mut seconds = run.snapshots();
    let stopper = run.stopper();
    let show = io::stderr().is_terminal();
    let mut stopped = false;
    loop {
        tokio::select! {
            changed = seconds.changed() => {
                if changed.is_err() {
                    break;
                }
                let second = seconds.borrow_and_update().clone();
                if let Some(second) = second && show {
                    _ = write!(io::stderr(), "\r\x1b[K{}", progress_line(&config, &second));
                }
            }
            () = &mut told_to_stop, if !stopped => {
                stopped = true;
                stopper.stop();
            }
        }
    }
    if show {
        say("");
    }
    run.finish().await
}

/// Container runtimes stop a program with SIGTERM, and the kernel spares process 1 that does not handle it.
async fn told_to_stop() {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
    let [Ok(mut interrupt), Ok(mut terminate)] = kinds.map(signal) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

fn publish(report: &Report, json: Option<&Path>) -> Result<(), RunError> {
    for reason in &report.void {
        say(&format!("VOID: {reason}"));
    }
    _ = writeln!(io::stdout(), "{report}"); // nobody may be listening
    match json {
        Some(path) => {
            write_json(report, path).map_err(|source| RunError::Json { path: path.into(), source })
        }
        None => Ok(()),
    }
}

fn write_json(report: &Report, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    serde_json::to_writer_pretty(&mut file, report)?;
    writeln!(file)?;
    file.flush()
}

fn say(line: &str) {
    _ = writeln!(io::stderr(), "{line}"); // nobody may be listening
}
