//! What an experiment leaves that cannot be made again: what it was, and every run and second of it. All else is made from
//! this.

use std::{collections::BTreeMap, fs, io, path::Path};

use serde::{Deserialize, Serialize};

use crate::{
    Contender, Machine, Metric, Spec, Trial,
    artefacts::ArtefactError,
    seconds::{Second, Seconds},
};

/// What was run, where and how. It is the file `experiment.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    pub spec: Spec,
    pub quick: bool,
    pub machine: Machine,
    pub command: String,
    pub versions: String,
}

const SETTING: &str = "experiment.json";
const RUNS: &str = "runs.csv";
const SECONDS: &str = "seconds.csv";
/// In the place of a server's name: all of them together.
const ALL: &str = "all";

/// Whether the folder holds an experiment.
#[must_use]
pub fn is_there(folder: &Path) -> bool {
    folder.join(SETTING).is_file()
}

pub fn write(folder: &Path, setting: &Setting, trials: &[Trial]) -> Result<(), ArtefactError> {
    let setting = serde_json::to_string_pretty(setting)? + "\n";
    put(folder, SETTING, setting.as_bytes())?;
    put(folder, RUNS, &runs_csv(trials)?)?;
    put(folder, SECONDS, &seconds_csv(trials)?)
}

/// Reads what [`write`] wrote.
pub fn read(folder: &Path) -> Result<(Setting, Vec<Trial>), ArtefactError> {
    let path = folder.join(SETTING);
    let text = fs::read(&path).map_err(|source| ArtefactError::read(&path, source))?;
    let setting = serde_json::from_slice(&text)
        .map_err(|source| ArtefactError::NotAResult { path, source })?;
    let mut seconds = read_seconds(&folder.join(SECONDS))?;
    let trials = read_runs(&folder.join(RUNS), &mut seconds)?;
    Ok((setting, trials))
}

/// Writes one file of an experiment's folder, which need not be there yet.
pub fn put(folder: &Path, name: &str, content: &[u8]) -> Result<(), ArtefactError> {
    let path = folder.join(name);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, content))
        .map_err(|source| ArtefactError::write(&path, source))
}

/// A run but for its metrics, which stand beside it in columns of their own.
#[derive(Debug, Serialize, Deserialize)]
struct Run {
    strategy: Contender,
    repeat: u32,
    seed: u64,
    machine_busy_percent: f64,
    generator_cpu_percent: f64,
    generator_lag_p99_ms: f64,
    void: String,
}

const RUN_FIELDS: [&str; 7] = [
    "strategy",
    "repeat",
    "seed",
    "machine_busy_percent",
    "generator_cpu_percent",
    "generator_lag_p99_ms",
    "void",
];

impl Run {
    fn of(trial: &Trial) -> Self {
        Self {
            strategy: trial.contender.clone(),
            repeat: trial.repeat + 1,
            seed: trial.seed,
            machine_busy_percent: trial.machine_busy_percent,
            generator_cpu_percent: trial.generator_cpu_percent,
            generator_lag_p99_ms: trial.generator_lag_p99_ms,
            void: trial.void.join("; "),
        }
    }
}

fn runs_csv(trials: &[Trial]) -> Result<Vec<u8>, ArtefactError> {
    let mut out = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    out.write_record(RUN_FIELDS.iter().chain(&Metric::ALL.map(Metric::name)))?;
    for trial in trials {
        let value = |metric: Metric| Some(trial.value(metric)).filter(|value| !value.is_nan());
        out.serialize((Run::of(trial), Metric::ALL.map(value)))?;
    }
    bytes(out)
}

/// Those of a run, by contender and repeat.
type SecondsOfRuns = BTreeMap<(String, u32), Seconds>;

fn read_runs(path: &Path, seconds: &mut SecondsOfRuns) -> Result<Vec<Trial>, ArtefactError> {
    let mut trials = Vec::new();
    for line in lines(path)? {
        let (run, values): (Run, [Option<f64>; Metric::ALL.len()]) = line?.deserialize(None)?;
        let of_run = (run.strategy.name().to_owned(), run.repeat);
        let measured = Metric::ALL.into_iter().zip(values);
        trials.push(Trial {
            contender: run.strategy,
            repeat: run.repeat.saturating_sub(1),
            seed: run.seed,
            values: measured.filter_map(|(metric, value)| Some((metric, value?))).collect(),
            machine_busy_percent: run.machine_busy_percent,
            generator_cpu_percent: run.generator_cpu_percent,
            generator_lag_p99_ms: run.generator_lag_p99_ms,
            void: Some(run.void).filter(|void| !void.is_empty()).into_iter().collect(),
            seconds: seconds.remove(&of_run).unwrap_or_default(),
        });
    }
    Ok(trials)
}

const SECOND_FIELDS: [&str; 12] = [
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
];

/// A row a second for all servers together, and one for each.
fn seconds_csv(trials: &[Trial]) -> Result<Vec<u8>, ArtefactError> {
    let mut out = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    out.write_record(SECOND_FIELDS)?;
    for trial in trials {
        let all = std::iter::once((ALL, &trial.seconds.all));
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

fn read_seconds(path: &Path) -> Result<SecondsOfRuns, ArtefactError> {
    let mut runs = SecondsOfRuns::new();
    for line in lines(path)? {
        let (strategy, repeat, server, second): (String, u32, String, Second) =
            line?.deserialize(None)?;
        let run = runs.entry((strategy, repeat)).or_default();
        if server == ALL {
            run.all.push(second);
        } else {
            run.row_of(&server).push(second);
        }
    }
    Ok(runs)
}

/// Those after the head, whose fields are taken by their places.
fn lines(path: &Path) -> csv::Result<impl Iterator<Item = csv::Result<csv::StringRecord>>> {
    let reader = csv::ReaderBuilder::new().has_headers(false).from_path(path)?;
    Ok(reader.into_records().skip(1))
}

fn bytes(out: csv::Writer<Vec<u8>>) -> Result<Vec<u8>, ArtefactError> {
    out.into_inner()
        .map_err(|error| ArtefactError::Csv(csv::Error::from(io::Error::other(error.to_string()))))
}
