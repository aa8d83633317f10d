//! The time of faults: which worker does what next, and what goes wrong meanwhile.

use crate::actor::Actor;
use crate::admin::Answer;
use crate::broken::Broken;
use crate::job::Job;
use crate::lane::Resume;
use crate::scenario::Kind;
use crate::world::{MS, World};

/// Envoy gives a poll up after the time-out that the filter asked for.
const POLL_TIMEOUT: u64 = 2_000 * MS;

/// A VM has at most so many roots: the serving one, and draining ones.
const MOST_ROOTS: usize = 3;

/// Requests that a worker has open at most.
const MOST_STREAMS: usize = 12;

fn serves(actor: &Actor) -> bool {
    actor.is_ready() && !actor.is_main
}

impl World<'_> {
    /// A time of faults.
    pub(crate) fn play(&mut self) -> Result<(), Broken> {
        let steps = self.scenario.rounds * (self.scenario.workers + 1) * 3;
        for _ in 0..steps {
            if self.random.below(self.scenario.rarity) == 0 {
                self.fault()?;
            }
            self.step()?;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Broken> {
        match self.random.below(100) {
            0..40 => self.next_tick(),
            40..66 => self.some_requests(),
            66..76 => self.finish_some(),
            76..86 => self.answer_some(false),
            86..94 => self.go_on(),
            _ => self.keep_house(),
        }
    }

    /// The tick that is due first; late, lost or on time.
    fn next_tick(&mut self) -> Result<(), Broken> {
        let ready = self.which(Actor::is_ready);
        let due = ready
            .into_iter()
            .flat_map(|i| self.actors[i].roots.iter().map(move |root| (root.due, i, root.id)))
            .min();
        let Some((due, i, root)) = due else {
            self.advance(10 * MS);
            return Ok(());
        };
        if self.scenario.has(Kind::Tick) && self.random.percent(12) {
            let late = self.random.pick(&[10, 100, 200, 1_000, 15_000]) * MS;
            if let Some(root) = self.actors[i].root(root) {
                root.due += late;
            }
            return Ok(());
        }
        let now = self.now();
        self.advance(due.saturating_sub(now));
        self.tick(i, root, 20)
    }

    /// One tick, which may stall or trap.
    pub(crate) fn tick(&mut self, i: usize, root: u32, stalls: usize) -> Result<(), Broken> {
        let pause = self.pause(stalls);
        self.begin(i, Job::Tick { root }, pause)
    }

    fn some_requests(&mut self) -> Result<(), Broken> {
        let Some(i) = self.any(serves) else { return Ok(()) };
        for _ in 0..1 + self.random.below(8) {
            let key = (!self.random.percent(4)).then(|| self.random.key(300));
            let roots = &self.actors[i].roots;
            // A draining root still gets requests of its old connections.
            let at = if self.random.percent(20) {
                self.random.below(roots.len())
            } else {
                roots.len() - 1
            };
            let root = roots[at].id;
            let spoofs = self.random.percent(10);
            let pause = self.pause(2);
            self.begin(i, Job::Request { root, key, spoofs }, pause)?;
            if !self.actors[i].is_ready() {
                break;
            }
        }
        while self.actors[i].is_ready() && self.actors[i].streams.len() > MOST_STREAMS {
            self.finish(i, 0)?;
        }
        Ok(())
    }

    fn finish_some(&mut self) -> Result<(), Broken> {
        let Some(i) = self.any(serves) else { return Ok(()) };
        for _ in 0..self.actors[i].streams.len().div_ceil(2) {
            let left = self.actors[i].streams.len();
            if left == 0 || !self.actors[i].is_ready() {
                break;
            }
            let at = self.random.below(left);
            self.finish(i, at)?;
        }
        Ok(())
    }

    /// The end of a request makes no store and cannot stall.
    fn finish(&mut self, i: usize, at: usize) -> Result<(), Broken> {
        let stream = self.actors[i].streams.swap_remove(at);
        let Some(worker) = self.actors[i].worker.as_mut() else { return Ok(()) };
        match worker.finish(stream) {
            Ok(()) => Ok(()),
            Err(error) => self.failed(i, "the end of a request", &error),
        }
    }

    /// Answers polls; all of them well if it is `prompt`.
    pub(crate) fn answer_some(&mut self, prompt: bool) -> Result<(), Broken> {
        for i in self.which(Actor::is_ready) {
            let calls = self.actors[i].worker.as_ref().map(|worker| worker.http_calls());
            for call in calls.unwrap_or_default() {
                let age = self.age(i, call.token);
                let answer = match () {
                    () if prompt => self.admin.well(),
                    () if age > POLL_TIMEOUT => Answer::timeout(),
                    () if self.random.percent(40) => continue,
                    () if self.scenario.has(Kind::Admin) && self.random.percent(40) => {
                        self.admin.badly(&mut self.random)
                    }
                    () => self.admin.well(),
                };
                let pause = if prompt { 0 } else { self.pause(15) };
                let (root, token) = (call.root, call.token);
                self.begin(i, Job::Answer { root, token, answer }, pause)?;
                if !self.actors[i].is_ready() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// How long a poll has waited, by when it was first seen.
    fn age(&mut self, i: usize, token: u32) -> u64 {
        let now = self.now();
        let asked = &mut self.actors[i].asked;
        if let Some((_, at)) = asked.iter().find(|(other, _)| *other == token) {
            return now.saturating_sub(*at);
        }
        asked.push((token, now));
        0
    }

    /// A stalled worker goes on, for a while or to its end, or traps where it stands.
    fn go_on(&mut self) -> Result<(), Broken> {
        let Some(i) = self.any(Actor::is_stalled) else { return Ok(()) };
        let traps = self.scenario.has(Kind::Trap) && self.random.percent(10);
        let how = if traps { Resume::Trap } else { Resume::Run(self.pause(50)) };
        self.resume(i, how)
    }

    /// Dead VMs are loaded anew, changed configurations arrive, old roots end.
    pub(crate) fn keep_house(&mut self) -> Result<(), Broken> {
        if let Some(i) = self.any(|actor| actor.is_dead && !actor.is_main) {
            return self.reload(i);
        }
        let Some(i) = self.any(Actor::is_ready) else { return Ok(()) };
        let pause = self.pause(15);
        self.house(i, pause)
    }

    /// One step towards the wanted configuration as the only one. Says in `false` that there is nothing left to do.
    pub(crate) fn house(&mut self, i: usize, pause: u64) -> Result<(), Broken> {
        let actor = &self.actors[i];
        let serving = actor.roots.last().map_or(0, |root| root.variant);
        if serving != actor.wanted && actor.roots.len() < MOST_ROOTS {
            let variant = actor.wanted;
            let text = self.scenario.variants[variant].text.clone();
            return self.begin(i, Job::AddRoot { variant, text }, pause);
        }
        if actor.roots.len() > 1 {
            let root = actor.roots[0].id;
            // Envoy ends a root when its listener has drained: no stream of it is left.
            while !self.actors[i].streams.is_empty() {
                self.finish(i, 0)?;
                if !self.actors[i].is_ready() {
                    return Ok(());
                }
            }
            return self.begin(i, Job::RemoveRoot { root }, pause);
        }
        Ok(())
    }
}
