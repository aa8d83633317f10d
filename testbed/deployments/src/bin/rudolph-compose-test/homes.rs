use std::time::Duration;

use rudolph_deployments::{Answers, Failure, eventually, numbered_keys, servers_shown};

use crate::stack::Stack;

/// Docker tells a change at once, the DNS is asked each second, checks and polls run each second: a busy machine gets more.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Enough for shares to be measured in per cent; each is asked too seldom to become hot.
const KEYS: usize = 1000;
const VALUES: usize = 50;
const FEW_KEYS: usize = 100;
const MOST_PLANS: usize = 20;

/// Envoy and the filter agree on how many servers there are.
pub(crate) async fn members_are(stack: &Stack, servers: usize) -> Result<String, Failure> {
    let wanted = Some(as_number(servers));
    eventually(PATIENCE, async || {
        let stats = stack.stats().await?;
        let app = [("envoy_cluster_name", "app")];
        let found = [
            stats.sum("envoy_cluster_membership_total", &app),
            stats.sum("envoy_cluster_membership_healthy", &app),
            stats.sum("rudolph_servers", &[]),
        ];
        let all = found.iter().all(|figure| *figure == wanted);
        Failure::unless(all, "members, healthy, in the plan", servers, format!("{found:?}"))
    })
    .await?;
    Ok(String::new())
}

/// On its own page, too.
pub(crate) async fn are_shown(stack: &Stack, servers: usize) -> Result<String, Failure> {
    eventually(PATIENCE, async || {
        let shown = servers_shown(stack.status()).await?;
        Failure::unless(shown == servers, "servers on the status page", servers, shown)
    })
    .await?;
    Ok(String::new())
}

/// Which server answers for each key, while nothing else asks.
pub(crate) async fn look(stack: &Stack) -> Result<Answers, Failure> {
    stack.pause_load().await?;
    let answers = ask(stack, KEYS).await;
    stack.resume_load().await?;
    answers
}

async fn ask(stack: &Stack, keys: usize) -> Result<Answers, Failure> {
    stack.gateway().servers_of(&numbered_keys("cart", keys)).await
}

/// Slow servers are learned and given fewer keys, so a new plan may move a few. Under one plan, none moves at all.
pub(crate) async fn are_kept(stack: &Stack, servers: usize) -> Result<String, Failure> {
    let before = look(stack).await?;
    let after = look(stack).await?;
    let moved = before.moved_in(&after).len();
    let most = KEYS / 20;
    let wanted = format!("at most {most}");
    Failure::unless(moved <= most, "keys that met another server", wanted, moved)?;
    stack.pause_load().await?;
    let under_one_plan = kept_under_one_plan(stack).await;
    stack.resume_load().await?;
    under_one_plan?;
    let shares = shares(&after, servers)?;
    Ok(format!("of {KEYS} keys {moved} moved, under one plan none of {FEW_KEYS}; {shares}"))
}

/// Asks twice in a row until no new plan came between.
async fn kept_under_one_plan(stack: &Stack) -> Result<(), Failure> {
    for _ in 0..MOST_PLANS {
        let version = plan_version(stack).await?;
        let before = ask(stack, FEW_KEYS).await?;
        let after = ask(stack, FEW_KEYS).await?;
        if plan_version(stack).await? == version {
            let moved = before.moved_in(&after).join(" ");
            return Failure::unless(moved.is_empty(), "moved under one plan", "none", moved);
        }
    }
    Err(Failure::unmet("new plans in a row", format!("fewer than {MOST_PLANS}"), MOST_PLANS))
}

async fn plan_version(stack: &Stack) -> Result<Option<f64>, Failure> {
    // Metrics are up to a tick old.
    tokio::time::sleep(Duration::from_millis(500)).await;
    Ok(stack.stats().await?.sum("rudolph_plan_version", &[]))
}

fn shares(answers: &Answers, servers: usize) -> Result<String, Failure> {
    let counts = answers.counts();
    Failure::unless(counts.len() == servers, "servers", servers, format!("{counts:?}"))?;
    let fair = KEYS / servers;
    let even = counts.values().all(|count| (fair / 2..=fair * 2).contains(count));
    Failure::unless(even, "keys by server", format!("around {fair}"), format!("{counts:?}"))?;
    let shares: Vec<String> = counts.values().map(ToString::to_string).collect();
    Ok(format!("by server {}", shares.join(" ")))
}

pub(crate) async fn values_survive(stack: &Stack) -> Result<String, Failure> {
    for key in numbered_keys("kept", VALUES) {
        let reply = stack.gateway().put(&key, format!("value of {key}")).await?;
        Failure::unless(reply.status == 204, format!("PUT {key}"), 204, reply.status)?;
    }
    values_are_there(stack).await
}

/// Whoever owns the keys by now reads them from the database that all servers share.
pub(crate) async fn values_are_there(stack: &Stack) -> Result<String, Failure> {
    let mut misses = 0;
    for key in numbered_keys("kept", VALUES) {
        let reply = stack.gateway().get(&key).await?;
        let value = String::from_utf8_lossy(&reply.body).into_owned();
        let wanted = format!("value of {key}");
        Failure::unless(value == wanted, format!("GET {key}"), wanted, value)?;
        misses += u32::from(reply.cache.as_deref() == Some("miss"));
    }
    Ok(format!("{VALUES} values, {misses} of them from the database"))
}

#[allow(clippy::cast_precision_loss)] // a handful of servers
pub(crate) fn as_number(count: usize) -> f64 {
    count as f64
}
