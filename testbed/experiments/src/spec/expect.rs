use serde::{Deserialize, Serialize};

use crate::{Contender, Metric};

/// A bound that the medians must keep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawExpect", into = "RawExpect")]
pub struct Expect {
    pub contender: Contender,
    pub metric: Metric,
    pub target: Target,
}

/// `of` names whom it is compared with: the best of several.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    Value(Bound),
    /// Times the others' best.
    Times {
        bound: Bound,
        of: Vec<Contender>,
    },
    /// Above the others' best, in the metric's own unit; below it where negative.
    Above {
        bound: Bound,
        of: Vec<Contender>,
    },
    /// Best of all contenders whose hit rate is at most so many points below the reference's.
    BestWithinHits(f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Bound {
    #[must_use]
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(bound) => value >= bound,
            Self::AtMost(bound) => value <= bound,
        }
    }
}

impl Target {
    /// The others that it names.
    #[must_use]
    pub fn others(&self) -> &[Contender] {
        match self {
            Self::Times { of, .. } | Self::Above { of, .. } => of,
            Self::Value(_) | Self::BestWithinHits(_) => &[],
        }
    }
}

/// As it is written: one of `at_least` and `at_most`, with `times` or `above` to compare; or `best_within_hits` alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawExpect {
    contender: Contender,
    metric: Metric,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<Vec<Contender>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    above: Option<Vec<Contender>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best_within_hits: Option<f64>,
}

#[derive(Debug, thiserror::Error)]
#[error(
    "say one of at_least and at_most, with times = [..] or above = [..] to compare; or best_within_hits alone"
)]
struct Unclear;

impl TryFrom<RawExpect> for Expect {
    type Error = Unclear;

    fn try_from(raw: RawExpect) -> Result<Self, Unclear> {
        let bound = match (raw.at_least, raw.at_most) {
            (Some(bound), None) => Some(Bound::AtLeast(bound)),
            (None, Some(bound)) => Some(Bound::AtMost(bound)),
            (None, None) => None,
            (Some(_), Some(_)) => return Err(Unclear),
        };
        let target = match (bound, raw.times, raw.above, raw.best_within_hits) {
            (Some(bound), None, None, None) => Target::Value(bound),
            (Some(bound), Some(of), None, None) if !of.is_empty() => Target::Times { bound, of },
            (Some(bound), None, Some(of), None) if !of.is_empty() => Target::Above { bound, of },
            (None, None, None, Some(points)) => Target::BestWithinHits(points),
            _ => return Err(Unclear),
        };
        Ok(Self { contender: raw.contender, metric: raw.metric, target })
    }
}

impl From<Expect> for RawExpect {
    fn from(expect: Expect) -> Self {
        let Expect { contender, metric, target } = expect;
        let mut raw = Self {
            contender,
            metric,
            at_least: None,
            at_most: None,
            times: None,
            above: None,
            best_within_hits: None,
        };
        let bound = match target {
            Target::BestWithinHits(points) => {
                raw.best_within_hits = Some(points);
                return raw;
            }
            Target::Value(bound) => bound,
            Target::Times { bound, of } => {
                raw.times = Some(of);
                bound
            }
            Target::Above { bound, of } => {
                raw.above = Some(of);
                bound
            }
        };
        match bound {
            Bound::AtLeast(bound) => raw.at_least = Some(bound),
            Bound::AtMost(bound) => raw.at_most = Some(bound),
        }
        raw
    }
}
