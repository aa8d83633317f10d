//! `rudolph-experiments`: runs experiments, and makes the page about them.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use rudolph_experiments::{
    Machine, SHIPPED, Spec, SpecError,
    artefacts::{ArtefactError, Outcome},
    campaign,
    progress::Progress,
    raw::{self, Setting},
    report,
    sequential::{self, SequentialError},
    shipped,
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
    /// Make tables, plots and report.html anew from the raw figures that are there
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
    #[error("sequential: {0}")]
    Sequential(#[from] SequentialError),
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
            Self::Interrupted { .. } | Self::Sequential(SequentialError::Interrupted) => 130,
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
            let of_other_form = |name: &String| name == sequential::NAME;
            let alone = names.iter().any(of_other_form);
            let contests: Vec<String> =
                names.iter().filter(|name| !of_other_form(name)).cloned().collect();
            let specs = match contests[..] {
                [] if alone => Vec::new(),
                _ => specs(&contests, *quick, *repeats)?,
            };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            for spec in &specs {
                runtime.block_on(experiment(spec, *quick, &options.results))?;
            }
            if alone || names.is_empty() {
                runtime.block_on(sequential(*quick, *repeats, &options.results))?;
            }
            Ok(())
        }
        Command::Report => write_report(&options.results),
        Command::List => {
            for (name, _) in SHIPPED {
                say(&format!("{name:<12} {}", spec_of(name)?.title));
            }
            say(&format!("{:<12} {}", sequential::NAME, sequential::TITLE));
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
    let setting = Setting {
        spec: spec.clone(),
        quick,
        machine: Machine::this(),
        command: command(spec, quick),
        versions: versions()?,
    };
    let mut progress = Progress::new();
    let mut trials = Vec::new();
    let ended = tokio::select! {
        ended = campaign::run(spec, &mut trials, &mut progress) => Some(ended),
        _ = tokio::signal::ctrl_c() => None,
    };
    let done = trials.len();
    let problem = match ended {
        Some(Ok(())) => None,
        Some(Err(source)) => {
            let name = spec.name.clone();
            Some(RunError::Trial { name, source: source.into(), done })
        }
        None => Some(RunError::Interrupted { done }),
    };
    if let Some(problem) = problem {
        if done > 0 {
            // An earlier result is not replaced by half a one: what was measured goes beside it.
            raw::write(&folder.join("unfinished"), &setting, &trials)?;
        }
        return Err(problem);
    }
    raw::write(&folder, &setting, &trials)?;
    let outcome = Outcome::of(setting, &trials);
    outcome.write(&folder)?;
    tell(&outcome);
    say(&format!("files: {}\n", folder.display()));
    Ok(())
}

async fn sequential(quick: bool, repeats: Option<u32>, results: &Path) -> Result<(), RunError> {
    let mut plan = if quick { sequential::Plan::quick() } else { sequential::Plan::full() };
    plan.repeats = repeats.unwrap_or(plan.repeats);
    let word = if quick { "QUICK=1 " } else { "" };
    let setting = sequential::Setting {
        plan,
        quick,
        machine: Machine::this(),
        command: format!("{word}make experiment NAME={}", sequential::NAME),
        versions: versions()?,
    };
    let folder = results.join(sequential::NAME);
    let outcome = sequential::run(setting, &folder).await?;
    say(&outcome.writes_table().text());
    say(&outcome.scans_table().text());
    for verdict in &outcome.verdicts {
        say(&verdict.to_string());
    }
    say(&outcome.origin());
    say(&format!("files: {}\n", folder.display()));
    Ok(())
}

fn tell(outcome: &Outcome) {
    say("");
    if let Some(notice) = outcome.notice() {
        say(&notice);
    }
    say(&outcome.table().text());
    for paragraph in &outcome.paragraphs {
        say(&format!("{paragraph}\n"));
    }
    for verdict in &outcome.verdicts {
        say(&verdict.to_string());
    }
    say(&outcome.origin());
}

fn versions() -> Result<String, RunError> {
    let envoy = rudolph_cluster::envoy_version()?;
    Ok(format!("Rudolph {}, {envoy}", env!("CARGO_PKG_VERSION")))
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
