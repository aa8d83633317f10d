//! One gateway: its workers, its shared data, its admin interface. Jobs begin, pause and end here, and whatever they
//! stored or answered is judged at once.

use std::time::Duration;

use rudolph_mock_host::{
    Configuration, FilterModule, Host, Hostcall, LogLevel, TrapReason, Worker, WorkerError,
};

use crate::actor::{Actor, Root};
use crate::admin::Admin;
use crate::books::{Books, Counts, PLANS};
use crate::broken::Broken;
use crate::history::History;
use crate::job::{Job, Ran};
use crate::lane::{Event, Lane, Resume};
use crate::oracle::Oracle;
use crate::random::Random;
use crate::scenario::{Kind, Scenario};
use crate::watch::{AtWork, Watch, Writer};

pub(crate) const MS: u64 = 1_000_000;

/// An ordinary wall time, in nanoseconds.
const START_NANOS: u64 = 1_700_000_000_000_000_000;

/// A new root ticks this soon.
const FIRST_TICK: u64 = 20 * MS;

pub(crate) struct World<'a> {
    pub(crate) module: &'a FilterModule,
    pub(crate) scenario: Scenario,
    pub(crate) random: Random,
    pub(crate) host: Host,
    pub(crate) actors: Vec<Actor>,
    pub(crate) admin: Admin,
    pub(crate) watch: Watch,
    pub(crate) books: Books,
    pub(crate) history: History,
    /// The configuration in force.
    pub(crate) variant: usize,
    pub(crate) oracle: Oracle,
    /// The worker that has the number 0 on the host; after a restart numbers go on.
    first_number: u32,
}

impl<'a> World<'a> {
    pub(crate) fn new(
        module: &'a FilterModule,
        scenario: Scenario,
        mut random: Random,
        history: History,
    ) -> Result<Self, Broken> {
        let host = Host::new();
        host.clock().set_nanos(START_NANOS);
        host.log().set_level(LogLevel::Critical);
        host.shared_data().keep_journal();
        let admin = Admin::new(&mut random);
        let watch = Watch::new(&scenario.variants);
        let mut world = Self {
            module,
            scenario,
            random,
            host,
            actors: Vec::new(),
            admin,
            watch,
            books: Books::default(),
            history,
            variant: 0,
            oracle: Oracle::default(),
            first_number: 0,
        };
        world.start_workers()?;
        Ok(world)
    }

    /// A VM of the main thread, which gets no requests, and one of each worker thread.
    pub(crate) fn start_workers(&mut self) -> Result<(), Broken> {
        let due = self.host.clock().nanos() + FIRST_TICK;
        let text = self.scenario.variants[self.variant].text.clone();
        for number in 0..=self.scenario.workers {
            let worker = Worker::start(self.module, &self.host, &Configuration::plugin(&text))
                .map_err(|error| Broken::Worker { worker: number, error })?;
            if number == 0 {
                self.first_number = worker.number();
            }
            self.actors.push(Actor::new(worker, self.variant, due, number == 0));
        }
        Ok(())
    }

    pub(crate) fn now(&self) -> u64 {
        self.host.clock().nanos()
    }

    pub(crate) fn say(&mut self, text: impl FnOnce() -> String) {
        let now = self.host.clock().nanos().saturating_sub(START_NANOS) / MS;
        self.history.add(|| format!("{now:>8} ms  {}", text()));
    }

    /// Actors that this holds for.
    pub(crate) fn which(&self, holds: impl Fn(&Actor) -> bool) -> Vec<usize> {
        (0..self.actors.len()).filter(|i| holds(&self.actors[*i])).collect()
    }

    pub(crate) fn any(&mut self, holds: impl Fn(&Actor) -> bool) -> Option<usize> {
        let found = self.which(holds);
        (!found.is_empty()).then(|| self.random.pick(&found))
    }

    /// How many host calls from now a worker pauses; 0: not at all.
    pub(crate) fn pause(&mut self, chance: usize) -> u64 {
        let stalls = self.scenario.has(Kind::Stall) && self.random.percent(chance);
        if stalls { 1 + self.random.below(70) as u64 } else { 0 }
    }

    /// Begins a job; it ends at once unless it is to pause and does.
    pub(crate) fn begin(&mut self, i: usize, job: Job, pause_after: u64) -> Result<(), Broken> {
        self.say(|| {
            let pause =
                if pause_after > 0 { format!(", to call {pause_after}") } else { String::new() };
            format!("worker {i} {}{pause}", job.text())
        });
        let began = self.watch.stores();
        let actor = &mut self.actors[i];
        let Some(mut worker) = actor.worker.take() else {
            return Ok(());
        };
        let errand = job.errand();
        actor.job = Some((job, began));
        let event = if pause_after == 0 {
            let ran = errand(&mut worker);
            Some(Event::Done(worker, ran))
        } else {
            let lane = actor.lane.get_or_insert_with(|| Lane::new(&mut worker));
            lane.run(worker, errand, pause_after)
        };
        self.after(i, event)
    }

    pub(crate) fn resume(&mut self, i: usize, how: Resume) -> Result<(), Broken> {
        self.say(|| format!("worker {i} goes on: {how:?}"));
        let event = self.actors[i].lane.as_ref().and_then(|lane| lane.resume(how));
        self.after(i, event)
    }

    fn after(&mut self, i: usize, event: Option<Event>) -> Result<(), Broken> {
        match event {
            None => Err(Broken::Thread { worker: i }),
            Some(Event::Paused(hostcall)) => {
                self.say(|| format!("worker {i} stalls before {}", hostcall.name()));
                self.judge_stores(i)
            }
            Some(Event::Done(worker, ran)) => {
                self.actors[i].worker = Some(worker);
                self.judge_stores(i)?;
                match self.actors[i].job.take() {
                    Some((job, _)) => self.conclude(i, &job, ran),
                    None => Ok(()),
                }
            }
        }
    }

    fn writer(&self, i: usize, job: &Job) -> Writer {
        let actor = &self.actors[i];
        let root = match job {
            Job::Tick { root } | Job::Answer { root, .. } | Job::Request { root, .. } => *root,
            Job::RemoveRoot { root } => *root,
            Job::AddRoot { .. } => 0,
        };
        Writer { worker: i, generation: actor.generation, root }
    }

    fn judge_stores(&mut self, i: usize) -> Result<(), Broken> {
        let Some((job, began)) = self.actors[i].job.clone() else { return Ok(()) };
        let writer = self.writer(i, &job);
        let living = self.actors.iter().filter(|actor| !actor.is_dead);
        let followed = living.flat_map(|actor| &actor.roots).map(|root| root.version);
        let newest_followed = followed.max().unwrap_or(0);
        for write in self.host.shared_data().take_journal() {
            let who = AtWork { writer, lesson: job.lesson(), began, newest_followed };
            self.history
                .add(|| format!("             stores {}", String::from_utf8_lossy(&write.key)));
            if self.watch.see(&write, &who)? {
                self.books.made(PLANS);
                if let Some(root) = self.actors[i].root(writer.root) {
                    root.unwritten[PLANS] += 1;
                }
            }
        }
        let logged = self.host.log().take().pop();
        logged.map_or(Ok(()), |line| Err(Broken::Logged(line.message)))
    }

    fn conclude(&mut self, i: usize, job: &Job, ran: Ran) -> Result<(), Broken> {
        if let Some(error) = ran.error() {
            return self.failed(i, &job.text(), error);
        }
        let now = self.now();
        match (job, ran) {
            (Job::Tick { root }, _) => self.ticked(i, *root, now),
            (Job::Request { root, key, spoofs }, Ran::Stream(Ok(stream))) => {
                self.judge_request(i, *root, key.as_deref(), *spoofs, &stream)?;
                self.actors[i].streams.push(stream);
            }
            (Job::AddRoot { variant, .. }, Ran::Root(Ok(id))) => {
                self.actors[i].roots.push(Root::new(id, *variant, now + FIRST_TICK));
            }
            (Job::Answer { root, answer, .. }, _) => {
                if let (Some(root), Some(lesson)) = (self.actors[i].root(*root), &answer.lesson) {
                    root.taught = Some(lesson.clone());
                }
            }
            (Job::RemoveRoot { root }, _) => self.removed(i, *root),
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn failed(
        &mut self,
        i: usize,
        what: &str,
        error: &WorkerError,
    ) -> Result<(), Broken> {
        match error {
            WorkerError::Trapped { reason: TrapReason::Injected, .. } => {
                self.died(i);
                Ok(())
            }
            WorkerError::ConfigureRefused if self.actors[i].failing.is_some() => {
                self.say(|| format!("worker {i} refuses, for a host call failed"));
                Ok(())
            }
            // The request that brought a poll's answer may be gone with the root that asked.
            WorkerError::UnknownToken { .. } => Ok(()),
            _ => {
                self.say(|| format!("worker {i} failed: {what}"));
                Err(Broken::Worker { worker: i, error: error.clone() })
            }
        }
    }

    fn died(&mut self, i: usize) {
        self.say(|| format!("worker {i} traps"));
        let actor = &mut self.actors[i];
        actor.is_dead = true;
        actor.failing = None;
        actor.asked.clear();
        for root in &actor.roots {
            self.books.lost(&root.unwritten);
        }
    }

    fn ticked(&mut self, i: usize, root: u32, now: u64) {
        let actor = &mut self.actors[i];
        let period = actor.worker.as_ref().and_then(|worker| worker.tick_period(root));
        let failing = actor.failing.is_some();
        let shut_out = actor.failing == Some(Hostcall::SetSharedData);
        if let Some(root) = actor.root(root) {
            root.shut_out |= shut_out;
            root.due = now + period.map_or(100 * MS, |period| period.as_nanos() as u64);
            if !failing {
                root.unwritten = Counts::default();
            }
        }
    }

    fn removed(&mut self, i: usize, id: u32) {
        let failing = self.actors[i].failing.is_some();
        for root in self.actors[i].roots.extract_if(.., |root| root.id == id) {
            if failing {
                self.books.lost(&root.unwritten);
            }
        }
    }

    /// Envoy makes a dead VM anew at its next request.
    pub(crate) fn reload(&mut self, i: usize) -> Result<(), Broken> {
        self.say(|| format!("worker {i} is loaded anew"));
        let due = self.now() + FIRST_TICK;
        let actor = &mut self.actors[i];
        let Some(worker) = actor.worker.as_mut() else { return Ok(()) };
        worker.reload().map_err(|error| Broken::Worker { worker: i, error })?;
        let variant = actor.roots.last().map_or(0, |root| root.variant);
        actor.roots = vec![Root::new(worker.root(), variant, due)];
        actor.generation += 1;
        actor.is_dead = false;
        actor.streams.clear();
        Ok(())
    }

    pub(crate) fn advance(&self, nanos: u64) {
        self.host.clock().advance(Duration::from_nanos(nanos));
    }
}
