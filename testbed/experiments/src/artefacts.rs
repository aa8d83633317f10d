//! The files of an experiment: raw figures, summaries for programs, a table and plots for people.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rudolph_charts::{ChartError, Table, png};
use serde::{Deserialize, Serialize};

use crate::{
    Machine, Metric, Row, Spec, Trial,
    expectation::{self, Verdict},
    figures::{self, Plot},
    story, summary, table,
};

#[derive(Debug, thiserror::Error)]
pub enum ArtefactError {
    #[error("{path:?} cannot be written: {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error("{path:?} cannot be read: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("{path:?} is not a result: {source}")]
    NotAResult { path: PathBuf, source: serde_json::Error },
    #[error("the rows cannot be written: {0}")]
    Csv(#[from] csv::Error),
    #[error("the summary cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    #[error("plot {name}: {source}")]
    Plot { name: String, source: ChartError },
}

/// All that a page about the experiment needs, beside its plots. It is the file `result.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    pub spec: Spec,
    pub quick: bool,
    pub machine: Machine,
    pub command: String,
    pub versions: String,
    pub paragraphs: Vec<String>,
    pub verdicts: Vec<Verdict>,
    /// Why figures are void; empty if none are.
    pub void: Vec<String>,
    pub rows: Vec<Row>,
    pub plots: Vec<Plot>,
}

impl Outcome {
    #[must_use]
    pub fn table(&self) -> Table {
        table::table(&self.spec, &self.rows)
    }
}

/// Sharp on a screen that shows it at its own size.
const PNG_SCALE: f32 = 2.0;

/// What the trials of an experiment add up to.
#[must_use]
pub fn outcome(spec: &Spec, quick: bool, command: &str, envoy: &str, trials: &[Trial]) -> Outcome {
    let rows = summary::rows(spec, trials);
    Outcome {
        spec: spec.clone(),
        quick,
        machine: Machine::this(),
        command: command.to_owned(),
        versions: format!("Rudolph {}, {envoy}", env!("CARGO_PKG_VERSION")),
        paragraphs: story::paragraphs(spec, &rows, trials),
        verdicts: expectation::verdicts(spec, &rows),
        void: void(trials),
        plots: figures::plots(spec, &rows, trials),
        rows,
    }
}

fn void(trials: &[Trial]) -> Vec<String> {
    let reasons = trials.iter().filter(|trial| !trial.void.is_empty());
    reasons
        .map(|trial| {
            format!("{}, repeat {}: {}", trial.contender, trial.repeat + 1, trial.void.join("; "))
        })
        .collect()
}

/// Writes everything into `folder`, in place of what an earlier run left there.
pub fn write(folder: &Path, outcome: &Outcome, trials: &[Trial]) -> Result<(), ArtefactError> {
    remove_plots(folder)?;
    write_raw(folder, trials)?;
    put(folder, "summary.json", json(&summary::to_json(&outcome.rows))?.as_bytes())?;
    put(folder, "result.json", json(outcome)?.as_bytes())?;
    put(folder, "table.md", table_page(outcome).as_bytes())?;
    for plot in &outcome.plots {
        put(folder, &format!("{}.svg", plot.name), plot.svg.as_bytes())?;
        let drawn = png(&plot.svg, PNG_SCALE)
            .map_err(|source| ArtefactError::Plot { name: plot.name.clone(), source })?;
        put(folder, &format!("{}.png", plot.name), &drawn)?;
    }
    Ok(())
}

/// Those of an earlier run, which may have had other ones.
fn remove_plots(folder: &Path) -> Result<(), ArtefactError> {
    let Ok(earlier) = read(folder) else { return Ok(()) };
    for plot in earlier.plots {
        for ending in ["svg", "png"] {
            let path = folder.join(format!("{}.{ending}", plot.name));
            match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(&path, source));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The raw figures alone, also of an experiment that did not come to its end.
pub fn write_raw(folder: &Path, trials: &[Trial]) -> Result<(), ArtefactError> {
    fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
    put(folder, "runs.csv", &runs_csv(trials)?)?;
    put(folder, "seconds.csv", &seconds_csv(trials)?)
}

/// Reads what [`write`] wrote.
pub fn read(folder: &Path) -> Result<Outcome, ArtefactError> {
    let path = folder.join("result.json");
    let text =
        fs::read(&path).map_err(|source| ArtefactError::Read { path: path.clone(), source })?;
    serde_json::from_slice(&text).map_err(|source| ArtefactError::NotAResult { path, source })
}

fn put(folder: &Path, name: &str, content: &[u8]) -> Result<(), ArtefactError> {
    let path = folder.join(name);
    fs::write(&path, content).map_err(|source| failed(&path, source))
}

fn failed(path: &Path, source: io::Error) -> ArtefactError {
    ArtefactError::Write { path: path.into(), source }
}

fn json(value: &impl Serialize) -> Result<String, ArtefactError> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

fn runs_csv(trials: &[Trial]) -> Result<Vec<u8>, ArtefactError> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let own = ["strategy", "repeat", "seed"];
    let about = ["machine_busy_percent", "generator_cpu_percent", "generator_lag_p99_ms", "void"];
    let metrics = Metric::ALL.map(Metric::name);
    out.write_record(own.iter().chain(&metrics).chain(&about))?;
    for trial in trials {
        let value = |metric: Metric| match trial.value(metric) {
            value if value.is_nan() => String::new(),
            value => format!("{value:.3}"),
        };
        let mut record = vec![
            trial.contender.to_string(),
            (trial.repeat + 1).to_string(),
            trial.seed.to_string(),
        ];
        record.extend(Metric::ALL.map(value));
        let about =
            [trial.machine_busy_percent, trial.generator_cpu_percent, trial.generator_lag_p99_ms];
        record.extend(about.map(|value| format!("{value:.3}")));
        record.push(trial.void.join("; "));
        out.write_record(&record)?;
    }
    bytes(out)
}

/// A row a second for all servers together, and one for each.
fn seconds_csv(trials: &[Trial]) -> Result<Vec<u8>, ArtefactError> {
    let mut out = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    out.write_record([
        "strategy",
        "repeat",
        "server",
        "second",
        "requests",
        "hits",
        "misses",
        "errors",
        "p50_ms",
        "p95_ms",
        "p99_ms",
        "share_over_mean",
    ])?;
    for trial in trials {
        let all = std::iter::once(("all", &trial.seconds.all));
        let servers = trial.seconds.servers.iter().map(|(name, seconds)| (name.as_str(), seconds));
        for (server, seconds) in all.chain(servers) {
            for &second in seconds {
                let (strategy, repeat) = (trial.contender.name(), trial.repeat + 1);
                out.serialize((strategy, repeat, server, second))?;
            }
        }
    }
    bytes(out)
}

fn bytes(out: csv::Writer<Vec<u8>>) -> Result<Vec<u8>, ArtefactError> {
    out.into_inner()
        .map_err(|error| ArtefactError::Csv(csv::Error::from(io::Error::other(error.to_string()))))
}

/// The table and what was asked, for reading beside the raw files.
fn table_page(outcome: &Outcome) -> String {
    let mut page = format!("# {}\n\n{}\n\n", outcome.spec.title, outcome.spec.asks);
    page += &notice(outcome).map_or_else(String::new, |notice| format!("**{notice}**\n\n"));
    page += &outcome.table().markdown();
    for paragraph in &outcome.paragraphs {
        page += &format!("\n{paragraph}\n");
    }
    if !outcome.verdicts.is_empty() {
        page += "\n";
    }
    for verdict in &outcome.verdicts {
        page += &format!("- {verdict}\n");
    }
    page += &format!("\n{}. {}. `{}`\n", outcome.machine, outcome.versions, outcome.command);
    page
}

/// What a reader must know before the figures.
#[must_use]
pub fn notice(outcome: &Outcome) -> Option<String> {
    let quick = outcome.quick.then(|| {
        "A quick run: it shows that everything works, and its figures mean nothing.".to_owned()
    });
    let void = (!outcome.void.is_empty()).then(|| {
        format!(
            "Void, because this machine was the limit and not the servers: {}.",
            outcome.void.join(". ")
        )
    });
    let parts: Vec<String> = quick.into_iter().chain(void).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}
