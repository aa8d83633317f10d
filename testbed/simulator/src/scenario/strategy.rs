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
    Filter(Fields),
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
    /// Keys in order, cut into one range a server: what a range-partitioned store does.
    Range,
    /// No strategy: one central queue and one pooled cache, which none can beat.
    Bound,
}

/// The words for the core's strategies; `rotation` may be followed by `@` and its lambda.
const FILTER: &[&str] = &["spread", "pin", "rotation", "lpt", "static"];
/// The words for rivals. Those of bounded load end in the percentage, as `maglev_bounded_150`.
const RIVALS: &[(&str, Rival)] = &[
    ("modulo", Rival::Modulo),
    ("ring_hash", Rival::Ring { bounded: None }),
    ("maglev", Rival::Maglev { bounded: None }),
    ("round_robin", Rival::RoundRobin),
    ("least_request", Rival::LeastRequest),
    ("jump", Rival::Jump),
    ("range", Rival::Range),
    ("bound", Rival::Bound),
];

/// What is run where the scenario names nothing.
pub(super) fn usual() -> Vec<Strategy> {
    let names = [
        "modulo",
        "maglev",
        "maglev_bounded_150",
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
        let choice = match filter(word) {
            Some(fields) => Choice::Filter(fields?),
            None => Choice::Rival(rival(word)?),
        };
        Ok(Self { name: word.to_owned(), choice })
    }
}

type Fields = serde_json::Map<String, serde_json::Value>;

/// `None` if it is no word for the core.
fn filter(word: &str) -> Option<Result<Fields, String>> {
    let mut fields = Fields::new();
    if FILTER.contains(&word) {
        fields.insert("strategy".to_owned(), word.into());
        return Some(Ok(fields));
    }
    let text = word.strip_prefix("rotation@")?;
    // Its bounds are the core's to check.
    let Ok(lambda) = text.parse::<f64>() else {
        return Some(Err(format!("{word:?}: {text:?} is no number")));
    };
    fields.insert("strategy".to_owned(), "rotation".into());
    fields.insert("rotation".to_owned(), serde_json::json!({ "lambda": lambda }));
    Some(Ok(fields))
}

fn rival(word: &str) -> Result<Rival, String> {
    if let Some((_, rival)) = RIVALS.iter().find(|(known, _)| *known == word) {
        return Ok(*rival);
    }
    match word.split_once("_bounded_") {
        Some(("ring_hash", text)) => Ok(Rival::Ring { bounded: Some(bound(text)?) }),
        Some(("maglev", text)) => Ok(Rival::Maglev { bounded: Some(bound(text)?) }),
        _ => {
            let rivals = RIVALS.iter().map(|(name, _)| *name);
            let words: Vec<&str> = FILTER.iter().copied().chain(rivals).collect();
            Err(format!(
                "{word:?} is no strategy; allowed: {}, rotation@0.5 (lambda), ring_hash_bounded_150 and \
                 maglev_bounded_150 (bounded load, per cent)",
                words.join(", ")
            ))
        }
    }
}

/// The factor, from per cent.
fn bound(text: &str) -> Result<f64, String> {
    match text.parse::<u32>() {
        Ok(percent @ 100..=10_000) => Ok(f64::from(percent) / 100.0),
        _ => Err(format!("bounded load {text:?} is not allowed; allowed: 100 to 10000 per cent")),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spelled {
    name: String,
    rival: Option<String>,
    filter: Option<Fields>,
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
