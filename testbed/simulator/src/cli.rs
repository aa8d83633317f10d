//! The command line: flags, and what they change in a scenario.

use std::path::PathBuf;

use clap::Parser;

/// Simulates gateways in front of servers with caches: the filter's own core against what others do.
///
/// Give a scenario file, or flags, or both: flags win over the file, a sweep wins over flags. The same command gives the
/// same figures, to the last digit.
#[derive(Debug, Parser)]
#[command(name = "rudolph-sim", version)]
pub(crate) struct Cli {
    /// A scenario in TOML
    pub(crate) scenario: Option<PathBuf>,

    /// What routes, by commas: spread, pin, rotation (rotation@0.5 has that lambda), lpt, static, modulo, ring_hash, maglev,
    /// maglev_bounded_150 (bounded load, per cent), round_robin, least_request, jump, range, bound
    #[arg(long, value_delimiter = ',')]
    pub(crate) strategies: Vec<String>,

    /// Servers
    #[arg(long)]
    pub(crate) servers: Option<i64>,

    /// Keys that each server's cache holds
    #[arg(long)]
    pub(crate) cache: Option<i64>,

    /// Closed loop: clients with one request at a time
    #[arg(long, conflicts_with = "rps")]
    pub(crate) clients: Option<i64>,

    /// Open loop: requests that arrive a second
    #[arg(long)]
    pub(crate) rps: Option<f64>,

    /// Mean service times of a hit and of a whole miss in milliseconds: --service 1,5
    #[arg(long, value_name = "HIT,MISS", conflicts_with_all = ["hit_ms", "miss_ms"])]
    pub(crate) service: Option<String>,

    /// Mean service time of a hit
    #[arg(long)]
    pub(crate) hit_ms: Option<f64>,

    /// What a miss takes on top
    #[arg(long)]
    pub(crate) miss_ms: Option<f64>,

    /// Requests that a server works on at once
    #[arg(long)]
    pub(crate) slots: Option<i64>,

    /// Gateways, which do not talk to each other
    #[arg(long)]
    pub(crate) gateways: Option<i64>,

    /// Workers of each gateway
    #[arg(long)]
    pub(crate) workers: Option<i64>,

    /// Simulated seconds that are measured
    #[arg(long)]
    pub(crate) seconds: Option<f64>,

    /// Simulated seconds before that
    #[arg(long)]
    pub(crate) warmup: Option<f64>,

    /// Seeds, by commas: a run for each
    #[arg(long, value_delimiter = ',')]
    pub(crate) seeds: Vec<i64>,

    /// Any other field of a scenario: --set workload.keys.alpha=1.2
    #[arg(long, value_name = "FIELD=VALUE")]
    pub(crate) set: Vec<String>,

    /// What would it do for me: a file of keys or an access log, plain or gzip, - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scenario", "clients"])]
    pub(crate) trace: Option<PathBuf>,

    /// Where in a line of the trace the key is: line, path (of an access log's request), field:N, json:NAME,
    /// regex:EXPRESSION (its first group)
    #[arg(long, default_value = "line", requires = "trace")]
    pub(crate) key: String,

    /// What routes today, to compare with, for a trace
    #[arg(long, default_value = "maglev", requires = "trace")]
    pub(crate) today: String,

    /// Print JSON in place of tables
    #[arg(long)]
    pub(crate) json: bool,

    /// Write a page of charts and tables to this HTML file too
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,

    /// Runs at the same time; the figures do not depend on it [default: one for each core]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
}

impl Cli {
    /// The fields that flags set, by their dotted names.
    pub(crate) fn fields(&self) -> Result<Vec<(String, toml::Value)>, String> {
        let mut fields = Vec::new();
        let mut put = |name: &str, value: Option<toml::Value>| {
            fields.extend(value.map(|value| (name.to_owned(), value)));
        };
        put("strategies", list(&self.strategies));
        put("seeds", list(&self.seeds));
        put("servers.count", self.servers.map(Into::into));
        put("servers.cache_keys", self.cache.map(Into::into));
        put("servers.hit_ms", self.hit_ms.map(Into::into));
        put("servers.miss_ms", self.miss_ms.map(Into::into));
        put("servers.slots", self.slots.map(Into::into));
        put("gateways.count", self.gateways.map(Into::into));
        put("gateways.workers", self.workers.map(Into::into));
        put("seconds", self.seconds.map(Into::into));
        put("warmup_s", self.warmup.map(Into::into));
        put("arrivals", self.arrivals());
        if let Some(text) = &self.service {
            let (hit_ms, miss_ms) = service_times(text)?;
            fields.push(("servers.hit_ms".to_owned(), hit_ms.into()));
            fields.push(("servers.miss_ms".to_owned(), miss_ms.into()));
        }
        for text in &self.set {
            let (field, value) = text.split_once('=').ok_or_else(|| {
                format!("--set {text}: allowed: FIELD=VALUE, as in workload.keys.alpha=1.2")
            })?;
            fields.push((field.trim().to_owned(), parsed(value.trim())));
        }
        Ok(fields)
    }

    /// One kind of arrivals takes the place of the other.
    fn arrivals(&self) -> Option<toml::Value> {
        let (field, value) = match (self.clients, self.rps) {
            (Some(clients), _) => ("clients", toml::Value::from(clients)),
            (_, Some(rps)) => ("open_rps", toml::Value::from(rps)),
            (None, None) => return None,
        };
        Some([(field.to_owned(), value)].into_iter().collect::<toml::Table>().into())
    }
}

/// The time of a hit, and what a miss takes on top.
fn service_times(text: &str) -> Result<(f64, f64), String> {
    let times = text.split_once(',').and_then(|(hit, miss)| {
        let (hit, miss): (f64, f64) = (hit.trim().parse().ok()?, miss.trim().parse().ok()?);
        (miss >= hit).then_some((hit, miss - hit))
    });
    times.ok_or_else(|| {
        format!("--service {text}: allowed: two times in ms, a hit's and a miss's, as in 1,5")
    })
}

fn list<T: Clone + Into<toml::Value>>(values: &[T]) -> Option<toml::Value> {
    let values: Vec<toml::Value> = values.iter().cloned().map(Into::into).collect();
    (!values.is_empty()).then_some(toml::Value::Array(values))
}

/// A value as TOML writes it, or else a bare word.
fn parsed(text: &str) -> toml::Value {
    let table: Result<toml::Table, _> = toml::from_str(&format!("value = {text}"));
    let value = table.ok().and_then(|mut table| table.remove("value"));
    value.unwrap_or_else(|| text.into())
}
