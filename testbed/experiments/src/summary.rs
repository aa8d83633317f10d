//! From runs to rows: a contender's medians over its repeats, and how far they spread.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{Contender, Metric, Spec, Trial, number::median};

/// Of one metric over the repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Spread {
    /// `None` of nothing.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let median = median(values.iter().copied());
        (!median.is_nan()).then(|| Self {
            median,
            low: values.iter().copied().fold(f64::INFINITY, f64::min),
            high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

/// One contender.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub contender: Contender,
    pub repeats: usize,
    /// Repeats in which the machine was the limit. They are left out, unless all were such.
    pub void_repeats: usize,
    pub values: BTreeMap<Metric, Spread>,
}

impl Row {
    fn of(contender: &Contender, trials: &[Trial]) -> Self {
        let all: Vec<&Trial> =
            trials.iter().filter(|trial| trial.contender == *contender).collect();
        let valid: Vec<&Trial> = all.iter().copied().filter(|t| t.void.is_empty()).collect();
        let counted = if valid.is_empty() { &all } else { &valid };
        let spread = |metric: Metric| {
            let values: Vec<f64> = counted.iter().map(|trial| trial.value(metric)).collect();
            let spread = Spread::of(&values)?;
            // One failed request in one repeat must not vanish in a median.
            let worst = Spread { median: spread.high, ..spread };
            Some((metric, if metric == Metric::Errors { worst } else { spread }))
        };
        Self {
            contender: contender.clone(),
            repeats: all.len(),
            void_repeats: all.len() - valid.len(),
            values: Metric::ALL.into_iter().filter_map(spread).collect(),
        }
    }

    /// NaN for what was not measured.
    #[must_use]
    pub fn median(&self, metric: Metric) -> f64 {
        self.values.get(&metric).map_or(f64::NAN, |spread| spread.median)
    }

    #[must_use]
    pub fn is_void(&self) -> bool {
        self.void_repeats == self.repeats
    }

    fn to_json(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("strategy".into(), self.contender.name().into());
        for (metric, spread) in &self.values {
            fields.insert(metric.name().into(), json!(spread.median));
        }
        for (metric, spread) in &self.values {
            fields.insert(format!("{}_low", metric.name()), json!(spread.low));
            fields.insert(format!("{}_high", metric.name()), json!(spread.high));
        }
        fields.insert("repeats".into(), self.repeats.into());
        fields.insert("void_repeats".into(), self.void_repeats.into());
        fields.insert("void".into(), self.is_void().into());
        fields.into()
    }
}

/// A row a contender, in the order of the spec.
#[must_use]
pub fn rows(spec: &Spec, trials: &[Trial]) -> Vec<Row> {
    let rows = spec.contenders.iter().map(|contender| Row::of(contender, trials));
    rows.filter(|row| row.repeats > 0).collect()
}

/// The list that programs read: medians under the metrics' names, and `_low` and `_high` of the repeats.
#[must_use]
pub fn to_json(rows: &[Row]) -> Value {
    rows.iter().map(Row::to_json).collect()
}

/// The row of a contender.
#[must_use]
pub fn find<'a>(rows: &'a [Row], contender: &Contender) -> Option<&'a Row> {
    rows.iter().find(|row| row.contender == *contender)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seconds::Seconds;

    fn trial(rps: f64, errors: f64, void: bool) -> Trial {
        Trial {
            contender: Contender::parse("static").unwrap(),
            repeat: 0,
            seed: 1,
            values: vec![(Metric::Rps, rps), (Metric::Errors, errors)],
            machine_busy_percent: 50.0,
            generator_cpu_percent: 20.0,
            generator_lag_p99_ms: 0.1,
            void: if void { vec!["busy".to_owned()] } else { Vec::new() },
            seconds: Seconds::default(),
        }
    }

    #[test]
    fn void_repeats_do_not_count_unless_there_are_no_others() {
        let contender = Contender::parse("static").unwrap();
        let trials = [trial(100.0, 0.0, false), trial(300.0, 0.0, true), trial(120.0, 0.0, false)];
        let row = Row::of(&contender, &trials);
        assert_eq!((row.repeats, row.void_repeats, row.is_void()), (3, 1, false));
        assert_eq!(row.values[&Metric::Rps], Spread { median: 110.0, low: 100.0, high: 120.0 });
        let row = Row::of(&contender, &trials[1..2]);
        assert_eq!((row.median(Metric::Rps), row.is_void()), (300.0, true));
    }

    #[test]
    fn one_failed_request_shows() {
        let trials = [trial(1.0, 0.0, false), trial(1.0, 1.0, false), trial(1.0, 0.0, false)];
        let row = Row::of(&Contender::parse("static").unwrap(), &trials);
        assert_eq!(row.median(Metric::Errors), 1.0);
        let json = row.to_json();
        assert_eq!(json["strategy"], "static");
        assert_eq!((&json["errors"], &json["rps_high"]), (&json!(1.0), &json!(1.0)));
        assert_eq!(json.get("p99_ms"), None);
    }
}
