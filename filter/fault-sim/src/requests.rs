//! Judges requests as they are answered: whom a worker named, and of which plan.

use std::sync::Arc;

use rudolph_core::config::Membership;
use rudolph_core::plan::Plan;
use rudolph_core::telemetry::Counter;
use rudolph_mock_host::Stream;

use crate::books;
use crate::broken::Broken;
use crate::job::SPOOFED;
use crate::watch::Writer;
use crate::world::World;

impl World<'_> {
    pub(crate) fn judge_request(
        &mut self,
        i: usize,
        root: u32,
        key: Option<&str>,
        spoofs: bool,
        stream: &Stream,
    ) -> Result<(), Broken> {
        if self.actors[i].hides_requests() {
            self.books.hidden();
            let generation = self.actors[i].generation;
            self.watch.routed(Writer { worker: i, generation, root });
            return Ok(());
        }
        let text = |name: &str| {
            String::from_utf8_lossy(stream.headers.get(name).unwrap_or_default()).into_owned()
        };
        let (owners, debug) = (text("x-rudolph-upstream"), text("x-debug"));
        if spoofs && owners.contains(SPOOFED) {
            return Err(Broken::Spoofed { worker: i, header: owners });
        }
        let field = |name: &str| debug.split(' ').find_map(|part| part.strip_prefix(name));
        let reason = field("reason=").unwrap_or_default();
        let version = field("plan=").and_then(|version| version.parse().ok()).unwrap_or(0);
        self.count_request(i, root, reason);
        if owners.is_empty() {
            return self.judge_unowned(i, root, key, reason);
        }
        self.judge_owned(i, root, key.unwrap_or_default(), (reason, version, &owners))
    }

    fn count_request(&mut self, i: usize, id: u32, reason: &str) {
        let writer = Writer { worker: i, generation: self.actors[i].generation, root: id };
        let (Some(place), Some(root)) = (books::place(reason), self.actors[i].root(id)) else {
            return;
        };
        root.unwritten[place] += 1;
        self.books.made(place);
        if books::COUNTED[place] == Counter::RequestsOwner {
            self.watch.routed(writer);
        }
    }

    /// No owner: only without a key, before the first plan, or under a plan without servers.
    fn judge_unowned(
        &mut self,
        i: usize,
        id: u32,
        key: Option<&str>,
        reason: &str,
    ) -> Result<(), Broken> {
        let variant = self.actors[i].root(id).map_or(0, |root| root.variant);
        let config = self.scenario.variants[variant].config.digest;
        let Some(root) = self.actors[i].root(id) else { return Ok(()) };
        let (version, has_planned) = (root.version, root.has_planned);
        let holds = match reason {
            "no_key" => key.is_none(),
            "no_plan" => !has_planned,
            "no_server" => {
                root.has_planned = true;
                let newer = |plan: &&Arc<Plan>| plan.version >= version;
                let mut later = self.watch.plans_of(config).rev().take_while(newer);
                later.any(|plan| plan.members.is_empty())
            }
            _ => false,
        };
        let (key, reason) = (key.map(str::to_owned), reason.to_owned());
        if holds { Ok(()) } else { Err(Broken::NoOwner { worker: i, key, reason }) }
    }

    fn judge_owned(
        &mut self,
        i: usize,
        id: u32,
        key: &str,
        (reason, version, owners): (&str, u64, &str),
    ) -> Result<(), Broken> {
        let Some(root) = self.actors[i].root(id) else { return Ok(()) };
        let before = std::mem::replace(&mut root.version, version);
        root.has_planned = true;
        let (variant, shut_out, taught) = (root.variant, root.shut_out, root.taught.clone());
        if version < before {
            return Err(Broken::WentBack { worker: i, before, version });
        }
        let config = &self.scenario.variants[variant].config;
        // The version of a plan that a worker made for itself. Only one that could store nothing may follow such a plan,
        // and its servers are those that it knows.
        if version == 0 && shut_out {
            let known = match &config.membership {
                Membership::Static(members) => Some(members.clone()),
                Membership::EnvoyAdmin { .. } => taught,
            };
            let knows = |owner: &str| {
                known.as_ref().is_some_and(|members| {
                    members.servers().iter().any(|server| server.address.as_str() == owner)
                })
            };
            if owners.split(',').all(knows) {
                return Ok(());
            }
        }
        let Some(plan) = self.watch.plan(config.digest, version) else {
            return Err(Broken::UnknownPlan { worker: i, version });
        };
        let first = owners.split(',').next().unwrap_or_default();
        let expected = self.oracle.owners(config, plan, key, reason, first);
        if owners == expected {
            return Ok(());
        }
        Err(Broken::Owners {
            worker: i,
            version,
            reason: reason.into(),
            key: key.into(),
            owners: owners.into(),
            expected,
        })
    }
}
