use rudolph_charts::{Axis, Emphasis, LineChart, Series};

use super::{Place, Placement, Plan, Row, Scans};
use crate::figures::Plot;

pub(super) fn plots(plan: &Plan, rows: &[Row], scans: &[Scans]) -> Vec<Plot> {
    let mut plots = vec![Plot::of("writes", &writes(plan, rows))];
    for &length in &plan.scans.lengths {
        let of_length: Vec<&Scans> = scans.iter().filter(|row| row.length == length).collect();
        plots.push(Plot::of(format!("scans-{length}-latency"), &latency(plan, length, &of_length)));
        plots.push(Plot::of(format!("scans-{length}-rate"), &rate(plan, length, &of_length)));
    }
    plots
}

/// Real Envoy and the simulator in one picture: the simulator goes on where the machine ends.
fn writes(plan: &Plan, rows: &[Row]) -> LineChart {
    let mut series = Vec::new();
    for place in [Place::Envoy, Place::Simulator] {
        for &strategy in &plan.placements {
            let own =
                || rows.iter().filter(move |row| (row.strategy, row.place) == (strategy, place));
            let real = place == Place::Envoy;
            series.push(Series {
                name: if real { format!("{strategy}, Envoy") } else { strategy.to_string() },
                points: own().map(|row| (row.servers as f64, row.rps.median)).collect(),
                band: own().map(|row| (row.servers as f64, row.rps.low, row.rps.high)).collect(),
                emphasis: match (place, strategy) {
                    (Place::Envoy, Placement::Hash10) => Emphasis::Hero,
                    (Place::Envoy, _) => Emphasis::Normal,
                    (Place::Simulator, _) => Emphasis::Faint,
                },
            });
        }
    }
    LineChart {
        title: "Sequential writes: ranges stay at one server, buckets grow".to_owned(),
        subtitle: format!(
            "Highest rate with a mean under {} ms; writes of {} ms, slots a server: {}; medians, searches: {}; faint: the \
             simulator",
            plan.limit_ms, plan.service_ms, plan.slots, plan.repeats
        ),
        x: Axis::from_zero("servers"),
        y: Axis::from_zero("writes a second"),
        series,
        ..LineChart::default()
    }
}

fn latency(plan: &Plan, length: u64, rows: &[&Scans]) -> LineChart {
    let fewest = plan.scans.scanners.iter().copied().min().unwrap_or(1);
    LineChart {
        title: format!("A scan of {length} keys: latency by buckets"),
        subtitle: subtitle(plan, fewest),
        x: Axis::from_zero("buckets"),
        y: Axis::from_zero("mean latency, ms"),
        series: series(rows, fewest, |row| row.mean_ms, |row| row.model_ms),
        ..LineChart::default()
    }
}

fn rate(plan: &Plan, length: u64, rows: &[&Scans]) -> LineChart {
    let most = plan.scans.scanners.iter().copied().max().unwrap_or(1);
    LineChart {
        title: format!("Scans of {length} keys a second, by buckets"),
        subtitle: subtitle(plan, most),
        x: Axis::from_zero("buckets"),
        y: Axis::from_zero("scans a second"),
        series: series(rows, most, |row| row.scans_per_s, |row| row.model_scans_per_s),
        ..LineChart::default()
    }
}

fn subtitle(plan: &Plan, scanners: usize) -> String {
    format!("{} servers, real Envoy, scans at a time: {scanners}", plan.scans.servers)
}

/// Ranges do not depend on buckets: a level line across.
fn series(
    rows: &[&Scans],
    scanners: usize,
    value: fn(&Scans) -> f64,
    model: fn(&Scans) -> f64,
) -> Vec<Series> {
    let of = |value: fn(&Scans) -> f64| {
        let own = rows.iter().filter(|row| row.scanners == scanners && row.buckets > 0);
        own.map(|row| (f64::from(row.buckets), value(row))).collect::<Vec<_>>()
    };
    let range = rows.iter().find(|row| row.scanners == scanners && row.buckets == 0);
    let level = range.map_or(f64::NAN, |row| value(row));
    let across = of(value).into_iter().map(|(buckets, _)| (buckets, level)).collect();
    let line = |name: &str, points, emphasis| Series {
        name: name.to_owned(),
        points,
        band: Vec::new(),
        emphasis,
    };
    vec![
        line("buckets", of(value), Emphasis::Hero),
        line("range", across, Emphasis::Normal),
        line("buckets, by the model", of(model), Emphasis::Faint),
    ]
}
