//! The last five minutes of an arena: a sample a second of the whole, and ten seconds a column of each server.
//!
//! Whoever plans adds a sample, at most one a second, to what stands in the shared store.

use crate::plan::{Placement, Plan};
use crate::planner::merge::LoadMap;
use crate::servers::ServerId;

use super::counterfactual::{Heat, plain_peak};

/// How much is kept.
pub const SPAN_MS: u64 = 300_000;

/// Samples are this far apart, or an epoch if that is longer.
pub const SAMPLE_MS: u64 = 1_000;

/// The samples of so long are one column of the servers' rows.
pub const COLUMN_MS: u64 = 10_000;

pub const MAX_SAMPLES: usize = (SPAN_MS / SAMPLE_MS) as usize;
pub const MAX_COLUMNS: usize = (SPAN_MS / COLUMN_MS) as usize;

/// The ring of bins is coloured in so many parts at the most.
pub const HEAT_CELLS: usize = 256;

/// In a row: the server was no member then.
pub const ABSENT: u16 = u16::MAX;

/// The whole at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Wall time.
    pub at_ms: u64,
    /// The plan in force.
    pub version: u64,
    /// By how many bins it turns the arcs.
    pub rotation: u32,
    /// How many hot keys it names.
    pub hot: u16,
    /// Highest load over the mean, by weight, in thousandths.
    pub peak_permille: u16,
    /// The same, had the keys been placed by their hash alone.
    pub plain_permille: u16,
}

/// A part of the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Wall time.
    pub began_ms: u64,
    /// How many samples are in it.
    pub samples: u16,
}

/// A server's load over the mean, by weight, in thousandths, in each column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub address: String,
    /// As many as there are columns; [`ABSENT`] where it was no member.
    pub loads: Vec<u16>,
}

/// The last minutes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Oldest first.
    pub samples: Vec<Sample>,
    /// Oldest first.
    pub columns: Vec<Column>,
    /// The members of the last sample, in their order.
    pub rows: Vec<Row>,
    /// The load of each part of the ring of bins over the mean, in thousandths, at the last sample.
    pub heat: Vec<u16>,
}

impl History {
    /// When the last sample was taken.
    #[must_use]
    pub fn last_ms(&self) -> Option<u64> {
        self.samples.last().map(|sample| sample.at_ms)
    }

    /// Adds what a planner knows of this moment. A clock that jumped back begins anew.
    pub fn add(&mut self, plan: &Plan, candidates: u32, loads: &LoadMap, now_ms: u64) {
        if self.last_ms().is_some_and(|last| last > now_ms) {
            *self = Self::default();
        }
        let recent = |at: u64| now_ms.saturating_sub(at) < SPAN_MS;
        self.samples.retain(|sample| recent(sample.at_ms));
        self.samples.truncate(MAX_SAMPLES);
        if self.samples.len() == MAX_SAMPLES {
            self.samples.remove(0);
        }
        self.samples.push(sample(plan, candidates, loads, now_ms));
        self.heat = Heat::of(plan, candidates, loads).permille();
        self.keep_members(plan);
        self.add_column(plan, loads, now_ms);
    }

    /// One row for each member, in their order; a new one was absent until now.
    fn keep_members(&mut self, plan: &Plan) {
        let mut before = std::mem::take(&mut self.rows);
        let columns = self.columns.len();
        before.sort_unstable_by(|a, b| a.address.cmp(&b.address));
        self.rows = (plan.members.servers().iter())
            .map(|server| {
                let address = server.address.as_str();
                match before.binary_search_by(|row| row.address.as_str().cmp(address)) {
                    Ok(at) => Row {
                        address: address.into(),
                        loads: std::mem::take(&mut before[at].loads),
                    },
                    Err(_) => Row { address: address.into(), loads: vec![ABSENT; columns] },
                }
            })
            .collect();
    }

    fn add_column(&mut self, plan: &Plan, loads: &LoadMap, now_ms: u64) {
        let began_ms = now_ms - now_ms % COLUMN_MS;
        let old = (self.columns.iter())
            .take_while(|column| began_ms.saturating_sub(column.began_ms) >= SPAN_MS)
            .count();
        let full = (self.columns.len() + 1).saturating_sub(MAX_COLUMNS + old);
        let begins = self.columns.last().is_none_or(|last| last.began_ms != began_ms);
        let gone = if begins { old + full } else { old };
        self.columns.drain(..gone);
        if begins {
            self.columns.push(Column { began_ms, samples: 0 });
        }
        for row in &mut self.rows {
            row.loads.drain(..gone);
            if begins {
                row.loads.push(ABSENT);
            }
        }
        self.average(plan, loads);
    }

    /// The last column's loads are the means of its samples.
    fn average(&mut self, plan: &Plan, loads: &LoadMap) {
        let Some(column) = self.columns.last_mut() else { return };
        let relative = relative_loads(plan, loads);
        if relative.is_empty() {
            return;
        }
        column.samples = column.samples.saturating_add(1);
        let samples = f64::from(column.samples);
        for (row, now) in self.rows.iter_mut().zip(relative) {
            let Some(load) = row.loads.last_mut() else { continue };
            let before = if *load == ABSENT { now } else { f64::from(*load) / 1000.0 };
            *load = permille(before + (now - before) / samples);
        }
    }

    /// A server's mean load over all columns that it was in.
    #[must_use]
    pub fn mean_of(&self, row: &Row) -> Option<f64> {
        let (mut sum, mut samples) = (0.0, 0.0);
        for (column, load) in self.columns.iter().zip(&row.loads) {
            if *load != ABSENT {
                sum += f64::from(*load) / 1000.0 * f64::from(column.samples);
                samples += f64::from(column.samples);
            }
        }
        (samples > 0.0).then(|| sum / samples)
    }
}

fn sample(plan: &Plan, candidates: u32, loads: &LoadMap, now_ms: u64) -> Sample {
    let peak = f64::from(loads.peak_over_mean(plan));
    Sample {
        at_ms: now_ms,
        version: plan.version,
        rotation: match plan.placement {
            Placement::Turned { rotation } => rotation,
            Placement::Rendezvous | Placement::Dealt { .. } => 0,
        },
        hot: plan.hot.len() as u16,
        peak_permille: permille(peak),
        plain_permille: permille(plain_peak(plan, candidates, loads).unwrap_or(peak)),
    }
}

/// Each server's load over the mean, by weight; empty if nothing was sent.
#[must_use]
pub fn relative_loads(plan: &Plan, loads: &LoadMap) -> Vec<f64> {
    let total: f64 = loads.sent.iter().sum();
    if total <= 0.0 || loads.sent.len() != plan.members.len() {
        return Vec::new();
    }
    let weights: Vec<f64> =
        (0..loads.sent.len()).map(|i| plan.effective_weight(ServerId::from_index(i))).collect();
    let mean = total / weights.iter().sum::<f64>();
    loads.sent.iter().zip(weights).map(|(sent, weight)| sent / weight / mean).collect()
}

/// In thousandths, as far as they fit; the last number means something else.
#[must_use]
pub(super) fn permille(value: f64) -> u16 {
    (value * 1000.0).round().clamp(0.0, f64::from(ABSENT - 1)) as u16
}
