use std::fmt;

use serde_json::{Value, json};

use crate::range;

/// A native load-balancing policy, in place of the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    RoundRobin,
    LeastRequest,
    RingHash,
    Maglev,
    /// `hash_balance_factor` in percent: no server over that share of the mean.
    RingHashBounded(u32),
    MaglevBounded(u32),
    /// Keys in order, one range a server: what a range-partitioned store does. The ranges are even over the keys numbered
    /// `0..span`; the last is open.
    Range {
        span: u64,
    },
}

impl Baseline {
    /// The value of a cluster's `load_balancing_policy`.
    pub(crate) fn policy(self) -> Value {
        let (name, message, config) = match self {
            Self::RoundRobin => ("round_robin", "RoundRobin", json!({})),
            Self::LeastRequest => ("least_request", "LeastRequest", json!({})),
            Self::RingHash => ("ring_hash", "RingHash", json!({})),
            Self::Maglev => ("maglev", "Maglev", json!({})),
            Self::RingHashBounded(percent) => ("ring_hash", "RingHash", bounded(percent)),
            Self::MaglevBounded(percent) => ("maglev", "Maglev", bounded(percent)),
            Self::Range { .. } => ("override_host", "OverrideHost", by_header(range::HEADER)),
        };
        let mut typed = config;
        typed["@type"] = format!(
            "type.googleapis.com/envoy.extensions.load_balancing_policies.{name}.v3.{message}"
        )
        .into();
        let extension = json!({ "name": format!("envoy.load_balancing_policies.{name}"), "typed_config": typed });
        json!({ "policies": [{ "typed_extension_config": extension }] })
    }
}

/// The server that a header names; a request without one is spread over all.
fn by_header(name: &str) -> Value {
    let fallback = Baseline::RoundRobin.policy();
    json!({ "override_host_sources": [{ "header": name }], "fallback_policy": fallback })
}

fn bounded(percent: u32) -> Value {
    json!({ "consistent_hashing_lb_config": { "hash_balance_factor": percent } })
}

/// The names that tables and summaries use.
impl fmt::Display for Baseline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RoundRobin => formatter.write_str("round_robin"),
            Self::LeastRequest => formatter.write_str("least_request"),
            Self::RingHash => formatter.write_str("ring_hash"),
            Self::Maglev => formatter.write_str("maglev"),
            Self::RingHashBounded(percent) => write!(formatter, "ring_hash_bounded_{percent}"),
            Self::Range { .. } => formatter.write_str("range"),
            Self::MaglevBounded(percent) => write!(formatter, "maglev_bounded_{percent}"),
        }
    }
}
