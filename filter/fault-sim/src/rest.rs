//! The time of rest after the last fault: within three ticks all follow what is published, and in the end all agree,
//! every count is where it belongs, and nothing has grown.

use std::sync::Arc;

use rudolph_core::agreement::slot::LEASE_MS;
use rudolph_core::config::{Config, Membership};
use rudolph_core::plan::Plan;
use rudolph_core::servers::Members;
use rudolph_core::wire::{FORMAT, records};

use crate::actor::Actor;
use crate::broken::Broken;
use crate::job::Job;
use crate::lane::Resume;
use crate::watch::names;
use crate::world::{MS, World};

/// Ticks after the last fault in which all must follow.
const ROUNDS_TO_FOLLOW: usize = 3;

/// Rounds in which plans must have come to an end.
const ROUNDS_TO_QUIET: usize = 150;

/// An activation is waited for if it is no further ahead.
const MOST_LEAD_MS: u64 = 5_000;

/// Keys that only these checks ask for.
const PROBES: usize = 6;

/// What a VM may hold: the largest answers are in it, and up to three filters.
const MOST_MEMORY: usize = 16 << 20;

/// What all VMs may leave in the shared data.
const MOST_SHARED: usize = 4 << 20;

/// The filter's metrics are a fixed list.
const MOST_METRICS: usize = 60;

impl World<'_> {
    /// Ends all faults, and then holds the gateway to its promises.
    pub(crate) fn rest(&mut self) -> Result<(), Broken> {
        self.end_faults()?;
        self.say(|| "--- rest".into());
        for round in 1..=ROUNDS_TO_FOLLOW {
            let due = (round == ROUNDS_TO_FOLLOW).then(|| self.due());
            self.round()?;
            if let Some(due) = due {
                self.check_followed(due)?;
            }
        }
        self.wait_until_quiet()?;
        self.check_agreement()?;
        self.check_slots()?;
        self.check_growth()?;
        self.round()?;
        self.books.check(&self.host)
    }

    fn end_faults(&mut self) -> Result<(), Broken> {
        for i in self.which(Actor::is_stalled) {
            self.resume(i, Resume::Run(0))?;
        }
        for i in 0..self.actors.len() {
            self.heal(i);
            if let Some(worker) = &mut self.actors[i].worker {
                worker.trap_after_hostcalls(0);
            }
            if self.actors[i].is_dead && !self.actors[i].is_main {
                self.reload(i)?;
            }
            self.set_clock(i);
        }
        self.admin.recover(&mut self.random);
        for i in self.which(Actor::is_ready) {
            while self.actors[i].roots.len() > 1 || !self.is_up_to_date(i) {
                self.house(i, 0)?;
            }
            while let Some(stream) = self.actors[i].streams.pop() {
                if let Some(worker) = &mut self.actors[i].worker {
                    worker.finish(stream).map_err(|error| Broken::Worker { worker: i, error })?;
                }
            }
        }
        Ok(())
    }

    fn is_up_to_date(&self, i: usize) -> bool {
        let actor = &self.actors[i];
        actor.roots.last().is_some_and(|root| root.variant == actor.wanted)
    }

    fn config(&self) -> Arc<Config> {
        Arc::clone(&self.scenario.variants[self.variant].config)
    }

    /// Every living worker ticks once, in any order, while one tick's time passes; polls are answered at once.
    fn round(&mut self) -> Result<(), Broken> {
        let mut order = self.which(Actor::is_ready);
        let step = self.config().tick_ms * MS / order.len().max(1) as u64;
        while !order.is_empty() {
            let i = order.swap_remove(self.random.below(order.len()));
            self.advance(step);
            if let Some(root) = self.actors[i].roots.last().map(|root| root.id) {
                self.begin(i, Job::Tick { root }, 0)?;
            }
            self.answer_some(true)?;
        }
        Ok(())
    }

    /// The newest plan that holds by now, of those that still stand in the shared data: one that was damaged before all
    /// had seen it is nobody's to follow.
    fn due(&self) -> u64 {
        let (config, now_ms, data) =
            (self.config().digest, self.now() / MS, self.host.shared_data());
        let is_plan = |key: &Vec<u8>| key.ends_with(b"/plan") || key.ends_with(b"/plan/before");
        let standing = data
            .keys()
            .into_iter()
            .filter(is_plan)
            .filter_map(|key| records::open_plan(config, &data.get(key)?).ok());
        let holds = standing.filter(|plan| plan.activate_at_ms <= now_ms);
        holds.map(|plan| plan.version).max().unwrap_or(0)
    }

    /// The plan that each living worker follows, by a request.
    fn followed(&mut self, key: &str) -> Result<Vec<(usize, u64)>, Broken> {
        let mut followed = Vec::new();
        for i in self.which(Actor::is_ready) {
            let Some(root) = self.actors[i].roots.last().map(|root| root.id) else { continue };
            let job = Job::Request { root, key: Some(key.into()), spoofs: true };
            self.begin(i, job, 0)?;
            let stream = self.actors[i].streams.pop();
            if let (Some(stream), Some(worker)) = (stream, &mut self.actors[i].worker) {
                worker.finish(stream).map_err(|error| Broken::Worker { worker: i, error })?;
            }
            followed.push((i, self.actors[i].roots.last().map_or(0, |root| root.version)));
        }
        Ok(followed)
    }

    fn check_followed(&mut self, due: u64) -> Result<(), Broken> {
        let config = self.config().digest;
        let later = |plan: &&Arc<Plan>| plan.version >= due;
        let empty =
            self.watch.plans_of(config).rev().take_while(later).any(|it| it.members.is_empty());
        for (worker, version) in self.followed("probe")? {
            // Under a plan without servers a request does not say which it is. And a worker that sat down while
            // another configuration's plan was newer follows none that is older: it waits for the next.
            let waits = version == 0 && due <= self.watch.newest_of_others(config);
            if version < due && !waits && !empty {
                return Err(Broken::Late { worker, version, due });
            }
        }
        Ok(())
    }

    /// At least a poll and its consequences, and then until a whole round publishes nothing before which nothing waited.
    fn wait_until_quiet(&mut self) -> Result<(), Broken> {
        let least = 2_500 / self.config().tick_ms as usize;
        for round in 0..ROUNDS_TO_QUIET {
            let (plans, waits) = (self.watch.plans_published(), self.is_waited_for());
            self.round()?;
            if round >= least && plans == self.watch.plans_published() && !waits {
                return Ok(());
            }
        }
        Err(Broken::NeverQuiet(ROUNDS_TO_QUIET))
    }

    /// Whether the newest plan's time is yet to come. Further ahead was a clock's error, and is not waited for.
    fn is_waited_for(&self) -> bool {
        let now_ms = self.now() / MS;
        let newest = self.watch.plans_of(self.config().digest).next_back();
        let soon = now_ms + 1..=now_ms + MOST_LEAD_MS;
        newest.is_some_and(|plan| soon.contains(&plan.activate_at_ms))
    }

    fn usable(&self) -> Members {
        match &self.config().membership {
            Membership::Static(members) => members.clone(),
            Membership::EnvoyAdmin { .. } => self.admin.truth(),
        }
    }

    /// One plan, of the servers that are usable, and one list of owners for each key.
    fn check_agreement(&mut self) -> Result<(), Broken> {
        for probe in 0..PROBES {
            let versions: Vec<u64> = self
                .followed(&format!("probe-{probe}"))?
                .iter()
                .map(|(_, version)| *version)
                .collect();
            if versions.iter().any(|version| *version != versions[0])
                || versions.first() == Some(&0)
            {
                return Err(Broken::Disagree(versions));
            }
        }
        let usable = self.usable();
        let config = self.config();
        let plan = self.watch.plans_of(config.digest).next_back();
        let members = plan.map(|plan| plan.members.clone());
        if members.as_ref() != Some(&usable) {
            let plan = members.map_or("no plan".into(), |members| names(&members));
            return Err(Broken::Stale { plan, usable: names(&usable) });
        }
        Ok(())
    }

    /// Each living worker holds a slot of its own.
    fn check_slots(&self) -> Result<(), Broken> {
        let (config, now_ms) = (self.config().digest, self.now() / MS);
        let data = self.host.shared_data();
        let slots = data
            .keys()
            .into_iter()
            .filter(|key| String::from_utf8_lossy(key).contains("/slot/"))
            .filter_map(|key| records::open_slot(config, &data.get(key)?).ok())
            .filter(|slot| slot.heartbeat_ms.abs_diff(now_ms) < LEASE_MS)
            .count();
        let workers = self.which(Actor::is_ready).len();
        if slots < workers { Err(Broken::Slots { workers, slots }) } else { Ok(()) }
    }

    fn check_growth(&self) -> Result<(), Broken> {
        let bounded = |what: String, value: usize, bound: usize| {
            if value <= bound { Ok(()) } else { Err(Broken::Grown { what, value, bound }) }
        };
        for (i, actor) in self.actors.iter().enumerate() {
            if let Some(worker) = &actor.worker {
                bounded(format!("memory of worker {i}"), worker.memory_bytes(), MOST_MEMORY)?;
            }
        }
        let data = self.host.shared_data();
        bounded("shared data".into(), data.total_bytes(), MOST_SHARED)?;
        let vms: usize = self.actors.iter().map(|actor| 3 * (1 + actor.generation as usize)).sum();
        let prefix = format!("rudolph/{FORMAT}/");
        let slots = data.keys().iter().filter(|key| key.starts_with(prefix.as_bytes())).count();
        bounded("shared keys".into(), slots, 64 + self.scenario.variants.len() * vms)?;
        bounded("metrics".into(), self.host.metrics().distinct_names(), MOST_METRICS)
    }
}
