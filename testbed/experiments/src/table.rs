//! The table of an experiment: measured rows, and beside them what was published for the same elsewhere.

use rudolph_charts::{Emphasis, Row as TableRow, Table, grouped};

use crate::{Contender, Metric, PublishedRow, Row, Spec, Spread, number::change, summary::find};

const ALWAYS: [Metric; 10] = [
    Metric::MeanMs,
    Metric::P50Ms,
    Metric::P90Ms,
    Metric::P99Ms,
    Metric::P999Ms,
    Metric::HitPercent,
    Metric::DatabaseReadsPerS,
    Metric::PeakOverMean,
    Metric::MovedPercent,
    Metric::Errors,
];

/// One row a contender, then the published ones. Requests a second come with the lowest and highest repeat.
#[must_use]
pub fn table(spec: &Spec, rows: &[Row]) -> Table {
    let metrics = metrics(spec);
    let reference = find(rows, &spec.reference).map_or(f64::NAN, |row| row.median(Metric::Rps));
    let mut head = vec![
        String::new(),
        Metric::Rps.head().to_owned(),
        "low to high".to_owned(),
        format!("vs {}", spec.reference),
    ];
    head.extend(metrics.iter().map(|metric| metric.head().to_owned()));
    let measured = rows.iter().map(|row| measured(row, &metrics, reference, spec));
    let published_reference = published_rps(spec, &spec.reference);
    let published = spec.published.rows.iter();
    let published = published.map(|row| published_row(row, &metrics, published_reference));
    Table { head, rows: measured.chain(published).collect() }
}

fn metrics(spec: &Spec) -> Vec<Metric> {
    let recovery = (!spec.events.is_empty()).then_some(Metric::RecoveryS);
    ALWAYS.into_iter().chain(recovery).collect()
}

fn measured(row: &Row, metrics: &[Metric], reference: f64, spec: &Spec) -> TableRow {
    let rps = row.values.get(&Metric::Rps);
    let range = |spread: &Spread| format!("{}–{}", grouped(spread.low, 0), grouped(spread.high, 0));
    let mut cells = vec![
        name(row),
        cell(Metric::Rps, row.median(Metric::Rps)),
        rps.map_or_else(String::new, range),
        change(row.median(Metric::Rps) / reference),
    ];
    cells.extend(metrics.iter().map(|&metric| cell(metric, row.median(metric))));
    let is_hero = spec.heroes.contains(&row.contender);
    let emphasis = if is_hero { Emphasis::Hero } else { Emphasis::Normal };
    TableRow { cells, emphasis, is_reference: false }
}

fn name(row: &Row) -> String {
    match row.void_repeats {
        0 => row.contender.to_string(),
        _ if row.is_void() => format!("{} (void)", row.contender),
        void => format!("{} ({void} of {} void)", row.contender, row.repeats),
    }
}

fn published_row(row: &PublishedRow, metrics: &[Metric], reference: f64) -> TableRow {
    let value = |metric: Metric| row.values.get(&metric).copied();
    let rps = value(Metric::Rps).unwrap_or(f64::NAN);
    let shown =
        |metric: Metric| value(metric).map_or_else(String::new, |value| cell(metric, value));
    let mut cells = vec![
        format!("{}, published", row.contender),
        shown(Metric::Rps),
        String::new(),
        if rps.is_nan() { String::new() } else { change(rps / reference) },
    ];
    cells.extend(metrics.iter().map(|&metric| shown(metric)));
    TableRow { cells, emphasis: Emphasis::Faint, is_reference: true }
}

fn published_rps(spec: &Spec, contender: &Contender) -> f64 {
    let row = spec.published.rows.iter().find(|row| row.contender == *contender);
    row.and_then(|row| row.values.get(&Metric::Rps).copied()).unwrap_or(f64::NAN)
}

/// A hit rate that never came back has no number of seconds.
fn cell(metric: Metric, value: f64) -> String {
    if metric == Metric::RecoveryS && value == f64::INFINITY {
        return "never".to_owned();
    }
    grouped(value, metric.digits())
}
