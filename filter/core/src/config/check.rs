//! From what was written to what is allowed. Each rule names its field, the value it met and its bounds.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::RangeInclusive;

use super::raw::{Mode, Source};
use super::replicas::replicas;
use super::{
    Config, ConfigError, MAX_OWNERS, Membership, Pin, Rotation, Spread, StatusConfig, Strategy, raw,
};
use crate::hot::MAX_HOT_KEYS;
use crate::key::{KeyFinder, KeySource};
use crate::servers::{Address, MAX_SERVERS, MAX_WEIGHT, Members, Server};

const MAX_NAME_BYTES: usize = 256;

pub(super) fn config(raw: raw::Config, text: &[u8], digest: u64) -> Result<Config, ConfigError> {
    if raw.mode == Mode::Status {
        return refuse("mode", "\"status\"", "\"route\" where requests are routed");
    }
    let tick_ms = within("tick_ms", raw.tick_ms, 10..=1000)?;
    let upstream_header = header_name("upstream_header", &raw.upstream_header)?;
    let sources = key_sources(&raw.key, &upstream_header)?;
    let debug_header = debug_header(raw.debug_header.as_deref(), &sources, &upstream_header)?;
    let taken = [&upstream_header, debug_header.as_deref().unwrap_or_default()];
    let replicas = replicas(raw.replicas, raw.strategy, &taken, &sources)?;
    Ok(Config {
        text: text.into(),
        digest,
        strategy: raw.strategy,
        membership: membership(raw.membership.0)?,
        owners: within("owners", raw.owners, 1..=MAX_OWNERS as u64)? as usize,
        debug_header,
        key: KeyFinder { sources, hash_tag: raw.hash_tag },
        upstream_header,
        clear_keys: raw.clear_keys,
        stat_prefix: stat_prefix(raw.stat_prefix)?,
        tick_ms,
        epoch_ms: epoch_ms(raw.strategy, tick_ms, raw.epoch_ms)?,
        spread: spread(&raw.spread.0, replicas.is_none())?,
        pin: pin(&raw.pin.0)?,
        replicas,
        rotation: rotation(&raw.rotation.0)?,
    })
}

pub(super) fn status(raw: raw::StatusConfig) -> Result<StatusConfig, ConfigError> {
    let length = raw.title.chars().count();
    if length == 0 || length > 64 || raw.title.chars().any(char::is_control) {
        return refuse("title", quoted(&raw.title), "1 to 64 printable characters");
    }
    if raw.hosts.len() > 16 {
        return refuse("hosts", format!("{} hosts", raw.hosts.len()), "0 to 16 hosts");
    }
    let host = |(i, name): (usize, &String)| host_name(&format!("hosts[{i}]"), name);
    Ok(StatusConfig {
        title: raw.title,
        refresh_ms: within("refresh_ms", raw.refresh_ms, 250..=60_000)?,
        hosts: raw.hosts.iter().enumerate().map(host).collect::<Result<_, _>>()?,
    })
}

/// A name without its port, as browsers send it.
fn host_name(field: &str, name: &str) -> Result<String, ConfigError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(allowed) {
        return refuse(field, quoted(name), "a host name without a port");
    }
    Ok(name.to_ascii_lowercase())
}

pub(super) fn refuse<T>(
    field: impl Display,
    value: impl Display,
    allowed: impl Display,
) -> Result<T, ConfigError> {
    Err(ConfigError::Value {
        field: field.to_string(),
        value: value.to_string(),
        allowed: allowed.to_string(),
    })
}

pub(super) fn within<T: PartialOrd + Display + Copy>(
    field: &str,
    value: T,
    allowed: RangeInclusive<T>,
) -> Result<T, ConfigError> {
    if allowed.contains(&value) {
        return Ok(value);
    }
    refuse(field, value, format!("{} to {}", allowed.start(), allowed.end()))
}

/// Longer epochs than the default cost freshness; shorter than three ticks there is no time to agree.
fn epoch_ms(strategy: Strategy, tick_ms: u64, given: Option<u64>) -> Result<u64, ConfigError> {
    let (default, least) = match strategy {
        Strategy::Spread => (tick_ms, tick_ms),
        Strategy::Pin => (250.max(3 * tick_ms), 3 * tick_ms),
        Strategy::Rotation | Strategy::Lpt | Strategy::Static => {
            (1000.max(5 * tick_ms), 5 * tick_ms)
        }
    };
    within("epoch_ms", given.unwrap_or(default), least..=3_600_000)
}

fn key_sources(
    given: &[raw::KeySource],
    upstream_header: &str,
) -> Result<Vec<KeySource>, ConfigError> {
    if given.is_empty() || given.len() > 16 {
        return refuse("key", format!("{} sources", given.len()), "1 to 16 sources");
    }
    let mut sources = Vec::with_capacity(given.len());
    for (i, source) in given.iter().enumerate() {
        let source = key_source(&format!("key[{i}]"), source, upstream_header)?;
        if sources.contains(&source) {
            let text = serde_json::to_string(&given[i]).unwrap_or_default();
            return refuse(format!("key[{i}]"), text, "each source once");
        }
        sources.push(source);
    }
    Ok(sources)
}

fn key_source(
    field: &str,
    source: &raw::KeySource,
    upstream_header: &str,
) -> Result<KeySource, ConfigError> {
    Ok(match source {
        raw::KeySource::Header(name) => {
            let field = format!("{field}.header");
            let name = header_name(&field, name)?;
            if name == upstream_header {
                return refuse(field, name, "any header but upstream_header");
            }
            KeySource::Header(name)
        }
        raw::KeySource::Cookie(name) => {
            KeySource::Cookie(plain_name(&format!("{field}.cookie"), name)?)
        }
        raw::KeySource::QueryParameter(name) => {
            KeySource::QueryParameter(plain_name(&format!("{field}.query_parameter"), name)?)
        }
        raw::KeySource::PathSegment(n) => {
            KeySource::PathSegment(within(&format!("{field}.path_segment"), *n, 1..=64)? as usize)
        }
        raw::KeySource::Path => KeySource::Path,
        raw::KeySource::Authority => KeySource::Authority,
    })
}

/// Header names are compared in lower case, as HTTP/2 writes them.
pub(super) fn header_name(field: &str, name: &str) -> Result<String, ConfigError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let sound = !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.bytes().all(allowed);
    if !sound {
        return refuse(field, quoted(name), "1 to 256 letters, digits, '-', '_' or '.'");
    }
    Ok(name.to_ascii_lowercase())
}

fn plain_name(field: &str, name: &str) -> Result<String, ConfigError> {
    let allowed = |byte: u8| byte.is_ascii_graphic() && !b";=&,\"".contains(&byte);
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(allowed) {
        let rule = "1 to 256 printable characters without ';', '=', '&', ',' or '\"'";
        return refuse(field, quoted(name), rule);
    }
    Ok(name.to_owned())
}

fn debug_header(
    given: Option<&str>,
    key: &[KeySource],
    upstream: &str,
) -> Result<Option<String>, ConfigError> {
    let Some(name) = given.filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let name = header_name("debug_header", name)?;
    if name == upstream {
        return refuse("debug_header", name, "any name but that of upstream_header");
    }
    if key.contains(&KeySource::Header(name.clone())) {
        return refuse("debug_header", name, "any header that is no source of the key");
    }
    Ok(Some(name))
}

fn stat_prefix(given: String) -> Result<String, ConfigError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
    if given.is_empty() || given.len() > 64 || !given.bytes().all(allowed) {
        return refuse("stat_prefix", quoted(&given), "1 to 64 letters, digits, '_' or '.'");
    }
    Ok(given)
}

/// With no interval given, the admin interface is asked so often.
const DEFAULT_POLL_INTERVAL_MS: u64 = 1000;

fn membership(given: raw::Membership) -> Result<Membership, ConfigError> {
    let raw::Membership { source, servers, cluster, admin_cluster, poll_interval_ms } = given;
    let only_with = |field: &str, given: bool, source: &str| {
        let allowed = format!("only with \"source\": \"{source}\"");
        if given { refuse(format!("membership.{field}"), "this field", allowed) } else { Ok(()) }
    };
    match source {
        Source::Static => {
            only_with("cluster", cluster.is_some(), "envoy_admin")?;
            only_with("admin_cluster", admin_cluster.is_some(), "envoy_admin")?;
            only_with("poll_interval_ms", poll_interval_ms.is_some(), "envoy_admin")?;
            static_servers(&servers.unwrap_or_default()).map(Membership::Static)
        }
        Source::EnvoyAdmin => {
            only_with("servers", servers.is_some(), "static")?;
            let poll = poll_interval_ms.unwrap_or(DEFAULT_POLL_INTERVAL_MS);
            Ok(Membership::EnvoyAdmin {
                cluster: cluster_name("membership.cluster", cluster)?,
                admin_cluster: cluster_name("membership.admin_cluster", admin_cluster)?,
                poll_interval_ms: within("membership.poll_interval_ms", poll, 100..=600_000)?,
            })
        }
    }
}

fn cluster_name(field: &str, given: Option<String>) -> Result<String, ConfigError> {
    let allowed = "the name of an Envoy cluster, 1 to 256 bytes";
    match given {
        Some(name) if (1..=MAX_NAME_BYTES).contains(&name.len()) => Ok(name),
        Some(name) => refuse(field, quoted(&name), allowed),
        None => refuse(field, "nothing", allowed),
    }
}

fn static_servers(given: &[raw::Object<raw::Server>]) -> Result<Members, ConfigError> {
    if given.is_empty() || given.len() > MAX_SERVERS {
        let allowed = format!("1 to {MAX_SERVERS} servers");
        return refuse("membership.servers", format!("{} servers", given.len()), allowed);
    }
    let mut seen = BTreeSet::new();
    let mut servers = Vec::with_capacity(given.len());
    for (i, raw::Object(server)) in given.iter().enumerate() {
        let field = format!("membership.servers[{i}]");
        let Some(address) = Address::parse(&server.address) else {
            let allowed = "ip:port, IPv6 in brackets, port 1 to 65535";
            return refuse(format!("{field}.address"), quoted(&server.address), allowed);
        };
        if !seen.insert(address.clone()) {
            return refuse(format!("{field}.address"), quoted(&server.address), "each server once");
        }
        let field = format!("{field}.weight");
        let weight = within(&field, server.weight, 1..=u64::from(MAX_WEIGHT))? as u32;
        servers.push(Server { address, weight });
    }
    Ok(Members::new(servers))
}

/// What is stored should not move because a server is slow for a while: with replicas, `may_learn` is false.
fn spread(raw: &raw::Spread, may_learn: bool) -> Result<Spread, ConfigError> {
    let bounded = |field: &str, value: f64, allowed| {
        within(&format!("spread.{field}"), value, allowed).map(|value| value as f32)
    };
    let max_copies = within("spread.max_copies", raw.max_copies, 0..=MAX_SERVERS as u64)?;
    Ok(Spread {
        hot_keys: raw.hot_keys,
        proportional: raw.proportional,
        least_in_flight: raw.least_in_flight,
        online: raw.online,
        spill: raw.spill,
        learn_weights: raw.learn_weights && may_learn,
        hot_threshold: bounded("hot_threshold", raw.hot_threshold, 0.0001..=1.0)?,
        share_per_copy: bounded("share_per_copy", raw.share_per_copy, 0.001..=1.0)?,
        max_copies: max_copies as usize,
        miss_penalty_ms: bounded("miss_penalty_ms", raw.miss_penalty_ms, 0.0..=60_000.0)?,
    })
}

fn pin(raw: &raw::Pin) -> Result<Pin, ConfigError> {
    Ok(Pin {
        keys: within("pin.keys", raw.keys, 1..=MAX_HOT_KEYS as u64)? as usize,
        tolerance: within("pin.tolerance", raw.tolerance, 1.0..=2.0)? as f32,
    })
}

fn rotation(raw: &raw::Rotation) -> Result<Rotation, ConfigError> {
    Ok(Rotation {
        candidates: within("rotation.candidates", raw.candidates, 1..=256)? as u32,
        lambda: within("rotation.lambda", raw.lambda, 0.0..=1000.0)?,
    })
}

/// A value as JSON writes it, cut so that a refusal stays one line.
fn quoted(value: &str) -> String {
    let short: String = value.chars().take(80).collect();
    serde_json::to_string(&short).unwrap_or_default()
}
