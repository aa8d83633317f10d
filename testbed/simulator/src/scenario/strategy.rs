//! What routes: the filter's own core with a configuration, or a rival that only the simulator knows.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// One row of the table.
#[derive(Clone, Debug)]
pub struct Strategy {
    pub name: String,
    pub choice: Choice,
}

#[derive(Clone, Debug)]
pub enum Choice {
    /// The core; these are fields of the filter's configuration, without `key` and `membership`.
    Filter(serde_json::Map<String, serde_json::Value>),
    Rival(Rival),
}

/// What others do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rival {
    /// Key hash modulo the number of servers.
    Modulo,
    /// A ring of points, as Envoy lays it.
    Ring {
        bounded: Option<f64>,
    },
    /// Envoy's Maglev table.
    Maglev {
        bounded: Option<f64>,
    },
    RoundRobin,
    /// Of two random servers the one with less in flight.
    LeastRequest,
    Jump,
    /// No strategy: one central queue and one pooled cache, which none can beat.
    Bound,
}

/// The words for the core's strategies.
const FILTER: &[&str] = &["spread", "pin", "rotation", "lpt", "static"];
/// The words for rivals; `maglev` and `ring` may be followed by a colon and the factor of bounded load.
const RIVALS: &[(&str, Rival)] = &[
    ("modulo", Rival::Modulo),
    ("ring", Rival::Ring { bounded: None }),
    ("maglev", Rival::Maglev { bounded: None }),
    ("round_robin", Rival::RoundRobin),
    ("least_request", Rival::LeastRequest),
    ("jump", Rival::Jump),
    ("bound", Rival::Bound),
];

/// What is run where the scenario names nothing.
pub(super) fn usual() -> Vec<Strategy> {
    let names = [
        "modulo",
        "maglev",
        "maglev:1.5",
        "rotation",
        "lpt",
        "round_robin",
        "pin",
        "spread",
        "bound",
    ];
    names.iter().filter_map(|name| Strategy::named(name).ok()).collect()
}

impl Strategy {
    /// The strategy that a word stands for.
    ///
    /// # Errors
    /// All words that are known.
    pub fn named(word: &str) -> Result<Self, String> {
        let choice = if FILTER.contains(&word) {
            Choice::Filter([("strategy".to_owned(), word.into())].into_iter().collect())
        } else {
            Choice::Rival(rival(word)?)
        };
        Ok(Self { name: word.to_owned(), choice })
    }
}

fn rival(word: &str) -> Result<Rival, String> {
    let (name, factor) = match word.split_once(':') {
        Some((name, factor)) => (name, Some(factor)),
        None => (word, None),
    };
    let known = RIVALS.iter().find(|(known, _)| *known == name).map(|(_, rival)| *rival);
    match (known, factor) {
        (Some(rival), None) => Ok(rival),
        (Some(Rival::Ring { .. }), Some(text)) => Ok(Rival::Ring { bounded: Some(bound(text)?) }),
        (Some(Rival::Maglev { .. }), Some(text)) => {
            Ok(Rival::Maglev { bounded: Some(bound(text)?) })
        }
        _ => {
            let rivals = RIVALS.iter().map(|(name, _)| *name);
            let words: Vec<&str> = FILTER.iter().copied().chain(rivals).collect();
            Err(format!(
                "{word:?} is no strategy; allowed: {}, ring:1.5 and maglev:1.5 (bounded load)",
                words.join(", ")
            ))
        }
    }
}

fn bound(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(factor) if (1.0..=100.0).contains(&factor) => Ok(factor),
        _ => Err(format!("bounded load {text:?} is not allowed; allowed: 1 to 100")),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spelled {
    name: String,
    rival: Option<String>,
    filter: Option<serde_json::Map<String, serde_json::Value>>,
}

impl<'de> Deserialize<'de> for Strategy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = toml::Value::deserialize(deserializer)?;
        if let toml::Value::String(word) = &value {
            return Self::named(word).map_err(Error::custom);
        }
        let spelled = Spelled::deserialize(value).map_err(|error| {
            Error::custom(format!("{}; or one word", error.message().replace('\n', " ")))
        })?;
        let choice = match (spelled.filter, spelled.rival) {
            (Some(filter), None) => Choice::Filter(filter),
            (None, Some(word)) => Choice::Rival(rival(&word).map_err(Error::custom)?),
            _ => return Err(Error::custom("a strategy has either `filter` or `rival`")),
        };
        Ok(Self { name: spelled.name, choice })
    }
}
