//! Configurations.

use rudolph_core::config::Config;

pub(crate) const STRATEGIES: [&str; 5] = ["spread", "pin", "rotation", "lpt", "static"];

const DEBUG: &str = r#","debug_header":"x-debug""#;

/// The address of server `i`.
pub(crate) fn address(i: usize) -> String {
    format!("10.0.{}.{}:8080", i / 250, i % 250 + 1)
}

/// A configuration in the making. The key is in `x-key`, the debug header is `x-debug`.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    strategy: String,
    key: String,
    membership: String,
    more: String,
    debug: &'static str,
}

impl Setup {
    fn new(membership: String) -> Self {
        Self {
            strategy: "spread".into(),
            key: r#"[{"header":"x-key"}]"#.into(),
            membership,
            more: String::new(),
            debug: DEBUG,
        }
    }

    /// A static list of servers.
    pub(crate) fn servers(count: usize) -> Self {
        Self::weighted(&vec![1; count])
    }

    /// A static list of servers with these weights.
    pub(crate) fn weighted(weights: &[u32]) -> Self {
        let server = |(i, weight): (usize, &u32)| {
            format!(r#"{{"address":"{}","weight":{weight}}}"#, address(i))
        };
        let servers: Vec<String> = weights.iter().enumerate().map(server).collect();
        Self::new(format!(r#"{{"source":"static","servers":[{}]}}"#, servers.join(",")))
    }

    /// Members of the cluster `servers`, by the admin interface behind the cluster `admin`, once a second.
    pub(crate) fn admin() -> Self {
        let fields = r#""source":"envoy_admin","cluster":"servers","admin_cluster":"admin""#;
        Self::new(format!("{{{fields},\"poll_interval_ms\":1000}}"))
    }

    pub(crate) fn strategy(mut self, strategy: &str) -> Self {
        self.strategy = strategy.into();
        self
    }

    pub(crate) fn key(mut self, sources: &str) -> Self {
        self.key = sources.into();
        self
    }

    /// One more field, as JSON.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.more.push_str(&format!(r#","{name}":{value}"#));
        self
    }

    pub(crate) fn without_debug(mut self) -> Self {
        self.debug = "";
        self
    }

    pub(crate) fn json(&self) -> String {
        let Self { strategy, key, membership, more, debug } = self;
        format!(r#"{{"strategy":"{strategy}","key":{key},"membership":{membership}{debug}{more}}}"#)
    }

    pub(crate) fn config(&self) -> Config {
        Config::from_json(self.json().as_bytes()).expect("the test's configuration is sound")
    }
}
