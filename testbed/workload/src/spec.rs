use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{KeyStream, MAX_VALUE_BYTES, SpecError};

/// What the clients ask for. Written by people, so every field has a default, unknown fields are refused, and nothing is
/// used before [`WorkloadSpec::validate`] has passed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkloadSpec {
    pub seed: u64,
    pub keys: KeySpec,
    /// Share of requests that read; the others write.
    pub read_fraction: f64,
    pub value_bytes: ValueBytes,
}

impl Default for WorkloadSpec {
    fn default() -> Self {
        Self {
            seed: 1,
            keys: KeySpec::Zipf { count: 100_000, alpha: 1.0, ramp: None, reshuffle_s: Some(10.0) },
            read_fraction: 1.0,
            value_bytes: ValueBytes { min: 128, max: 128 },
        }
    }
}

/// How keys are drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum KeySpec {
    /// Rank r with probability proportional to `r^-alpha`; ranks are dealt anew to keys each `reshuffle_s`, or never.
    Zipf {
        count: u64,
        alpha: f64,
        #[serde(default)]
        ramp: Option<AlphaRamp>,
        #[serde(default)]
        reshuffle_s: Option<f64>,
    },
    Uniform {
        count: u64,
    },
    /// Keys in rising order, as identifiers and time stamps are: `first`, `first + 1`, ..., from `first` again after `count`.
    Sequential {
        count: u64,
        /// The number in the first key's name.
        #[serde(default, skip_serializing_if = "is_zero")]
        first: u64,
        /// Puts a hash of the key, modulo so many, in front of it: `{0007}k000000000123`. The braces make it the key's hash
        /// tag, so that a bucket is what gets routed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        buckets: Option<u32>,
    },
    /// One key takes `share` of all requests, the others share the rest evenly.
    OneHot {
        count: u64,
        share: f64,
    },
    /// The lines of a file, in order, from the start again after the last.
    Replay {
        path: PathBuf,
    },
}

/// Alpha goes from `alpha` to `to` in `steps` levels (both ends included), each held for `step_s`; then it stays at `to`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlphaRamp {
    pub to: f64,
    pub steps: u32,
    pub step_s: f64,
}

/// Sizes of written values: each key has one size, even over `min..=max`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueBytes {
    pub min: usize,
    pub max: usize,
}

const MAX_COUNT: u64 = 1_000_000_000_000;
const MAX_BUCKETS: u32 = 10_000;
const MAX_ALPHA: f64 = 10.0;
const MAX_SECONDS: f64 = 1e6;

impl WorkloadSpec {
    /// Parses JSON and validates it.
    pub fn from_json(text: &str) -> Result<Self, SpecError> {
        let spec: Self = serde_json::from_str(text)?;
        spec.validate()?;
        Ok(spec)
    }

    /// Validates, reads the replay file if there is one, and returns the stream.
    pub fn build(&self) -> Result<KeyStream, SpecError> {
        self.validate()?;
        KeyStream::new(self)
    }

    pub fn validate(&self) -> Result<(), SpecError> {
        within("read_fraction", self.read_fraction, 0.0, 1.0, "0 to 1")?;
        let sizes = &self.value_bytes;
        if sizes.max > MAX_VALUE_BYTES {
            return Err(refusal("value_bytes.max", sizes.max, "0 to 1048576"));
        }
        if sizes.min > sizes.max {
            return Err(refusal("value_bytes.min", sizes.min, "at most value_bytes.max"));
        }
        self.keys.validate()
    }
}

impl KeySpec {
    fn validate(&self) -> Result<(), SpecError> {
        match self {
            Self::Zipf { count, alpha, ramp, reshuffle_s } => {
                check_count(*count)?;
                within("keys.alpha", *alpha, 0.0, MAX_ALPHA, "0 to 10")?;
                reshuffle_s.map_or(Ok(()), |s| check_seconds("keys.reshuffle_s", s))?;
                ramp.as_ref().map_or(Ok(()), AlphaRamp::validate)
            }
            Self::Uniform { count } => check_count(*count),
            Self::Sequential { count, first, buckets } => {
                check_count(*count)?;
                if *first > MAX_COUNT - count {
                    return Err(refusal("keys.first", first, "0 to 1000000000000 - keys.count"));
                }
                match buckets {
                    Some(buckets) if !(1..=MAX_BUCKETS).contains(buckets) => {
                        Err(refusal("keys.buckets", buckets, "1 to 10000"))
                    }
                    _ => Ok(()),
                }
            }
            Self::OneHot { count, share } => {
                check_count(*count)?;
                within("keys.share", *share, 0.0, 1.0, "0 to 1")
            }
            Self::Replay { .. } => Ok(()), // the file itself is checked when it is read
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl AlphaRamp {
    fn validate(&self) -> Result<(), SpecError> {
        within("keys.ramp.to", self.to, 0.0, MAX_ALPHA, "0 to 10")?;
        if !(2..=1000).contains(&self.steps) {
            return Err(refusal("keys.ramp.steps", self.steps, "2 to 1000"));
        }
        check_seconds("keys.ramp.step_s", self.step_s)
    }
}

fn check_count(count: u64) -> Result<(), SpecError> {
    if (1..=MAX_COUNT).contains(&count) {
        return Ok(());
    }
    Err(refusal("keys.count", count, "1 to 1000000000000"))
}

fn check_seconds(field: &'static str, seconds: f64) -> Result<(), SpecError> {
    within(field, seconds, 0.001, MAX_SECONDS, "0.001 to 1000000")
}

fn within(
    field: &'static str,
    value: f64,
    low: f64,
    high: f64,
    allowed: &'static str,
) -> Result<(), SpecError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(refusal(field, value, allowed))
}

fn refusal(field: &'static str, value: impl ToString, allowed: &'static str) -> SpecError {
    SpecError::OutOfBounds { field, value: value.to_string(), allowed }
}
