//! What an experiment is: read from TOML, checked as a whole before anything is started.

mod check;
mod expect;

use std::{path::Path, time::Duration};

use rudolph_cluster::ServerSettings;
use rudolph_workload::WorkloadSpec;
use serde::{Deserialize, Serialize};

pub use check::SpecError;
pub use expect::{Bound, Expect, Target};

use crate::{Contender, Metric};

/// One experiment. Unknown fields are refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Of the folder that the results go to; the file's name.
    #[serde(default)]
    pub name: String,
    pub title: String,
    /// The question, in a sentence or two.
    pub asks: String,
    pub contenders: Vec<Contender>,
    /// Whom the others are compared with.
    pub reference: Contender,
    /// Whom the paragraphs are about.
    #[serde(default)]
    pub heroes: Vec<Contender>,
    pub repeats: u32,
    pub servers: Servers,
    pub load: Load,
    pub workload: WorkloadSpec,
    #[serde(default, rename = "event")]
    pub events: Vec<Event>,
    #[serde(default, rename = "figure")]
    pub figures: Vec<Figure>,
    #[serde(default, rename = "expect")]
    pub expectations: Vec<Expect>,
    #[serde(default)]
    pub published: Published,
    /// What changes when there is little time.
    pub quick: Quick,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Servers {
    pub count: usize,
    pub slots: u32,
    pub hit_ms: f64,
    pub miss_ms: f64,
    pub cache_entries: u64,
    /// Envoy's worker threads.
    pub workers: u32,
}

/// `clients` for a closed loop, `rate` for an open one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    #[serde(default)]
    pub clients: Option<usize>,
    #[serde(default)]
    pub rate: Option<f64>,
    /// Requests that fill the caches at full speed before anything else.
    pub warm_requests: u64,
    /// Of the load itself, before the measured window.
    pub warm_up_s: u64,
    pub seconds: u64,
}

/// Something that happens to the servers, so many seconds into the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    pub at_s: u64,
    pub action: Action,
    /// Which server; the one that is added has no number yet.
    #[serde(default)]
    pub server: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Kill,
    Restart,
    Add,
}

/// A plot to draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Figure {
    /// A bar a contender.
    Bars { metric: Metric },
    /// A point a contender.
    Scatter { x: Metric, y: Metric },
    /// A line a contender over the seconds.
    Seconds {
        metric: Metric,
        #[serde(default)]
        log: bool,
    },
    /// For one contender, a line a server over the seconds.
    Servers { metric: Metric, contender: Contender },
    /// The hottest server's share of all requests against alpha, and the least that is possible.
    SharePerAlpha,
}

/// Figures that others published for the same experiment elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    #[serde(default)]
    pub source: String,
    #[serde(default, rename = "row")]
    pub rows: Vec<PublishedRow>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedRow {
    pub contender: Contender,
    #[serde(flatten)]
    pub values: std::collections::BTreeMap<Metric, f64>,
}

/// Replaces fields of the same names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    pub contenders: Vec<Contender>,
    pub repeats: u32,
    pub seconds: u64,
    pub warm_requests: u64,
    #[serde(default)]
    pub events: Vec<Event>,
    #[serde(default)]
    pub ramp_step_s: Option<f64>,
}

impl Spec {
    /// Reads and checks a spec; its name is the file's.
    pub fn read(path: &Path) -> Result<Self, SpecError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| SpecError::Unreadable { path: path.into(), source })?;
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        Self::parse(&name.unwrap_or_default(), &text)
    }

    pub fn parse(name: &str, text: &str) -> Result<Self, SpecError> {
        let reader = toml::Deserializer::parse(text).map_err(SpecError::not_toml)?;
        let mut spec: Self =
            serde_path_to_error::deserialize(reader).map_err(SpecError::of_field)?;
        name.clone_into(&mut spec.name);
        check::check(&spec)?;
        Ok(spec)
    }

    /// The short form, for checks: it shows that everything runs, and its figures mean nothing.
    #[must_use]
    pub fn quick(mut self) -> Self {
        let quick = self.quick.clone();
        self.contenders = quick.contenders;
        self.repeats = quick.repeats;
        self.load.seconds = quick.seconds;
        self.load.warm_up_s = 1;
        self.load.warm_requests = quick.warm_requests;
        self.events = quick.events;
        self.heroes.retain(|hero| self.contenders.contains(hero));
        self.expectations.clear();
        if let (Some(step), rudolph_workload::KeySpec::Zipf { ramp: Some(ramp), .. }) =
            (quick.ramp_step_s, &mut self.workload.keys)
        {
            ramp.step_s = step;
        }
        self
    }

    #[must_use]
    pub fn server_settings(&self) -> ServerSettings {
        ServerSettings {
            slots: self.servers.slots,
            hit: Duration::from_secs_f64(self.servers.hit_ms / 1e3),
            miss: Duration::from_secs_f64(self.servers.miss_ms / 1e3),
            cache_entries: self.servers.cache_entries,
            extra: Vec::new(),
        }
    }

    /// The workload of a repeat, counted from 0: each repeat has another seed, the same for all contenders.
    #[must_use]
    pub fn workload_of(&self, repeat: u32) -> WorkloadSpec {
        let mut workload = self.workload.clone();
        workload.seed += u64::from(repeat);
        workload
    }
}
