//! Axes: which values they span, where the round numbers are, and which value lies where.

use crate::ticks::{Ends, Tick, linear, logarithmic};

/// How values lie along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    #[default]
    Linear,
    /// Powers of ten at equal distances. Values that are not positive are left out.
    Log,
}

/// One axis of a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it measures and in which unit.
    pub label: String,
    pub scale: Scale,
    /// Whether a linear axis includes zero.
    pub from_zero: bool,
    /// A value that the axis includes whatever it shows, so that several charts have one scale.
    pub reach: Option<f64>,
}

impl Axis {
    /// A linear axis that spans its values.
    #[must_use]
    pub fn linear(label: impl Into<String>) -> Self {
        Axis { label: label.into(), ..Axis::default() }
    }

    /// A linear axis that includes zero.
    #[must_use]
    pub fn from_zero(label: impl Into<String>) -> Self {
        Axis { from_zero: true, ..Axis::linear(label) }
    }

    /// A logarithmic axis.
    #[must_use]
    pub fn log(label: impl Into<String>) -> Self {
        Axis { scale: Scale::Log, ..Axis::linear(label) }
    }

    /// Whether the value can be drawn.
    pub(crate) fn takes(&self, value: f64) -> bool {
        let in_range = value.is_finite() && value.abs() <= LARGEST;
        in_range && (self.scale == Scale::Linear || value >= SMALLEST_LOG)
    }
}

/// Beyond this, differences of values overflow.
const LARGEST: f64 = 1e300;
const SMALLEST_LOG: f64 = 1e-300;

/// An axis with its span settled.
#[derive(Clone, Debug)]
pub(crate) struct Ruler {
    axis: Axis,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) ticks: Vec<Tick>,
}

impl Ruler {
    /// Spans all values that the axis takes, with about `target` ticks.
    pub(crate) fn new(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        ends: Ends,
        target: u32,
    ) -> Self {
        let values = values.chain(axis.reach);
        let span = values.filter(|&value| axis.takes(value)).fold(None, |span, value| match span {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        });
        let (low, high, ticks) = match axis.scale {
            Scale::Linear => linear(span, axis.from_zero, ends, target),
            Scale::Log => logarithmic(span, ends, target),
        };
        Ruler { axis: axis.clone(), low, high, ticks }
    }

    /// Where the value lies between the low end (0) and the high end (1).
    pub(crate) fn share(&self, value: f64) -> Option<f64> {
        if !self.axis.takes(value) {
            return None;
        }
        let share = match self.axis.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
        };
        share.is_finite().then(|| share.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, values: &[f64], ends: Ends) -> Vec<String> {
        let ruler = Ruler::new(axis, values.iter().copied(), ends, 5);
        ruler.ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        let axis = Axis::from_zero("");
        assert_eq!(
            labels(&axis, &[7_848.0, 14_592.0], Ends::Round),
            ["0", "5,000", "10,000", "15,000"]
        );
        let axis = Axis::linear("");
        assert_eq!(
            labels(&axis, &[0.11, 0.29], Ends::Round),
            ["0.10", "0.15", "0.20", "0.25", "0.30"]
        );
        assert_eq!(labels(&axis, &[-30.0, 45.0], Ends::AtValues), ["-20", "0", "20", "40"]);
    }

    #[test]
    fn charts_may_share_a_scale() {
        let axis = Axis { reach: Some(80.0), ..Axis::from_zero("") };
        assert_eq!(labels(&axis, &[3.0, 19.0], Ends::Round), ["0", "20", "40", "60", "80"]);
        let axis = Axis { reach: Some(f64::NAN), ..Axis::from_zero("") };
        assert_eq!(labels(&axis, &[3.0], Ends::Round), ["0", "1", "2", "3"]);
    }

    #[test]
    fn log_ticks_are_round() {
        let axis = Axis::log("");
        assert_eq!(
            labels(&axis, &[7.8, 273.0], Ends::Round),
            ["5", "10", "20", "50", "100", "200", "500"]
        );
        assert_eq!(labels(&axis, &[0.02, 30_000.0], Ends::Round).first().unwrap(), "0.01");
        assert_eq!(labels(&axis, &[3.1, 3.2], Ends::AtValues), ["2", "5"]);
    }

    #[test]
    fn odd_data_still_has_a_span() {
        let odd: [&[f64]; 9] = [
            &[],
            &[0.0],
            &[5.0],
            &[-5.0, -5.0],
            &[f64::NAN, f64::INFINITY],
            &[1e300, -1e300],
            &[f64::MAX],
            &[1e-308, 2e-308],
            &[1e15, 1e15 + 0.25],
        ];
        for axis in [Axis::linear(""), Axis::from_zero(""), Axis::log("")] {
            for values in odd {
                for ends in [Ends::Round, Ends::AtValues] {
                    let ruler = Ruler::new(&axis, values.iter().copied(), ends, 5);
                    assert!(ruler.high > ruler.low, "{axis:?} {values:?}");
                    assert!(ruler.ticks.len() <= 41, "{axis:?} {values:?}");
                    for value in values.iter().filter(|value| axis.takes(**value)) {
                        assert!(ruler.share(*value).is_some(), "{axis:?} {values:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn shares_run_from_end_to_end() {
        let ruler = Ruler::new(&Axis::log(""), [1.0, 100.0].into_iter(), Ends::Round, 5);
        assert_eq!(ruler.share(1.0), Some(0.0));
        assert!((ruler.share(10.0).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(ruler.share(0.0), None);
        assert_eq!(ruler.share(f64::NAN), None);
    }
}
