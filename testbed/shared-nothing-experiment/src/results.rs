//! The raw figures, a summary for programs, a table and plots for people.

use std::path::Path;

use rudolph_charts::{
    Axis, Bar, BarChart, Chart, Emphasis, LineChart, Row as TableRow, Series, Table,
};
use rudolph_experiments::artefacts::ArtefactError;
use rudolph_experiments::chapter::{Chapter, Part};
use rudolph_experiments::raw::put;
use serde_json::json;

use crate::contender::Contender;
use crate::demand::Demand;
use crate::pooling::{Loads, Margin, margins};
use crate::summary::{Row, Trial, rows, verdicts};

/// Writes all into `folder` and returns the page.
pub(crate) fn write(
    folder: &Path,
    trials: &[Trial],
    loads: &Loads,
    quick: bool,
    origin: &str,
) -> Result<String, ArtefactError> {
    let (rows, margins) = (rows(trials), margins(loads));
    put(folder, "runs.csv", &runs(trials)?)?;
    put(folder, "tenants.csv", &tenants(loads)?)?;
    put(folder, "summary.json", format!("{:#}\n", summary(&rows, &margins)).as_bytes())?;
    let (costs, pooling) = (cost_plots(&rows), pooling_plot(&margins));
    let parts = parts(&rows, &margins, &costs, &pooling);
    let plots: Vec<(String, String)> = costs.into_iter().chain([pooling]).collect();
    Chapter { parts, quick, origin: origin.to_owned() }.write(folder, &plots)
}

fn runs(trials: &[Trial]) -> Result<Vec<u8>, ArtefactError> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["contender", "demand", "round", "cpu_us", "seconds"])?;
    for Trial { contender, demand, round, figures } in trials {
        csv.write_record([
            contender.to_string(),
            demand.name(),
            round.to_string(),
            format!("{:.4}", figures.cpu_us),
            format!("{:.3}", figures.seconds),
        ])?;
    }
    Ok(csv.into_inner().map_err(|error| csv::Error::from(error.into_error()))?)
}

fn tenants(loads: &Loads) -> Result<Vec<u8>, ArtefactError> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["tenant", "window", "answered"])?;
    for (tenant, load) in loads.iter().enumerate() {
        for (window, answered) in load.iter().enumerate() {
            csv.write_record([tenant.to_string(), window.to_string(), format!("{answered:.0}")])?;
        }
    }
    Ok(csv.into_inner().map_err(|error| csv::Error::from(error.into_error()))?)
}

fn summary(rows: &[Row], margins: &[Margin]) -> serde_json::Value {
    let rows = rows.iter().map(|row| {
        json!({
            "strategy": row.contender.to_string(), "demand": row.demand.name(),
            "cpu_us": row.cpu_us, "cpu_us_low": row.cpu_us_low, "cpu_us_high": row.cpu_us_high,
            "rps_a_core": row.rps_a_core,
            "rps_a_core_over_redis": row.rps_a_core_over_redis, "cpu_over_one_thread": row.cpu_over_one_thread,
        })
    });
    let margins = margins.iter().map(|margin| {
        json!({ "tenants": margin.tenants, "apart": margin.apart, "pooled": margin.pooled, "law": margin.law })
    });
    json!({ "rows": rows.collect::<Vec<_>>(), "pooling": margins.collect::<Vec<_>>() })
}

type Plot = (String, String);

fn parts(rows: &[Row], margins: &[Margin], costs_drawn: &[Plot], pooling: &Plot) -> Vec<Part> {
    let measured = Part {
        heading: "Shared nothing".to_owned(),
        paragraphs: vec![
            "What does a server that owns its keys by thread carry, beside Redis, and beside itself with one lock?"
                .to_owned(),
            "Processor time is the server's own, user and kernel. Server and load ran under the batch policy: \
             who is woken waits for its turn. Medians over the rounds; ratios within each round."
                .to_owned(),
        ],
        plots: costs_drawn.iter().map(|(name, _)| name.clone()).collect(),
        table: Some(costs(rows)),
        notes: verdicts(rows),
    };
    let pooled = Part {
        heading: "Shared nothing: pooling".to_owned(),
        paragraphs: vec![
            "What must be kept free above the mean for two deviations, in requests a window: by a server for each \
             tenant, and by one for all."
                .to_owned(),
        ],
        plots: vec![pooling.0.clone()],
        table: Some(pooled(margins)),
        notes: Vec::new(),
    };
    vec![measured, pooled]
}

fn costs(rows: &[Row]) -> Table {
    let head =
        ["server", "asked", "us a request", "requests/s a core", "over redis", "over one thread"];
    let cells = |row: &Row| {
        TableRow::new([
            row.contender.to_string(),
            row.demand.to_string(),
            format!("{:.2}", row.cpu_us),
            format!("{:.0}", row.rps_a_core),
            format!("{:.2}", row.rps_a_core_over_redis),
            format!("{:.2}", row.cpu_over_one_thread),
        ])
    };
    Table { head: head.map(str::to_owned).to_vec(), rows: rows.iter().map(cells).collect() }
}

fn pooled(margins: &[Margin]) -> Table {
    let head = ["tenants", "apart, n * 2s", "pooled, measured", "pooled by the law, 2s * sqrt(n)"];
    let cells = |margin: &Margin| {
        let Margin { tenants, apart, pooled, law } = margin;
        TableRow::new([
            tenants.to_string(),
            format!("{apart:.1}"),
            format!("{pooled:.1}"),
            format!("{law:.1}"),
        ])
    };
    Table { head: head.map(str::to_owned).to_vec(), rows: margins.iter().map(cells).collect() }
}

fn cost_plots(rows: &[Row]) -> Vec<Plot> {
    let plot = |demand: Demand| {
        let bars = rows.iter().filter(|row| row.demand == demand).map(|row| Bar {
            low: row.cpu_us_low,
            high: row.cpu_us_high,
            emphasis: match row.contender {
                Contender::SharedNothing { .. } => Emphasis::Hero,
                Contender::Redis | Contender::Mutex { .. } => Emphasis::Normal,
            },
            ..Bar::new(row.contender.to_string(), row.cpu_us)
        });
        let chart = BarChart {
            title: format!("Processor time of a {demand}"),
            subtitle: "The server's own, user and kernel; @ is the number of threads".to_owned(),
            axis: "us a request".to_owned(),
            bars: bars.collect(),
            lower_is_better: true,
            ..BarChart::default()
        };
        (format!("cpu-{}", demand.name()), chart.svg())
    };
    Demand::ALL.into_iter().map(plot).collect()
}

fn pooling_plot(margins: &[Margin]) -> Plot {
    let line = |name: &str, value: fn(&Margin) -> f64, emphasis| Series {
        name: name.to_owned(),
        points: margins.iter().map(|margin| (margin.tenants as f64, value(margin))).collect(),
        band: Vec::new(),
        emphasis,
    };
    let chart = LineChart {
        title: "One server for all needs less room than a server each".to_owned(),
        subtitle: "Two deviations of what tenants got answered in 100 ms".to_owned(),
        x: Axis::from_zero("tenants"),
        y: Axis::from_zero("requests above the mean"),
        series: vec![
            line("a server each", |margin| margin.apart, Emphasis::Normal),
            line("one for all", |margin| margin.pooled, Emphasis::Hero),
            line("2s * sqrt(n)", |margin| margin.law, Emphasis::Faint),
        ],
        ..LineChart::default()
    };
    ("pooling".to_owned(), chart.svg())
}
