//! The files of a run: `samples.csv` while it lasts, the summary and the plots when it is over.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rudolph_charts::{Axis, Chart, LineChart, Row, Series, Table};

use super::findings::plans_a_minute;
use super::{Finding, Outcome, Sample};
use crate::ReliabilityError;

pub(crate) struct Artefacts {
    folder: PathBuf,
    samples: csv::Writer<File>,
}

impl Artefacts {
    pub(crate) fn create(folder: &Path) -> Result<Self, ReliabilityError> {
        fs::create_dir_all(folder)
            .map_err(|source| ReliabilityError::file("make", folder, source))?;
        let path = folder.join("samples.csv");
        let file =
            File::create(&path).map_err(|source| ReliabilityError::file("write", &path, source))?;
        Ok(Self { folder: folder.to_owned(), samples: csv::Writer::from_writer(file) })
    }

    /// Written through at once: a run that is killed leaves what it saw.
    pub(crate) fn add(&mut self, sample: &Sample) -> Result<(), ReliabilityError> {
        let refused = |reason: String| ReliabilityError::Output { what: "samples.csv", reason };
        self.samples.serialize(sample).map_err(|error| refused(error.to_string()))?;
        self.samples.flush().map_err(|error| refused(error.to_string()))
    }

    pub(crate) fn finish(
        &self,
        samples: &[Sample],
        outcome: &Outcome,
    ) -> Result<(), ReliabilityError> {
        let json = serde_json::to_string_pretty(outcome).map_err(|error| {
            ReliabilityError::Output { what: "summary.json", reason: error.to_string() }
        })?;
        self.write("summary.json", &json)?;
        self.write("soak.md", &page(outcome))?;
        self.write("memory.svg", &memory(samples).svg())?;
        self.write("shared-data.svg", &shared_data(samples).svg())?;
        self.write("plans.svg", &plans(samples).svg())
    }

    fn write(&self, name: &str, text: &str) -> Result<(), ReliabilityError> {
        let path = self.folder.join(name);
        fs::write(&path, text).map_err(|source| ReliabilityError::file("write", &path, source))
    }
}

fn page(outcome: &Outcome) -> String {
    let Outcome { lasted_s, requests, hit_percent, disturbances, options, .. } = outcome;
    let verdict = match outcome.wrong.as_slice() {
        [] => "Nothing drifted.".to_owned(),
        wrong => format!("Wrong:\n\n- {}", wrong.join("\n- ")),
    };
    let not_done = match outcome.not_done.as_slice() {
        [] => String::new(),
        lines => {
            format!("\nNot carried out, the machine being busy:\n\n- {}\n", lines.join("\n- "))
        }
    };
    let errors: u64 = outcome.errors.values().sum();
    let causes: Vec<String> =
        outcome.errors.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
    let causes =
        if causes.is_empty() { String::new() } else { format!(" ({})", causes.join(", ")) };
    format!(
        "# Soak: {:.0} minutes\n\n\
         {} servers, {} workers, {} requests/s, a disturbance each {} s; {}.\n\
         {requests} requests answered with {hit_percent:.1} % hits, {errors} failed{causes}; \
         {disturbances} disturbances.\n\n{verdict}\n{not_done}\n{}\n\
         ![Memory](memory.svg)\n\n![Shared data](shared-data.svg)\n\n![Plans](plans.svg)\n",
        lasted_s / 60.0,
        options.servers,
        options.workers,
        options.rate,
        options.disturb_every_s,
        outcome.versions,
        table(&outcome.findings.figures).markdown(),
    )
}

fn table(figures: &[Finding]) -> Table {
    let head = ["figure", "first", "last", "most", "growth, 2nd half", "allowed"];
    let row = |figure: &Finding| {
        let name = match figure.unit {
            "" => figure.name.to_owned(),
            unit => format!("{}, {unit}", figure.name),
        };
        let two = |value: f64| format!("{value:.2}");
        let (growth, allowed) = figure.trend.map_or_else(
            || ("too short".to_owned(), String::new()),
            |trend| (two(trend.growth), two(trend.allowed)),
        );
        Row::new([name, two(figure.first), two(figure.last), two(figure.most), growth, allowed])
    };
    Table { head: head.map(str::to_owned).to_vec(), rows: figures.iter().map(row).collect() }
}

fn series(name: &str, samples: &[Sample], of: impl Fn(&Sample) -> f64) -> Series {
    let points = samples.iter().map(|sample| (sample.at_s / 60.0, of(sample))).collect();
    Series { name: name.to_owned(), points, ..Series::default() }
}

fn chart(title: &str, unit: &str, series: Vec<Series>) -> LineChart {
    LineChart {
        title: title.to_owned(),
        x: Axis::from_zero("minutes"),
        y: Axis::from_zero(unit),
        series,
        ..LineChart::default()
    }
}

const MIB: f64 = 1_048_576.0;

fn memory(samples: &[Sample]) -> LineChart {
    let lines = vec![
        series("resident", samples, |sample| sample.resident_bytes as f64 / MIB),
        series("held by Envoy's code", samples, |sample| sample.allocated_bytes as f64 / MIB),
        series("all VMs", samples, |sample| sample.vm_bytes as f64 / MIB),
        series("largest VM", samples, |sample| sample.largest_vm_bytes as f64 / MIB),
    ];
    chart("Memory of Envoy and its VMs", "MiB", lines)
}

fn shared_data(samples: &[Sample]) -> LineChart {
    let line = series("shared data", samples, |sample| sample.shared_data_bytes as f64 / 1024.0);
    chart("Shared data of the filter", "KiB", vec![line])
}

fn plans(samples: &[Sample]) -> LineChart {
    let points = plans_a_minute(samples);
    let points = points.into_iter().map(|(at_s, rate)| (at_s / 60.0, rate)).collect();
    let line = Series { name: "plans".to_owned(), points, ..Series::default() };
    chart("Plans published", "a minute", vec![line])
}
