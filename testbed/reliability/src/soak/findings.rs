//! What a soak run is judged by.

use serde::Serialize;

use super::Sample;
use crate::trend::{Allowance, Trend, judge};

/// One figure over the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub name: &'static str,
    pub unit: &'static str,
    pub first: f64,
    pub last: f64,
    pub most: f64,
    /// `None`: the run was too short to judge.
    pub trend: Option<Trend>,
}

/// All figures, and the share of requests that failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    pub figures: Vec<Finding>,
    pub failed_share: f64,
    pub failed_share_allowed: f64,
}

struct Figure {
    name: &'static str,
    unit: &'static str,
    allowance: Allowance,
    of: fn(&Sample) -> f64,
}

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;
/// Requests that fail although something is broken on purpose every 20 s: a paused server holds those it has until their
/// time is over, and a trap answers one.
const FAILED_SHARE: f64 = 0.002;

const fn allow(an_hour: f64, at_least: f64) -> Allowance {
    Allowance { an_hour, at_least }
}

/// Memory may grow by what a gateway that is restarted once a month could bear; what is counted may not grow at all.
const FIGURES: [Figure; 9] = [
    Figure {
        name: "resident memory of Envoy",
        unit: "MiB",
        allowance: allow(4.0, 4.0),
        of: |sample| sample.resident_bytes as f64 / MIB,
    },
    Figure {
        name: "memory that Envoy's code holds",
        unit: "MiB",
        allowance: allow(1.0, 1.0),
        of: |sample| sample.allocated_bytes as f64 / MIB,
    },
    Figure {
        name: "linear memory of the largest VM",
        unit: "MiB",
        allowance: allow(0.25, 0.25),
        of: |sample| sample.largest_vm_bytes as f64 / MIB,
    },
    Figure {
        name: "linear memory of all VMs",
        unit: "MiB",
        allowance: allow(1.0, 1.0),
        of: |sample| sample.vm_bytes as f64 / MIB,
    },
    Figure { name: "VMs", unit: "", allowance: allow(0.0, 0.9), of: |sample| sample.vms as f64 },
    Figure {
        name: "shared data",
        unit: "KiB",
        allowance: allow(4.0, 4.0),
        of: |sample| sample.shared_data_bytes as f64 / KIB,
    },
    Figure {
        name: "values in shared data",
        unit: "",
        allowance: allow(0.0, 2.0),
        of: |sample| sample.shared_data_values as f64,
    },
    Figure {
        name: "lines of statistics",
        unit: "",
        allowance: allow(0.0, 0.9),
        of: |sample| sample.stats as f64,
    },
    Figure {
        // Mostly connections to servers: a pause of one makes Envoy open many more.
        name: "open files of Envoy",
        unit: "",
        allowance: allow(20.0, 100.0),
        of: |sample| sample.open_files as f64,
    },
];

impl Findings {
    #[must_use]
    pub fn of(samples: &[Sample]) -> Self {
        let mut figures: Vec<Finding> = FIGURES
            .iter()
            .filter_map(|figure| {
                let points = samples.iter().map(|sample| (sample.at_s, (figure.of)(sample)));
                Finding::of(figure.name, figure.unit, figure.allowance, &points.collect::<Vec<_>>())
            })
            .collect();
        let churn = plans_a_minute(samples);
        figures.extend(Finding::of("plans", "a minute", allow(40.0, 40.0), &churn));
        let last = samples.last().cloned().unwrap_or_default();
        let failed_share = last.errors as f64 / (last.requests + last.errors).max(1) as f64;
        Self { figures, failed_share, failed_share_allowed: FAILED_SHARE }
    }

    /// One line for each thing that is wrong; empty is good.
    #[must_use]
    pub fn wrong(&self) -> Vec<String> {
        let drift = |figure: &Finding| {
            let trend = figure.trend.filter(Trend::drifts)?;
            let Finding { name, unit, .. } = figure;
            let Trend { growth, allowed, slope_an_hour, .. } = trend;
            Some(format!(
                "{name} grew by {growth:.2} {unit} in the second half ({slope_an_hour:.2} an hour); allowed: {allowed:.2}"
            ))
        };
        let mut wrong: Vec<String> = self.figures.iter().filter_map(drift).collect();
        if self.failed_share > self.failed_share_allowed {
            wrong.push(format!(
                "{:.3} % of the requests failed; allowed: {:.3} %",
                self.failed_share * 100.0,
                self.failed_share_allowed * 100.0
            ));
        }
        wrong
    }
}

impl Finding {
    fn of(
        name: &'static str,
        unit: &'static str,
        allowance: Allowance,
        points: &[(f64, f64)],
    ) -> Option<Self> {
        let values = || points.iter().map(|(_, value)| *value);
        Some(Self {
            name,
            unit,
            first: values().next()?,
            last: values().next_back()?,
            most: values().fold(f64::MIN, f64::max),
            trend: judge(points, allowance),
        })
    }
}

/// Versions of plans a minute, between neighbouring samples.
pub(crate) fn plans_a_minute(samples: &[Sample]) -> Vec<(f64, f64)> {
    let pairs = samples.iter().zip(samples.iter().skip(1));
    let rate = |(before, after): (&Sample, &Sample)| {
        let minutes = (after.at_s - before.at_s) / 60.0;
        let plans = after.plan_version.saturating_sub(before.plan_version) as f64;
        (minutes > 0.0).then(|| (after.at_s, plans / minutes))
    };
    pairs.filter_map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An hour, a sample each 10 s; `change` makes each what the test needs.
    fn hour(change: impl Fn(u64, &mut Sample)) -> Vec<Sample> {
        let sample = |number: u64| {
            let mut sample = Sample {
                at_s: number as f64 * 10.0,
                resident_bytes: 110 << 20,
                allocated_bytes: 13 << 20,
                vms: 4,
                vm_bytes: 5 << 20,
                largest_vm_bytes: 2 << 20,
                shared_data_bytes: 20_000,
                shared_data_values: 40,
                stats: 1_100,
                open_files: 200,
                plan_version: number * 3,
                requests: number * 3_000,
                ..Sample::default()
            };
            change(number, &mut sample);
            sample
        };
        (0..=360).map(sample).collect()
    }

    fn wrong(change: impl Fn(u64, &mut Sample)) -> Vec<String> {
        Findings::of(&hour(change)).wrong()
    }

    #[test]
    fn nothing_is_wrong_with_a_run_that_stands_still() {
        assert_eq!(wrong(|_, _| {}), Vec::<String>::new());
    }

    #[test]
    fn each_planted_leak_is_named() {
        type Leak = fn(u64, &mut Sample);
        let leaks: [(&str, Leak); 9] = [
            ("resident", |number, sample| sample.resident_bytes += number * 30_000),
            ("code holds", |number, sample| sample.allocated_bytes += number * 8_000),
            ("largest VM", |number, sample| sample.largest_vm_bytes += number / 30 * 65_536),
            ("all VMs", |number, sample| sample.vm_bytes += number / 6 * 65_536),
            ("VMs", |number, sample| sample.vms += number / 60),
            ("shared data", |number, sample| sample.shared_data_bytes += number * 40),
            ("lines of statistics", |number, sample| sample.stats += number / 60),
            ("open files", |number, sample| sample.open_files += number * 2),
            ("plans", |number, sample| sample.plan_version += number * number / 40),
        ];
        for (name, leak) in leaks {
            let wrong = wrong(leak);
            assert!(wrong.len() == 1 && wrong[0].contains(name), "{name}: {wrong:?}");
        }
    }

    #[test]
    fn requests_that_fail_are_named() {
        let wrong = wrong(|number, sample| sample.errors = number * 10);
        assert!(wrong.len() == 1 && wrong[0].contains("requests failed"), "{wrong:?}");
    }
}
