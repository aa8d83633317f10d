//! `rudolph-experiments`: runs experiments, and makes the page about them.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use rudolph_experiments::{
    SHIPPED, Spec, SpecError, Trial,
    artefacts::{self, ArtefactError, notice},
    campaign,
    progress::Progress,
    report, shipped,
    trial::TrialError,
};

/// Strategies and rivals side by side in real Envoy.
#[derive(Debug, Parser)]
#[command(name = "rudolph-experiments", version)]
struct Options {
    /// Folder of the results; each experiment has its own in it
    #[arg(long, default_value = "testbed/results", global = true)]
    results: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run experiments: names of shipped ones, or TOML files; all shipped ones if none is named
    Run {
        names: Vec<String>,
        /// A short run of few contenders: does everything work?
        #[arg(long)]
        quick: bool,
        /// Runs of each contender, instead of what the spec says
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
        repeats: Option<u32>,
    },
    /// Make report.html from the results that are there
    Report,
    /// List the shipped experiments
    List,
}

#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error("{name}: {source}")]
    Spec { name: String, source: SpecError },
    #[error("{name}: {source}{}", kept(.done))]
    Trial { name: String, source: Box<TrialError>, done: usize },
    #[error(transparent)]
    Cluster(#[from] rudolph_cluster::ClusterError),
    #[error(transparent)]
    Artefact(#[from] ArtefactError),
    #[error("stopped{}", kept(.done))]
    Interrupted { done: usize },
    #[error("{path:?} cannot be written: {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error("the runtime cannot be started: {0}")]
    Runtime(#[from] io::Error),
}

fn kept(done: &usize) -> String {
    match done {
        0 => String::new(),
        done => format!("; the raw figures of {done} runs are kept"),
    }
}

impl RunError {
    /// 2: asked wrongly; 130: Ctrl-C; 1: anything else.
    fn exit_code(&self) -> u8 {
        match self {
            Self::Spec { .. } => 2,
            Self::Interrupted { .. } => 130,
            _ => 1,
        }
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    match carry_out(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            _ = writeln!(io::stderr(), "rudolph-experiments: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn carry_out(options: &Options) -> Result<(), RunError> {
    match &options.command {
        Command::Run { names, quick, repeats } => {
            let specs = specs(names, *quick, *repeats)?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            for spec in &specs {
                runtime.block_on(experiment(spec, *quick, &options.results))?;
            }
            Ok(())
        }
        Command::Report => write_report(&options.results),
        Command::List => {
            for (name, _) in SHIPPED {
                say(&format!("{name:<12} {}", spec_of(name)?.title));
            }
            Ok(())
        }
    }
}

/// All are read and checked before the first one starts.
fn specs(names: &[String], quick: bool, repeats: Option<u32>) -> Result<Vec<Spec>, RunError> {
    let all = SHIPPED.map(|(name, _)| name.to_owned());
    let names = if names.is_empty() { &all[..] } else { names };
    let spec = |name: &String| {
        let spec = spec_of(name)?;
        let mut spec = if quick { spec.quick() } else { spec };
        spec.repeats = repeats.unwrap_or(spec.repeats);
        Ok(spec)
    };
    names.iter().map(spec).collect()
}

fn spec_of(name: &str) -> Result<Spec, RunError> {
    let path = Path::new(name);
    let is_file = path.extension().is_some_and(|ending| ending == "toml");
    let spec = if is_file { Spec::read(path) } else { shipped(name) };
    spec.map_err(|source| RunError::Spec { name: name.to_owned(), source })
}

async fn experiment(spec: &Spec, quick: bool, results: &Path) -> Result<(), RunError> {
    let folder = results.join(&spec.name);
    let envoy = rudolph_cluster::envoy_version()?;
    let mut progress = Progress::new();
    let mut trials = Vec::new();
    let ended = tokio::select! {
        ended = campaign::run(spec, &mut trials, &mut progress) => Some(ended),
        _ = tokio::signal::ctrl_c() => None,
    };
    let done = trials.len();
    match ended {
        Some(Ok(())) => {}
        Some(Err(source)) => {
            keep_raw(&folder, &trials)?;
            return Err(RunError::Trial { name: spec.name.clone(), source: source.into(), done });
        }
        None => {
            keep_raw(&folder, &trials)?;
            return Err(RunError::Interrupted { done });
        }
    }
    let command = command(spec, quick);
    let outcome = artefacts::outcome(spec, quick, &command, &envoy, &trials);
    artefacts::write(&folder, &outcome, &trials)?;
    say("");
    if let Some(notice) = notice(&outcome) {
        say(&notice);
    }
    say(&outcome.table().text());
    for paragraph in &outcome.paragraphs {
        say(&format!("{paragraph}\n"));
    }
    for verdict in &outcome.verdicts {
        say(&verdict.to_string());
    }
    say(&format!("files: {}\n", folder.display()));
    Ok(())
}

/// An earlier result is not replaced by half a one: what was measured goes beside it.
fn keep_raw(folder: &Path, trials: &[Trial]) -> Result<(), RunError> {
    if trials.is_empty() {
        return Ok(());
    }
    Ok(artefacts::write_raw(&folder.join("unfinished"), trials)?)
}

fn command(spec: &Spec, quick: bool) -> String {
    let quick = if quick { "QUICK=1 " } else { "" };
    format!("{quick}make experiment NAME={}", spec.name)
}

fn write_report(results: &Path) -> Result<(), RunError> {
    let html = report::page(results)?.html();
    let path = results.join("report.html");
    std::fs::write(&path, html).map_err(|source| RunError::Write { path: path.clone(), source })?;
    say(&format!("report: {}", path.display()));
    Ok(())
}

fn say(line: &str) {
    _ = writeln!(io::stdout(), "{line}"); // nobody may be listening
}
