//! The configuration as users write it.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::Strategy;

/// What is written with the names of its fields. A derived reader alone would also take a list of their values, which
/// would mean something else as soon as there is another field.
#[derive(Clone, Debug, Default)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

/// The whole text of a filter that routes. Every field but `key` and `membership` has a default.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    #[serde(default)]
    pub mode: Mode,
    #[serde(default = "default_strategy")]
    pub strategy: Strategy,
    pub key: Vec<KeySource>,
    #[serde(default)]
    pub hash_tag: bool,
    pub membership: Object<Membership>,
    #[serde(default = "default_owners")]
    pub owners: u64,
    #[serde(default = "default_upstream_header")]
    pub upstream_header: String,
    #[serde(default)]
    pub debug_header: Option<String>,
    #[serde(default)]
    pub replicas: Option<Object<Replicas>>,
    #[serde(default)]
    pub clear_keys: bool,
    #[serde(default = "default_stat_prefix")]
    pub stat_prefix: String,
    #[serde(default = "default_tick_ms")]
    pub tick_ms: u64,
    #[serde(default)]
    pub epoch_ms: Option<u64>,
    #[serde(default)]
    pub spread: Object<Spread>,
    #[serde(default)]
    pub pin: Object<Pin>,
    #[serde(default)]
    pub rotation: Object<Rotation>,
}

/// What the module does in this place of Envoy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Route,
    Status,
}

/// The mode alone, whatever else is there.
#[derive(Debug, Deserialize)]
pub struct AnyMode {
    #[serde(default)]
    pub mode: Mode,
}

/// The whole text of a filter that serves the status page.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusConfig {
    pub mode: Mode,
    #[serde(default = "default_title")]
    pub title: String,
    #[serde(default = "default_refresh_ms")]
    pub refresh_ms: u64,
    #[serde(default)]
    pub hosts: Vec<String>,
}

fn default_title() -> String {
    "Rudolph".into()
}

fn default_refresh_ms() -> u64 {
    1000
}

fn default_strategy() -> Strategy {
    Strategy::Spread
}

fn default_owners() -> u64 {
    3
}

fn default_upstream_header() -> String {
    "x-rudolph-upstream".into()
}

fn default_stat_prefix() -> String {
    "rudolph".into()
}

fn default_tick_ms() -> u64 {
    100
}

/// One place of the key: `{"header": "x-user"}`, `{"path_segment": 2}`, `"path"`, ...
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    Header(String),
    Cookie(String),
    QueryParameter(String),
    PathSegment(u64),
    Path,
    Authority,
}

/// Where the servers come from. Which of the other fields are needed depends on `source`; one flat struct, so that
/// a refusal can name the field.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Membership {
    pub source: Source,
    pub servers: Option<Vec<Object<Server>>>,
    pub cluster: Option<String>,
    pub admin_cluster: Option<String>,
    pub poll_interval_ms: Option<u64>,
}

/// The word that says where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Static,
    EnvoyAdmin,
}

/// One server of a static list.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    pub address: String,
    #[serde(default = "default_weight")]
    pub weight: u64,
}

fn default_weight() -> u64 {
    1
}

/// See [`super::Spread`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spread {
    pub hot_keys: bool,
    pub proportional: bool,
    pub least_in_flight: bool,
    pub online: bool,
    pub spill: bool,
    pub learn_weights: bool,
    pub hot_threshold: f64,
    pub share_per_copy: f64,
    pub max_copies: u64,
    pub miss_penalty_ms: f64,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            hot_keys: true,
            proportional: true,
            least_in_flight: true,
            online: true,
            spill: true,
            learn_weights: true,
            hot_threshold: 0.01,
            share_per_copy: 0.03,
            max_copies: 0,
            miss_penalty_ms: 4.0,
        }
    }
}

/// See [`super::Replicas`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Replicas {
    pub count: u64,
    pub header: String,
}

impl Default for Replicas {
    fn default() -> Self {
        Self { count: 2, header: "x-rudolph-replicas".into() }
    }
}

/// See [`super::Pin`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pin {
    pub keys: u64,
    pub tolerance: f64,
}

impl Default for Pin {
    fn default() -> Self {
        Self { keys: 64, tolerance: 1.02 }
    }
}

/// See [`super::Rotation`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rotation {
    pub candidates: u64,
    pub lambda: f64,
}

impl Default for Rotation {
    fn default() -> Self {
        Self { candidates: 64, lambda: 0.125 }
    }
}
