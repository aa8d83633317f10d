//! The charts of a run.

use rudolph_charts::{Axis, Bar, BarChart, Chart, Emphasis, Event, LineChart, Series};

use super::{Row, Section};
use crate::run::Outcome;
use crate::scenario::{Change, Scenario};
use crate::trace::{Advice, TraceRow};

/// A figure that is drawn.
pub(super) struct Figure {
    name: &'static str,
    unit: &'static str,
    lower_is_better: bool,
    of: fn(&Row) -> f64,
}

/// Those that say most: how much, how slow, how warm, how even.
pub(super) const FIGURES: [Figure; 4] = [
    Figure { name: "Requests a second", unit: "requests/s", lower_is_better: false, of: |r| r.rps },
    Figure { name: "p99 latency", unit: "ms", lower_is_better: true, of: |r| r.p99_ms },
    Figure { name: "Hit rate", unit: "%", lower_is_better: false, of: |r| r.hit_percent },
    Figure {
        name: "Load of the hottest server",
        unit: "of the mean",
        lower_is_better: true,
        of: |r| r.peak_over_mean,
    },
];

impl Figure {
    /// One bar a strategy.
    pub(super) fn bars(&self, rows: &[&Row], subtitle: &str) -> String {
        let bar = |row: &&Row| Bar {
            emphasis: emphasis(&row.strategy),
            ..Bar::new(row.strategy.clone(), (self.of)(row))
        };
        BarChart {
            title: self.name.into(),
            subtitle: subtitle.into(),
            axis: self.unit.into(),
            bars: rows.iter().map(bar).collect(),
            lower_is_better: self.lower_is_better,
            ..BarChart::default()
        }
        .figure()
    }

    /// One line a strategy over the values of a swept field.
    pub(super) fn lines(&self, field: &str, sections: &[(f64, &Section)]) -> String {
        let strategies: Vec<&str> = (sections.first().iter())
            .flat_map(|(_, section)| section.rows.iter().map(|row| row.strategy.as_str()))
            .collect();
        let points = |name: &str| {
            let row = |section: &Section| {
                section.rows.iter().find(|row| row.strategy == name).map(|row| (self.of)(row))
            };
            (sections.iter())
                .map(|(x, section)| (*x, row(section).unwrap_or(f64::NAN)))
                .collect::<Vec<_>>()
        };
        let spread = |of: fn(f64, f64) -> f64| {
            let values = strategies.iter().flat_map(|name| points(name)).map(|(_, y)| y);
            values.filter(|y| *y > 0.0).reduce(of).unwrap_or(1.0)
        };
        // Latencies of what saturates would press all others to the ground.
        let log = self.lower_is_better && spread(f64::max) > 20.0 * spread(f64::min);
        LineChart {
            title: self.name.into(),
            x: Axis::linear(field),
            y: if log { Axis::log(self.unit) } else { Axis::from_zero(self.unit) },
            series: (strategies.iter())
                .map(|name| Series {
                    name: (*name).into(),
                    points: points(name),
                    emphasis: emphasis(name),
                    ..Series::default()
                })
                .collect(),
            ..LineChart::default()
        }
        .figure()
    }
}

/// How many servers each strategy needs for a trace.
pub(super) fn servers_enough(advice: &Advice) -> String {
    let bar = |row: &TraceRow| {
        let enough = row.servers_enough.map_or(f64::NAN, |servers| servers as f64);
        Bar { emphasis: emphasis(&row.row.strategy), ..Bar::new(row.row.strategy.clone(), enough) }
    };
    BarChart {
        title: format!("Servers enough for the p99 of {} on {}", advice.today, advice.servers),
        axis: "servers".into(),
        bars: advice.rows.iter().map(bar).collect(),
        lower_is_better: true,
        ..BarChart::default()
    }
    .figure()
}

/// p99 second by second, where something happens on the way.
pub(super) fn timeline(scenario: &Scenario, outcomes: &[&Outcome]) -> Option<String> {
    if scenario.events.is_empty() {
        return None;
    }
    let series = |outcome: &&Outcome| Series {
        name: outcome.strategy.clone(),
        points: (outcome.measured.timeline.iter().enumerate())
            .map(|(second, point)| (second as f64 + 1.0, point.p99_ms))
            .collect(),
        emphasis: emphasis(&outcome.strategy),
        ..Series::default()
    };
    let event = |event: &crate::scenario::Event| Event {
        at: event.at_s - scenario.warmup_s,
        label: match event.change {
            Change::Down => format!("server {} lost", event.server),
            Change::Up => format!("server {} there", event.server),
        },
    };
    let chart = LineChart {
        title: "p99 latency, second by second".into(),
        subtitle: format!("seed {}", scenario.seeds[0]),
        x: Axis::linear("seconds"),
        y: Axis::log("ms"),
        series: outcomes.iter().map(series).collect(),
        events: scenario.events.iter().map(event).collect(),
        ..LineChart::default()
    };
    Some(chart.figure())
}

fn emphasis(strategy: &str) -> Emphasis {
    if strategy == "spread" { Emphasis::Hero } else { Emphasis::default() }
}
