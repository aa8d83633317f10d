use std::fmt;

use rudolph_cluster::{Baseline, Builder};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Who competes: a strategy of the filter, or a policy of Envoy without the filter. Written as in tables and summaries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Contender {
    name: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Strategy { word: &'static str, lambda: Option<f64> },
    Policy(Baseline),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} is nobody who competes; allowed: static, rotation, rotation@LAMBDA (0 to 1000), lpt, pin, spread, \
     round_robin, least_request, ring_hash, maglev, ring_hash_bounded_PERCENT, maglev_bounded_PERCENT (101 to 1000)"
)]
pub struct ContenderError {
    name: String,
}

const STRATEGIES: [&str; 5] = ["static", "rotation", "lpt", "pin", "spread"];

impl Contender {
    pub fn parse(name: &str) -> Result<Self, ContenderError> {
        match kind_of(name) {
            Some(kind) => Ok(Self { name: name.to_owned(), kind }),
            None => Err(ContenderError { name: name.to_owned() }),
        }
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether each key has one server at a time, as long as no server comes or goes.
    #[must_use]
    pub fn keeps_one_owner(&self) -> bool {
        match self.kind {
            Kind::Strategy { word, .. } => word != "spread",
            Kind::Policy(policy) => matches!(policy, Baseline::RingHash | Baseline::Maglev),
        }
    }

    /// The cluster in which it competes.
    pub(crate) fn enter(&self, builder: Builder) -> Builder {
        match self.kind {
            Kind::Policy(policy) => builder.baseline(policy),
            Kind::Strategy { word, lambda: None } => builder.strategy(word),
            Kind::Strategy { word, lambda: Some(lambda) } => {
                builder.strategy(word).filter_field("rotation", json!({ "lambda": lambda }))
            }
        }
    }
}

fn kind_of(name: &str) -> Option<Kind> {
    if let Some(word) = STRATEGIES.into_iter().find(|&word| word == name) {
        return Some(Kind::Strategy { word, lambda: None });
    }
    if let Some(lambda) = name.strip_prefix("rotation@") {
        let lambda = lambda.parse().ok().filter(|lambda| (0.0..=1000.0).contains(lambda))?;
        return Some(Kind::Strategy { word: "rotation", lambda: Some(lambda) });
    }
    let percent =
        |text: &str| text.parse().ok().filter(|percent: &u32| (101..=1000).contains(percent));
    let policy = match name {
        "round_robin" => Baseline::RoundRobin,
        "least_request" => Baseline::LeastRequest,
        "ring_hash" => Baseline::RingHash,
        "maglev" => Baseline::Maglev,
        _ => {
            match (name.strip_prefix("maglev_bounded_"), name.strip_prefix("ring_hash_bounded_")) {
                (Some(bound), _) => Baseline::MaglevBounded(percent(bound)?),
                (_, Some(bound)) => Baseline::RingHashBounded(percent(bound)?),
                _ => return None,
            }
        }
    };
    Some(Kind::Policy(policy))
}

impl TryFrom<String> for Contender {
    type Error = ContenderError;

    fn try_from(name: String) -> Result<Self, ContenderError> {
        Self::parse(&name)
    }
}

impl From<Contender> for String {
    fn from(contender: Contender) -> Self {
        contender.name
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_envoy_and_the_filter_know() {
        for name in [
            "static",
            "rotation@0.5",
            "rotation@0",
            "spread",
            "maglev",
            "maglev_bounded_150",
            "ring_hash_bounded_200",
        ] {
            assert_eq!(Contender::parse(name).unwrap().to_string(), name);
        }
        assert_eq!(
            Contender::parse("ring_hash_bounded_125").unwrap().kind,
            Kind::Policy(Baseline::RingHashBounded(125))
        );
    }

    #[test]
    fn a_stranger_is_refused_by_name() {
        for name in
            ["", "Static", "rotation@", "rotation@-1", "maglev_bounded_100", "maglev_bounded_x"]
        {
            let error = Contender::parse(name).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name:?} is nobody")), "{error}");
        }
    }
}
