//! Prometheus against what it scrapes.

use std::collections::BTreeMap;
use std::time::Duration;

use rudolph_deployments::{Failure, Samples, eventually, get};
use serde_json::Value;

use crate::homes::PATIENCE;
use crate::stack::Stack;

const LOAD_WATCHED: Duration = Duration::from_secs(3);
/// These count on while nobody asks for anything.
const NEVER_STILL: [&str; 5] = [
    "rudolph_epochs_planned",
    "rudolph_membership_polls_answered",
    "rudolph_plan_version",
    "rudolph_plans_published",
    "rudolph_shared_data_races_lost",
];
/// Of Envoy's own, what the dashboard and the pages speak of.
const ENVOYS: [(&str, &str, &str); 4] = [
    ("envoy_cluster_upstream_rq_total", "envoy_cluster_name", "app"),
    ("envoy_cluster_upstream_rq_retry", "envoy_cluster_name", "app"),
    ("envoy_cluster_membership_healthy", "envoy_cluster_name", "app"),
    ("envoy_http_downstream_rq_total", "envoy_http_conn_manager_prefix", "gateway"),
];

/// The values of an instant query, by their labels.
pub(crate) async fn query(stack: &Stack, text: &str) -> Result<BTreeMap<String, f64>, Failure> {
    let path = format!("/api/v1/query?query={}", escaped(text));
    let body = get(stack.prometheus(), &path).await?;
    let answer: Value =
        serde_json::from_str(&body).map_err(|error| Failure::unreadable(text, error))?;
    let results = answer.pointer("/data/result").and_then(Value::as_array);
    let results = results.ok_or_else(|| Failure::unreadable(text, &body))?;
    let value = |result: &Value| {
        let value = result.pointer("/value/1")?.as_str()?.parse().ok()?;
        Some((result["metric"].to_string(), value))
    };
    Ok(results.iter().filter_map(value).collect())
}

fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let escape = |byte: u8| {
        if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(escape).collect()
}

pub(crate) async fn targets_are_up(stack: &Stack, servers: usize) -> Result<String, Failure> {
    eventually(PATIENCE, async || {
        let up = query(stack, "count by (job) (up == 1)").await?;
        let found: Vec<String> = up.iter().map(|(job, count)| format!("{job} {count}")).collect();
        let wanted = [
            r#"{"job":"app"}"#.to_owned() + &format!(" {servers}"),
            r#"{"job":"gateway"} 1"#.into(),
        ];
        Failure::unless(found == wanted, "targets up", wanted.join(", "), found.join(", "))
    })
    .await?;
    Ok(format!("the gateway and {servers} servers"))
}

/// The stack's own load reaches servers, as the filter decided; nothing else is sent meanwhile.
pub(crate) async fn load_is_served(stack: &Stack) -> Result<String, Failure> {
    let decided = async || {
        let stats = stack.stats().await?;
        let names = ["rudolph_requests_owner", "rudolph_requests_spread"];
        Ok::<f64, Failure>(names.iter().filter_map(|name| stats.sum(name, &[])).sum())
    };
    let before = decided().await?;
    tokio::time::sleep(LOAD_WATCHED).await;
    let rate = (decided().await? - before) / LOAD_WATCHED.as_secs_f64();
    Failure::unless(rate >= 100.0, "requests a second of the load", "100 or more", rate)?;
    Ok(format!("{rate:.0} requests a second"))
}

/// With no request under way, every figure that can stand still is the same on both sides.
pub(crate) async fn agree(stack: &Stack) -> Result<String, Failure> {
    stack.pause_load().await?;
    let compared = eventually(PATIENCE, async || compare(stack).await).await;
    stack.resume_load().await?;
    let compared = compared?;
    Ok(format!("{} figures equal, {} more present", compared.equal, compared.present))
}

struct Compared {
    equal: usize,
    present: usize,
}

async fn compare(stack: &Stack) -> Result<Compared, Failure> {
    let envoy = stack.stats().await?;
    let own: Vec<&str> = envoy.names().filter(|name| name.starts_with("rudolph_")).collect();
    Failure::unless(own.len() >= 20, "metrics of the filter", "20 or more", own.len())?;
    let mut compared = Compared { equal: 0, present: 0 };
    for name in own {
        let scraped = one(stack, name).await?;
        if NEVER_STILL.contains(&name) {
            compared.present += 1;
        } else {
            same(name, envoy.sum(name, &[]), scraped)?;
            compared.equal += 1;
        }
    }
    for (name, label, value) in ENVOYS {
        let scraped = one(stack, &format!("{name}{{{label}=\"{value}\"}}")).await?;
        same(name, labelled(&envoy, name, label, value), scraped)?;
        compared.equal += 1;
    }
    Ok(compared)
}

fn labelled(envoy: &Samples, name: &str, label: &str, value: &str) -> Option<f64> {
    envoy.sum(name, &[(label, value)])
}

async fn one(stack: &Stack, metric: &str) -> Result<f64, Failure> {
    let found = query(stack, metric).await?;
    let only = found.values().copied().next().filter(|_| found.len() == 1);
    only.ok_or_else(|| Failure::unmet(metric, "one value in Prometheus", found.len()))
}

fn same(name: &str, envoy: Option<f64>, scraped: f64) -> Result<(), Failure> {
    let envoy = envoy.ok_or_else(|| Failure::unmet(name, "a value in Envoy", "none"))?;
    Failure::unless((envoy - scraped).abs() < 0.5, name, format!("{envoy}, as in Envoy"), scraped)
}
