//! Servers that come, go and die, under load that must not notice.

use std::collections::BTreeSet;

use rudolph_deployments::{Answers, BackgroundLoad, Failure};

use crate::docker;
use crate::homes::{as_number, look, members_are};
use crate::stack::Stack;

const CLIENTS: usize = 8;
/// Slow servers are learned and given fewer keys, so on a busy machine a few move without a change of members.
const LEARNED: f64 = 0.05;
/// A thousand keys tell shares to within a few per cent.
const SAMPLING: f64 = 0.07;

/// What became of the keys.
#[derive(Debug)]
struct Moves {
    /// To or from a server that came or went.
    forced: f64,
    /// Between servers that stayed.
    needless: f64,
}

impl Moves {
    fn of(before: &Answers, after: &Answers) -> Self {
        let (old, new) = (before.servers(), after.servers());
        let stayed: BTreeSet<&str> = old.intersection(&new).copied().collect();
        let stays = |server: Option<&str>| server.is_some_and(|server| stayed.contains(server));
        let moved = before.moved_in(after);
        let between = |key: &&&str| stays(before.server_of(key)) && stays(after.server_of(key));
        let needless = moved.iter().filter(between).count();
        let share = |keys: usize| as_number(keys) / as_number(before.len());
        Self { forced: share(moved.len() - needless), needless: share(needless) }
    }

    fn check(&self, wanted: f64) -> Result<String, Failure> {
        let right = (self.forced - wanted).abs() <= SAMPLING;
        Failure::unless(right, "keys moved by the change", percent(wanted), percent(self.forced))?;
        let few = self.needless <= LEARNED;
        let most = format!("at most {}", percent(LEARNED));
        Failure::unless(
            few,
            "keys moved between servers that stayed",
            most,
            percent(self.needless),
        )?;
        let [forced, fair, needless] = [self.forced, wanted, self.needless].map(percent);
        Ok(format!("{forced} of the keys moved ({fair} is fair), {needless} between the others"))
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

pub(crate) async fn more_servers(stack: &Stack, servers: usize) -> Result<String, Failure> {
    let before = look(stack).await?;
    let lossless = scale_under_load(stack, servers).await?;
    let after = look(stack).await?;
    let fair = 1.0 - as_number(before.servers().len()) / as_number(servers);
    Ok(format!("{}; {lossless}", Moves::of(&before, &after).check(fair)?))
}

pub(crate) async fn fewer_servers(stack: &Stack, servers: usize) -> Result<String, Failure> {
    let before = look(stack).await?;
    let lossless = scale_under_load(stack, servers).await?;
    let after = look(stack).await?;
    let fair = 1.0 - as_number(servers) / as_number(before.servers().len());
    Ok(format!("{}; {lossless}", Moves::of(&before, &after).check(fair)?))
}

async fn scale_under_load(stack: &Stack, servers: usize) -> Result<String, Failure> {
    let load = BackgroundLoad::start(stack.gateway().address(), CLIENTS, 7)?;
    stack.scale(servers).await?;
    members_are(stack, servers).await?;
    let report = load.stop_without_loss().await?;
    Ok(format!("no loss in {} requests", report.requests))
}

pub(crate) async fn killed_and_back(stack: &Stack, servers: usize) -> Result<String, Failure> {
    let before = look(stack).await?;
    let containers = docker::of_service(stack, "app").await?;
    let Some(victim) = containers.first() else {
        return Err(Failure::unmet("servers", servers, "none"));
    };
    let load = BackgroundLoad::start(stack.gateway().address(), CLIENTS, 8)?;
    docker::tell("kill", victim).await?;
    members_are(stack, servers - 1).await?;
    let without = look(stack).await?;
    let gone = !without.servers().contains(victim.host_name());
    Failure::unless(gone, "the killed server", "no answers", "answers")?;
    docker::tell("start", victim).await?;
    members_are(stack, servers).await?;
    let report = load.stop_without_loss().await?;
    let after = look(stack).await?;
    let lost = Moves::of(&before, &without).check(1.0 / as_number(servers))?;
    let back = returned(stack, victim, &before, &after).await?;
    Ok(format!("{lost}; {back}; no loss in {} requests", report.requests))
}

/// With its old address it has its old keys; a server with another address is another server.
async fn returned(
    stack: &Stack,
    victim: &docker::Container,
    before: &Answers,
    after: &Answers,
) -> Result<String, Failure> {
    let answers = after.servers().contains(victim.host_name());
    Failure::unless(answers, "the server that came back", "answers", "none")?;
    let now = docker::of_service(stack, "app").await?;
    let now = now.iter().find(|container| container.id() == victim.id());
    if now.is_none_or(|now| now.addresses() != victim.addresses()) {
        return Ok("back under another address".to_owned());
    }
    let moved = as_number(before.moved_in(after).len()) / as_number(before.len());
    let most = format!("at most {}", percent(LEARNED));
    Failure::unless(moved <= LEARNED, "keys elsewhere than before", most, percent(moved))?;
    Ok(format!("back, {} of the keys elsewhere than before", percent(moved)))
}
