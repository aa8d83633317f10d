//! Why a key goes where it goes, and where it would go if a server left.

use crate::Tables;
use crate::document::{DOCUMENT_FORMAT, Explanation, Owner, Without};
use crate::lookup::{Lookup, Owners};
use crate::request::Refusal;
use crate::survey::Survey;
use rudolph_core::config::Strategy;
use rudolph_core::hash::KeyHash;
use rudolph_core::plan::{Placement, Plan};
use rudolph_core::planner::{self, Request};
use rudolph_core::servers::{Members, Server, ServerId};

/// So much of a key is repeated in the answer.
const MAX_SHOWN_CHARACTERS: usize = 256;

pub(crate) fn explain(
    survey: Option<&Survey>,
    tables: &mut Tables,
    key: Vec<u8>,
    without: Option<&str>,
    now_ms: u64,
) -> Result<Explanation, Refusal> {
    let key = match survey {
        Some(survey) => survey.config.key.reduce(key),
        None => key,
    };
    let hash = KeyHash::of(&key);
    let mut explanation = Explanation {
        format: DOCUMENT_FORMAT,
        filter: survey.map(|survey| format!("{:016x}", survey.config.digest)),
        key: String::from_utf8_lossy(&key).chars().take(MAX_SHOWN_CHARACTERS).collect(),
        hash: format!("{:016x}", hash.0),
        plan: None,
        bin: None,
        bins: None,
        reason: "no_plan",
        text: "There is no plan yet: Envoy's fallback policy chooses.".into(),
        owners: Vec::new(),
        without: None,
    };
    let Some((survey, plan)) = survey.and_then(|survey| Some((survey, survey.plan.clone()?)))
    else {
        return without.map_or(Ok(explanation), |name| Err(no_such_server(name)));
    };
    explanation.plan = Some(plan.version);
    let left = without.map(|name| server_of(&plan, name).ok_or_else(|| no_such_server(name)));
    let left = left.transpose()?;
    if plan.members.is_empty() {
        explanation.reason = "no_server";
        explanation.text = "No server is usable: Envoy's fallback policy chooses.".into();
        return Ok(explanation);
    }
    let table = tables.of(&survey.config, &plan);
    let lookup = Lookup::new(survey, plan.clone(), table);
    let owners = lookup.owners(hash);
    (explanation.reason, explanation.text) = why(&lookup, &owners);
    explanation.bin = Some(owners.bin);
    explanation.bins = Some(lookup.table.bins());
    explanation.owners = list(&lookup, &owners, &survey.in_flight());
    explanation.without = left.map(|left| leave(&lookup, tables, hash, &owners, left, now_ms));
    Ok(explanation)
}

fn no_such_server(name: &str) -> Refusal {
    let short: String = name.chars().take(80).collect();
    Refusal::NoSuchServer(format!("{short:?}"))
}

fn server_of(plan: &Plan, name: &str) -> Option<ServerId> {
    let at = plan.members.servers().iter().position(|server| server.address.as_str() == name)?;
    Some(ServerId::from_index(at))
}

fn name(plan: &Plan, server: u16) -> &str {
    plan.members.servers()[ServerId(server).index()].address.as_str()
}

/// The reason in a word and in a sentence.
fn why(lookup: &Lookup<'_>, owners: &Owners) -> (&'static str, String) {
    let home = name(&lookup.plan, owners.home);
    let several = owners.serving.len();
    if several > 1 {
        let choice = if lookup.survey.config.spread.least_in_flight {
            "the one with the fewest requests in flight gets each"
        } else {
            "each gets one in its turn"
        };
        return ("hot", format!("It is hot, so {several} servers serve it: {choice}."));
    }
    if lookup.survey.config.strategy == Strategy::Pin && owners.serving != [owners.home] {
        let text = format!("It is hot, and was placed away from its home {home} to even the load.");
        return ("pinned", text);
    }
    let text = match &lookup.plan.placement {
        Placement::Rendezvous => {
            "It is not hot: its home, the winner of its bin, serves it.".into()
        }
        Placement::Turned { rotation: 0 } => "Its bin lies in this server's arc.".into(),
        Placement::Turned { rotation } => {
            format!("Its bin lies in this server's arc, with all arcs turned by {rotation} bins.")
        }
        Placement::Dealt { .. } => "Its bin was dealt to this server.".into(),
    };
    ("home", text)
}

fn list(lookup: &Lookup<'_>, owners: &Owners, in_flight: &[u64]) -> Vec<Owner> {
    let one = |server: u16, role| Owner {
        address: name(&lookup.plan, server).into(),
        role,
        in_flight: in_flight.get(usize::from(server)).copied(),
    };
    let role = |server: u16| match server == owners.home {
        true => "home",
        false if owners.serving.len() > 1 => "copy",
        false => "pinned",
    };
    let serving = owners.serving.iter().map(|&server| one(server, role(server)));
    serving.chain(owners.retries.iter().map(|&server| one(server, "retry"))).collect()
}

/// What the planner would make of the same load without this server.
fn leave(
    lookup: &Lookup<'_>,
    tables: &mut Tables,
    key: KeyHash,
    before: &Owners,
    left: ServerId,
    now_ms: u64,
) -> Without {
    let (survey, plan) = (lookup.survey, &lookup.plan);
    let server = name(plan, left.0).to_owned();
    let stays = |(at, server): (usize, &Server)| (at != left.index()).then(|| server.clone());
    let servers = plan.members.servers().iter().enumerate();
    let members = Members::new(servers.filter_map(stays).collect());
    let nothing = |text: &str| Without {
        server: server.clone(),
        moves: true,
        text: text.into(),
        owners: Vec::new(),
    };
    if members.is_empty() {
        return nothing("No server would be left: Envoy's fallback policy would choose.");
    }
    let planned = planner::plan(
        &Request {
            config: &survey.config,
            members: &members,
            previous: Some(plan),
            loads: &survey.loads_over(&members),
            epoch: plan.epoch.saturating_add(1),
            version: plan.version.saturating_add(1),
            now_ms,
        },
        &mut |plan| tables.of(&survey.config, plan),
    );
    let Ok(planned) = planned else {
        return nothing("The planner would refuse: the plan would stay as it is.");
    };
    let after = std::sync::Arc::new(planned.plan);
    let lookup_after = Lookup::new(survey, after.clone(), tables.of(&survey.config, &after));
    let owners = lookup_after.owners(key);
    let first = (name(plan, before.serving[0]), name(&after, owners.serving[0]));
    let moves = first.0 != first.1;
    let text = if moves {
        format!("Without {server} it would move from {} to {}.", first.0, first.1)
    } else {
        format!("Without {server} it would stay with {}.", first.0)
    };
    Without { server, moves, text, owners: list(&lookup_after, &owners, &[]) }
}
