use std::{path::PathBuf, time::Duration};

use crate::CacheLimits;

/// Everything a server is told. Build it, then [`ServerConfig::validate`] before use; [`start`](crate::start) does so.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Sent as `x-server` with every answer; empty means the address.
    pub name: String,
    pub cache: CacheLimits,
    pub database: DatabaseUrl,
    /// Threads (SQLite) that read the database.
    pub database_readers: usize,
    pub slots: usize,
    pub queue_limit: usize,
    pub service: ServiceTimes,
    /// What each key of a scan adds to its service time, which else is a miss's.
    pub scan_row: Duration,
    /// Size of the value that an absent key gets; `None` answers 404 for it.
    pub absent_value_bytes: Option<usize>,
    pub max_value_bytes: usize,
    /// How long health says 503 while requests are still taken, so that the gateway sees it first.
    pub drain_notice: Duration,
    /// How long requests in flight may take after that.
    pub drain_timeout: Duration,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            name: String::new(),
            cache: CacheLimits { entries: 10_000, bytes: 256 << 20 },
            database: DatabaseUrl::Sqlite("rudolph.sqlite".into()),
            database_readers: 1,
            slots: 4,
            queue_limit: 10_000,
            service: ServiceTimes::default(),
            scan_row: Duration::ZERO,
            absent_value_bytes: Some(128),
            max_value_bytes: 1 << 20,
            drain_notice: Duration::from_secs(1),
            drain_timeout: Duration::from_secs(10),
        }
    }
}

/// How long a request holds its slot. Zero is the machine's real speed. Writes take the time of a miss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceTimes {
    pub hit: Duration,
    pub miss: Duration,
}

impl ServiceTimes {
    /// From milliseconds as people write them.
    pub fn from_ms(hit_ms: f64, miss_ms: f64) -> Result<Self, ConfigError> {
        Ok(Self { hit: milliseconds("hit-ms", hit_ms)?, miss: milliseconds("miss-ms", miss_ms)? })
    }
}

/// The time a scanned key takes, from microseconds as people write them.
pub fn scan_row_from_us(row_us: f64) -> Result<Duration, ConfigError> {
    if (0.0..=1e6).contains(&row_us) {
        return Ok(Duration::from_secs_f64(row_us / 1e6));
    }
    Err(refusal("scan-row-us", row_us, "0 to 1000000"))
}

fn milliseconds(option: &'static str, value: f64) -> Result<Duration, ConfigError> {
    if (0.0..=60_000.0).contains(&value) {
        return Ok(Duration::from_secs_f64(value / 1e3));
    }
    Err(refusal(option, value, "0 to 60000"))
}

/// Where the data lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseUrl {
    Sqlite(PathBuf),
    Postgres(String),
}

impl From<&str> for DatabaseUrl {
    fn from(text: &str) -> Self {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            Self::Postgres(text.to_owned())
        } else {
            Self::Sqlite(text.into())
        }
    }
}

/// A value out of bounds, with the option that holds it.
#[derive(Debug, thiserror::Error)]
#[error("--{option} is {value}; allowed: {allowed}")]
pub struct ConfigError {
    pub option: &'static str,
    pub value: String,
    pub allowed: &'static str,
}

fn refusal(option: &'static str, value: impl ToString, allowed: &'static str) -> ConfigError {
    ConfigError { option, value: value.to_string(), allowed }
}

impl ServerConfig {
    pub fn validate(&self) -> Result<(), ConfigError> {
        let visible_ascii = |byte: u8| (b'!'..=b'~').contains(&byte);
        if self.name.len() > 100 || !self.name.bytes().all(visible_ascii) {
            return Err(refusal(
                "name",
                format!("{:?}", self.name),
                "up to 100 visible ASCII characters without spaces",
            ));
        }
        check("slots", self.slots, 1, 100_000, "1 to 100000")?;
        check("queue-limit", self.queue_limit, 0, 10_000_000, "0 to 10000000")?;
        check("database-readers", self.database_readers, 1, 64, "1 to 64")?;
        let largest = 16 << 20;
        check("max-value-bytes", self.max_value_bytes, 1, largest, "1 to 16777216")?;
        let absent = self.absent_value_bytes.unwrap_or(0);
        check("value-bytes", absent, 0, self.max_value_bytes, "0 to --max-value-bytes")
    }
}

fn check(
    option: &'static str,
    value: usize,
    low: usize,
    high: usize,
    allowed: &'static str,
) -> Result<(), ConfigError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(refusal(option, value, allowed))
}
