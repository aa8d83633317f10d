//! The status page: which listener it has, and that it tells what is.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use rudolph_deployments::{Answers, Failure, eventually, get, numbered_keys, owners_of, status_of};
use serde_json::Value;
use tokio::net::TcpStream;

use crate::checks::counters;

/// Where every deployment has it.
const PLANNED: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9903);
const PATIENCE: Duration = Duration::from_secs(60);
/// Asked for too rarely to be hot.
const EXPLAINED: usize = 200;

/// The page's listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    /// Where the control plane puts it.
    pub(crate) planned: SocketAddr,
    /// Where the test's Envoy puts it: the same address, another port.
    pub(crate) here: SocketAddr,
    /// Whether it listens at all.
    pub(crate) bound: bool,
}

impl Page {
    /// The page of a listener, if one of its filters is the module as the status page.
    pub(crate) fn of(listener: &Value, port: u16) -> Option<Self> {
        if !serves_page(listener) {
            return None;
        }
        let socket = &listener["address"]["socketAddress"];
        let ip: IpAddr = socket["address"].as_str()?.parse().ok()?;
        let planned = SocketAddr::new(ip, u16::try_from(socket["portValue"].as_u64()?).ok()?);
        let bound = listener.get("bindToPort").is_none_or(|bound| bound == true);
        Some(Self { planned, here: SocketAddr::new(ip, port), bound })
    }

    /// Nobody reaches it from outside the pod.
    pub(crate) async fn is_on_loopback(self) -> Result<String, Failure> {
        Failure::unless(self.planned == PLANNED, "the page's address", PLANNED, self.planned)?;
        get(self.here, "/status.json").await?;
        // One that listens on every address answers here too.
        let other = SocketAddr::from(([127, 0, 0, 2], self.here.port()));
        Failure::unless(is_closed(other).await, other.to_string(), "closed", "open")?;
        Ok(PLANNED.to_string())
    }

    pub(crate) async fn tells_what_is(
        self,
        admin: SocketAddr,
        servers: &[SocketAddr],
    ) -> Result<String, Failure> {
        let html = get(self.here, "/").await?;
        let is_html = html.to_lowercase().starts_with("<!doctype html>");
        Failure::unless(is_html, "the page", "HTML", html.chars().take(60).collect::<String>())?;
        // Envoy shows a metric when a worker has written it.
        let agreed = async || {
            let status = status_of(self.here).await?;
            let gauges = counters(admin).await?;
            let gauge = |name: &str| gauges.get(name).copied().unwrap_or_default();
            same("the plan's version", gauge("plan_version"), version(&status))?;
            same("workers that agree", gauge("workers"), workers_that_agree(&status))?;
            same("servers", format!("{:?}", names(servers)), format!("{:?}", shown(&status)))?;
            Ok(version(&status))
        };
        let version = eventually(PATIENCE, agreed).await?;
        Ok(format!("plan {version}, {} servers", servers.len()))
    }

    /// The server that it names is the one that the key's requests met.
    pub(crate) async fn explains(self, homes: &Answers) -> Result<String, Failure> {
        let mut explained = BTreeSet::new();
        for key in numbered_keys("cart", homes.len()).into_iter().rev().take(EXPLAINED) {
            let owners = owners_of(self.here, &key).await?;
            let home = owners.into_iter().find(|(_, role)| role == "home");
            let home = home.map(|(address, _)| address).unwrap_or_default();
            let met = homes.server_of(&key).unwrap_or_default();
            same(&format!("the home of {key}"), met, &home)?;
            explained.insert(home);
        }
        Ok(format!("{EXPLAINED} keys on {} servers", explained.len()))
    }
}

/// It is left out, or does not listen.
pub(crate) async fn is_off(page: Option<Page>) -> Result<String, Failure> {
    let Some(page) = page else { return Ok("no listener has it".to_owned()) };
    Failure::unless(!page.bound, "the page's listener", "bind_to_port: false", "it is bound")?;
    let closed = is_closed(page.here).await;
    Failure::unless(closed, page.here.to_string(), "closed", "open")?;
    Ok("its listener is closed".to_owned())
}

async fn is_closed(address: SocketAddr) -> bool {
    TcpStream::connect(address).await.is_err()
}

fn same<T: PartialEq + ToString>(what: &str, wanted: T, found: T) -> Result<(), Failure> {
    Failure::unless(wanted == found, what, wanted.to_string(), found.to_string())
}

fn version(status: &Value) -> u64 {
    status.pointer("/filter/plan/version").and_then(Value::as_u64).unwrap_or_default()
}

fn workers_that_agree(status: &Value) -> u64 {
    let workers = status.pointer("/filter/workers").and_then(Value::as_array);
    workers.into_iter().flatten().filter(|worker| worker["agrees"] == true).map(|_| 1).sum()
}

fn shown(status: &Value) -> BTreeSet<String> {
    let servers = status.pointer("/filter/servers").and_then(Value::as_array);
    let addresses = servers.into_iter().flatten().map(|server| server["address"].as_str());
    addresses.map(|address| address.unwrap_or_default().to_owned()).collect()
}

fn names(servers: &[SocketAddr]) -> BTreeSet<String> {
    servers.iter().map(ToString::to_string).collect()
}

fn serves_page(json: &Value) -> bool {
    match json {
        Value::Object(map) => map.values().any(serves_page),
        Value::Array(list) => list.iter().any(serves_page),
        Value::String(text) => {
            let json: Option<Value> = serde_json::from_str(text).ok();
            json.is_some_and(|json| json.get("mode").is_some_and(|mode| mode == "status"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listener(mode: &str, address: &str) -> Value {
        let configuration = json!({"value": json!({"mode": mode}).to_string()});
        let address = json!({"socketAddress": {"address": address, "portValue": 9903}});
        json!({"address": address, "manager": {"httpFilters": [{"configuration": configuration}]}})
    }

    #[test]
    fn the_page_is_found_by_its_mode_and_keeps_its_address() {
        let page = Page::of(&listener("status", "127.0.0.1"), 3).unwrap();
        assert_eq!(page, Page { planned: PLANNED, here: ([127, 0, 0, 1], 3).into(), bound: true });
        let mut off = listener("status", "0.0.0.0");
        off["bindToPort"] = json!(false);
        let everywhere = Page::of(&off, 3).unwrap();
        assert_eq!((everywhere.here, everywhere.bound), (([0, 0, 0, 0], 3).into(), false));
        assert_eq!(Page::of(&listener("route", "127.0.0.1"), 3), None);
    }

    #[tokio::test]
    async fn one_that_listens_is_not_off() {
        let bound = Page { planned: PLANNED, here: PLANNED, bound: true };
        assert!(is_off(Some(bound)).await.is_err());
        assert!(is_off(None).await.is_ok());
    }
}
