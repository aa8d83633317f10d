//! The configuration: read once, checked once, and from then on known to be sound.
//!
//! [`raw`] holds the JSON as users write it; [`Config::from_json`] turns it into the validated form that is all
//! the rest of the program sees.

mod check;
pub mod raw;
mod replicas;
mod words;

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::hash::digest;
use crate::key::KeyFinder;
use crate::servers::Members;

pub use replicas::Replicas;

/// Most servers that an owners list names: the home and those for retries.
pub const MAX_OWNERS: usize = 8;

/// How requests are spread over the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Rendezvous homes; hot keys on several servers, the least in flight first.
    Spread,
    /// Rendezvous homes; hot keys placed one by one, one owner each.
    Pin,
    /// Bins turned against the servers by the rotation with the lowest peak.
    Rotation,
    /// Bins dealt to the least loaded server each epoch.
    Lpt,
    /// Bins that never move: the baseline.
    Static,
}

impl Strategy {
    /// The word of the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Spread => "spread",
            Self::Pin => "pin",
            Self::Rotation => "rotation",
            Self::Lpt => "lpt",
            Self::Static => "static",
        }
    }
}

/// Where the list of servers comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Membership {
    /// From the configuration, for good.
    Static(Members),
    /// From the local Envoy's admin interface.
    EnvoyAdmin {
        /// The Envoy cluster whose endpoints are the servers.
        cluster: String,
        /// The Envoy cluster that leads to the admin interface.
        admin_cluster: String,
        /// How often it is asked.
        poll_interval_ms: u64,
    },
}

/// The switches and constants of `spread`.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Serve hot keys from several servers.
    pub hot_keys: bool,
    /// As many servers as the key's load asks for; otherwise two.
    pub proportional: bool,
    /// Of a hot key's servers, the one with the least in flight; otherwise in turn.
    pub least_in_flight: bool,
    /// Find hot keys while routing; otherwise only when the workers' sketches are merged.
    pub online: bool,
    /// Leave a home that is in an emergency.
    pub spill: bool,
    /// Learn slow servers and weigh them down.
    pub learn_weights: bool,
    /// A key is hot from this load on, in units of one server's fair share.
    pub hot_threshold: f32,
    /// A hot key is on one server for each such part of a server's fair share.
    pub share_per_copy: f32,
    /// Most servers a hot key is on; 0: all.
    pub max_copies: usize,
    /// What a cache miss costs more than a hit; a spill must be worth four of them at least.
    pub miss_penalty_ms: f32,
}

/// The constants of `pin`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// How many of the hottest keys are placed one by one.
    pub keys: usize,
    /// A key stays where it is while that server is within this factor of the mean.
    pub tolerance: f32,
}

/// The constants of `rotation`, and of `lpt` and `static` where they share them.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotation {
    /// Bins a server, which is also the number of rotations looked at.
    pub candidates: u32,
    /// The price of distance from the present rotation.
    pub lambda: f64,
}

/// The validated configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Equal for equal text: workers with equal configurations agree with each other and with no one else.
    pub digest: u64,
    /// The text itself, from which the status page reads the rules again.
    pub text: Arc<[u8]>,
    /// The strategy.
    pub strategy: Strategy,
    /// Where the key is.
    pub key: KeyFinder,
    /// Where the servers come from.
    pub membership: Membership,
    /// Length of the owners list.
    pub owners: usize,
    /// The request header that carries the owners to Envoy.
    pub upstream_header: String,
    /// A request header that says why, if asked for.
    pub debug_header: Option<String>,
    /// The servers that should hold a key, told to the server that gets the request, if asked for.
    pub replicas: Option<Replicas>,
    /// Whether the status page may show hot keys as they are, and not only their hashes.
    pub clear_keys: bool,
    /// The first part of every metric's name.
    pub stat_prefix: String,
    /// How often a worker publishes and looks for a new plan.
    pub tick_ms: u64,
    /// How often a plan is made.
    pub epoch_ms: u64,
    /// For `spread`.
    pub spread: Spread,
    /// For `pin`.
    pub pin: Pin,
    /// For `rotation`, `lpt` and `static`.
    pub rotation: Rotation,
}

impl Config {
    /// Reads and checks the JSON text.
    ///
    /// # Errors
    /// The first thing that is wrong, with the field, the value and what is allowed.
    pub fn from_json(text: &[u8]) -> Result<Self, ConfigError> {
        check::config(whole(text)?, text, digest_of(text))
    }

    /// Whether homes come from the rendezvous race (otherwise from bins in ring order).
    #[must_use]
    pub fn is_rendezvous(&self) -> bool {
        matches!(self.strategy, Strategy::Spread | Strategy::Pin)
    }

    /// How many of each bin's servers, in order, a table keeps.
    pub(crate) fn row_width(&self) -> usize {
        let replicas = self.replicas.as_ref().map_or(0, |replicas| replicas.count);
        self.owners.max(replicas).max(2)
    }

    /// How long a plan waits until it holds. `spread` may differ between workers for a moment; with one owner a key, all
    /// must change at once.
    pub(crate) fn lead_ms(&self) -> u64 {
        match self.strategy {
            Strategy::Spread => 0,
            _ => 2 * self.tick_ms,
        }
    }

    /// Whether a plan needs the requests of each bin counted.
    #[must_use]
    pub fn counts_bins(&self) -> bool {
        matches!(self.strategy, Strategy::Rotation | Strategy::Lpt)
    }
}

/// What a configured filter is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Configuration {
    /// It routes requests.
    Route(Box<Config>),
    /// It answers them, with the status page.
    Status(StatusConfig),
}

impl Configuration {
    /// Reads and checks the JSON text of either mode.
    ///
    /// # Errors
    /// The first thing that is wrong, with the field, the value and what is allowed.
    pub fn from_json(text: &[u8]) -> Result<Self, ConfigError> {
        // A text that is not even JSON is refused by the reader below, with a better word.
        match serde_json::from_slice(text) {
            Ok(raw::AnyMode { mode: raw::Mode::Status }) => {
                Ok(Self::Status(check::status(whole(text)?)?))
            }
            _ => Ok(Self::Route(Box::new(Config::from_json(text)?))),
        }
    }
}

/// The validated configuration of a status page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusConfig {
    /// What the page calls this gateway.
    pub title: String,
    /// How often the page asks.
    pub refresh_ms: u64,
    /// Host names that it answers to, besides addresses and `localhost`.
    pub hosts: Vec<String>,
}

/// The digest that stands for a configuration's text.
#[must_use]
pub fn digest_of(text: &[u8]) -> u64 {
    digest(0x636f_6e66, text)
}

fn whole<T: DeserializeOwned>(text: &[u8]) -> Result<T, ConfigError> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let raw::Object(raw) =
        serde_path_to_error::deserialize(&mut json).map_err(|error| ConfigError::Shape {
            field: error.path().to_string(),
            problem: error.into_inner().to_string(),
        })?;
    json.end()
        .map_err(|error| ConfigError::Shape { field: ".".into(), problem: error.to_string() })?;
    Ok(raw)
}

/// Why a configuration was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// Not JSON, an unknown field, or a value of the wrong type.
    Shape {
        /// The path of the field.
        field: String,
        /// What the reader found and expected.
        problem: String,
    },
    /// A value out of its bounds.
    Value {
        /// The path of the field.
        field: String,
        /// What was given.
        value: String,
        /// What would have been taken.
        allowed: String,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape { field, problem } if field == "." => {
                write!(f, "configuration: {}", one_line(problem, 400))
            }
            Self::Shape { field, problem } => {
                write!(f, "configuration: {}: {}", one_line(field, 100), one_line(problem, 400))
            }
            Self::Value { field, value, allowed } => {
                let value = one_line(value, 500);
                write!(f, "configuration: {field}: {value} is not allowed; allowed: {allowed}")
            }
        }
    }
}

/// Text that someone else wrote, fit for one line of a log.
fn one_line(text: &str, most: usize) -> String {
    let shown = |character: char| match character {
        control if control.is_control() => control.escape_debug().to_string(),
        other => other.to_string(),
    };
    let mut line: String = text.chars().take(most).map(shown).collect();
    if text.chars().nth(most).is_some() {
        line.push_str("...");
    }
    line
}

impl std::error::Error for ConfigError {}
