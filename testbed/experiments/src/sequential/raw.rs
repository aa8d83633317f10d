//! What the experiment leaves that cannot be made again: every search, every probe of it, every row of scans.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Placement, Setting};
use crate::artefacts::ArtefactError;
use crate::raw::put;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Envoy,
    Simulator,
}

impl Place {
    /// For tables and sentences.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Envoy => "Envoy",
            Self::Simulator => "simulator",
        }
    }
}

/// One rate, tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    pub strategy: Placement,
    pub place: Place,
    pub servers: usize,
    /// From 1.
    pub repeat: u32,
    pub offered_rps: f64,
    pub rps: f64,
    pub mean_ms: f64,
    pub p99_ms: f64,
    pub errors: u64,
    /// The busiest server's share of all requests.
    pub busiest_percent: f64,
    pub passed: bool,
    pub machine_busy_percent: f64,
    /// Not empty: the machine was the limit.
    pub void: String,
}

impl Probe {
    /// Nothing failed, and the mean latency is under the limit.
    pub(super) fn judge(&mut self, limit_ms: f64) {
        self.passed = self.errors == 0 && self.rps > 0.0 && self.mean_ms < limit_ms;
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Highest {
    pub strategy: Placement,
    pub place: Place,
    pub servers: usize,
    pub repeat: u32,
    /// The highest offered rate whose mean latency was under the limit; 0 if none was.
    pub rps: f64,
    /// At that rate.
    pub mean_ms: f64,
    pub p99_ms: f64,
    pub busiest_percent: f64,
    pub machine_busy_percent: f64,
    pub probes: usize,
    /// Not empty: the rate above failed because the machine was the limit, so the true figure may be higher.
    pub void: String,
}

impl Highest {
    pub(super) fn of(
        probes: &[Probe],
        strategy: Placement,
        place: Place,
        servers: usize,
        repeat: u32,
    ) -> Self {
        let by_rate = |one: &&Probe, other: &&Probe| one.offered_rps.total_cmp(&other.offered_rps);
        let best = probes.iter().filter(|probe| probe.passed).max_by(by_rate);
        let reached = best.map_or(0.0, |probe| probe.offered_rps);
        let failed = probes.iter().filter(|probe| !probe.passed && probe.offered_rps > reached);
        // Of several tries at one rate the last one decided.
        let above = failed.rev().min_by(by_rate);
        let value = |of: fn(&Probe) -> f64| best.map_or(0.0, of);
        Self {
            strategy,
            place,
            servers,
            repeat: repeat + 1,
            rps: value(|probe| probe.offered_rps),
            mean_ms: value(|probe| probe.mean_ms),
            p99_ms: value(|probe| probe.p99_ms),
            busiest_percent: value(|probe| probe.busiest_percent),
            machine_busy_percent: value(|probe| probe.machine_busy_percent),
            probes: probes.len(),
            void: above.map(|probe| probe.void.clone()).unwrap_or_default(),
        }
    }
}

/// Scans of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scans {
    /// `range`, or the number of buckets.
    pub layout: String,
    /// 0 for ranges.
    pub buckets: u32,
    pub servers: usize,
    pub length: u64,
    pub scanners: usize,
    pub scans: u64,
    pub scans_per_s: f64,
    pub mean_ms: f64,
    pub p99_ms: f64,
    /// Means over the scans.
    pub requests_a_scan: f64,
    pub servers_a_scan: f64,
    /// Time in the servers' slots, as they count it.
    pub work_ms_a_scan: f64,
    /// What the model says: time in slots, latency of a scan alone, and the most scans a second.
    pub model_work_ms: f64,
    pub model_ms: f64,
    pub model_scans_per_s: f64,
    pub machine_busy_percent: f64,
}

/// All that was measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    pub highest: Vec<Highest>,
    pub probes: Vec<Probe>,
    pub scans: Vec<Scans>,
}

pub(super) fn write(
    folder: &Path,
    setting: &Setting,
    measured: &Measured,
) -> Result<(), ArtefactError> {
    let setting = serde_json::to_string_pretty(setting)? + "\n";
    put(folder, "experiment.json", setting.as_bytes())?;
    put(folder, "runs.csv", &csv_of(&measured.highest)?)?;
    put(folder, "probes.csv", &csv_of(&measured.probes)?)?;
    put(folder, "scans.csv", &csv_of(&measured.scans)?)
}

pub(super) fn read(folder: &Path) -> Result<(Setting, Measured), ArtefactError> {
    let path = folder.join("experiment.json");
    let text = fs::read(&path).map_err(|source| ArtefactError::read(&path, source))?;
    let setting = serde_json::from_slice(&text)
        .map_err(|source| ArtefactError::NotAResult { path, source })?;
    let measured = Measured {
        highest: rows(&folder.join("runs.csv"))?,
        probes: rows(&folder.join("probes.csv"))?,
        scans: rows(&folder.join("scans.csv"))?,
    };
    Ok((setting, measured))
}

fn csv_of<T: Serialize>(rows: &[T]) -> Result<Vec<u8>, ArtefactError> {
    let mut out = csv::Writer::from_writer(Vec::new());
    for row in rows {
        out.serialize(row)?;
    }
    out.into_inner()
        .map_err(|error| ArtefactError::Csv(csv::Error::from(io::Error::other(error.to_string()))))
}

fn rows<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, ArtefactError> {
    let rows: Result<Vec<T>, csv::Error> =
        csv::Reader::from_path(path)?.into_deserialize().collect();
    Ok(rows?)
}

/// Numbers to three digits after the point: no more were measured.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(offered_rps: f64, mean_ms: f64, void: &str) -> Probe {
        let mut probe = Probe {
            strategy: Placement::Range,
            place: Place::Envoy,
            servers: 5,
            repeat: 1,
            offered_rps,
            rps: offered_rps,
            mean_ms,
            p99_ms: mean_ms,
            errors: 0,
            busiest_percent: 100.0,
            passed: false,
            machine_busy_percent: 50.0,
            void: void.to_owned(),
        };
        probe.judge(10.0);
        probe
    }

    #[test]
    fn only_the_rate_above_the_answer_can_make_it_void() {
        let of = |probes: &[Probe]| Highest::of(probes, Placement::Range, Place::Envoy, 5, 0);
        let stalled = [
            probe(300.0, 20.0, ""),
            probe(100.0, 50.0, "late"),
            probe(100.0, 8.0, ""),
            probe(200.0, 9.0, ""),
        ];
        let highest = of(&stalled);
        assert_eq!((highest.rps, highest.void.as_str()), (200.0, ""), "a stall below it is past");
        let highest = of(&[probe(100.0, 8.0, ""), probe(200.0, 11.0, "busy")]);
        assert_eq!((highest.rps, highest.void.as_str()), (100.0, "busy"));
        let again = [probe(200.0, 11.0, "busy"), probe(200.0, 12.0, ""), probe(100.0, 8.0, "")];
        assert_eq!(of(&again).void, "", "the last try was sound");
        assert_eq!(of(&[probe(100.0, 18.0, "")]).rps, 0.0);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let setting = Setting {
            plan: super::super::Plan::full(),
            quick: false,
            machine: crate::Machine::this(),
            command: "c".to_owned(),
            versions: "v".to_owned(),
        };
        let probes = vec![probe(100.0, 8.5, ""), probe(200.0, 11.0, "late, and busy")];
        let highest = vec![Highest::of(&probes, Placement::Hash10, Place::Simulator, 5, 2)];
        let measured = Measured { highest, probes, scans: Vec::new() };
        write(folder.path(), &setting, &measured).unwrap();
        assert_eq!(read(folder.path()).unwrap(), (setting, measured));
    }
}
