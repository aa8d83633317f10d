//! What goes wrong.

use rudolph_core::config::Config;
use rudolph_mock_host::{Configuration, Hostcall, Status, WorkerError, try_configuration};

use crate::actor::Actor;
use crate::broken::Broken;
use crate::scenario::Kind;
use crate::world::{MS, World};

/// Host calls that may fail: all that the module makes.
const CALLS: [Hostcall; 14] = [
    Hostcall::GetCurrentTimeNanoseconds,
    Hostcall::GetSharedData,
    Hostcall::SetSharedData,
    Hostcall::HttpCall,
    Hostcall::SetTickPeriodMilliseconds,
    Hostcall::DefineMetric,
    Hostcall::GetMetric,
    Hostcall::RecordMetric,
    Hostcall::IncrementMetric,
    Hostcall::Log,
    Hostcall::GetBufferBytes,
    Hostcall::GetHeaderMapValue,
    Hostcall::ReplaceHeaderMapValue,
    Hostcall::RemoveHeaderMapValue,
];

const STATUSES: [Status; 11] = [
    Status::NotFound,
    Status::BadArgument,
    Status::SerializationFailure,
    Status::ParseFailure,
    Status::InvalidMemoryAccess,
    Status::Empty,
    Status::CasMismatch,
    Status::ResultMismatch,
    Status::InternalFailure,
    Status::BrokenConnection,
    Status::Unimplemented,
];

const UNSOUND: [&str; 5] = [
    "",
    "{}",
    r#"{"key":[],"membership":{"source":"static","servers":[]}}"#,
    r#"{"strategy":"sprad","key":["path"],"membership":{"source":"static","servers":[]}}"#,
    r#"{"key":["path"],"membership":{"source":"envoy_admin","cluster":"a","admin_cluster":"b"},"owners":0}"#,
];

impl World<'_> {
    pub(crate) fn fault(&mut self) -> Result<(), Broken> {
        if self.scenario.kinds.is_empty() {
            return Ok(());
        }
        let kind = self.random.pick(&self.scenario.kinds.clone());
        match kind {
            Kind::Stall | Kind::Tick => {
                self.leap();
                Ok(())
            }
            Kind::Trap => {
                self.trap();
                Ok(())
            }
            Kind::Status => {
                self.status();
                Ok(())
            }
            Kind::Clock => {
                self.clock();
                Ok(())
            }
            Kind::Damage => {
                self.damage();
                Ok(())
            }
            Kind::Admin | Kind::Flap => {
                if self.scenario.has(Kind::Flap) {
                    self.say(|| "the servers change".into());
                    self.admin.flap(&mut self.random);
                }
                Ok(())
            }
            Kind::Reload => self.reconfigure(),
            Kind::Restart => self.restart(),
        }
    }

    /// Time passes in which nothing is done; a stalled worker misses it.
    fn leap(&mut self) {
        if self.random.percent(60) {
            return;
        }
        let ms = self.random.pick(&[150, 400, 1_000, 3_000, 6_000, 11_000, 61_000, 130_000]);
        self.say(|| format!("{ms} ms pass"));
        self.advance(ms * MS);
    }

    fn trap(&mut self) {
        let Some(i) = self.any(Actor::is_ready) else { return };
        let calls = 1 + self.random.below(60) as u64;
        self.say(|| format!("worker {i} will trap at its host call {calls}"));
        if let Some(worker) = &mut self.actors[i].worker {
            worker.trap_after_hostcalls(calls);
        }
    }

    /// A host call fails from now on; or what failed works again.
    fn status(&mut self) {
        let Some(i) = self.any(Actor::is_ready) else { return };
        if self.actors[i].failing.is_some() {
            return self.heal(i);
        }
        let (hostcall, status) = (self.random.pick(&CALLS), self.random.pick(&STATUSES));
        // That a key is absent which is there would be no failure but a lie.
        if (hostcall, status) == (Hostcall::GetSharedData, Status::NotFound) {
            return;
        }
        self.say(|| format!("worker {i}: {} fails with {status:?}", hostcall.name()));
        let actor = &mut self.actors[i];
        actor.failing = Some(hostcall);
        if let Some(worker) = &mut actor.worker {
            worker.fail_hostcalls(hostcall, status, u64::MAX);
        }
    }

    pub(crate) fn heal(&mut self, i: usize) {
        let actor = &mut self.actors[i];
        if let (Some(hostcall), Some(worker)) = (actor.failing.take(), &mut actor.worker) {
            worker.fail_hostcalls(hostcall, Status::Ok, 0);
            self.say(|| format!("worker {i}: {} works again", hostcall.name()));
        }
    }

    fn clock(&mut self) {
        let Some(i) = self.any(|actor| !actor.is_stalled()) else { return };
        let what = self.random.below(6);
        let ms = self.random.pick(&[1, 50, 250, 900, 4_000, 12_000, 70_000, 3_600_000]);
        let ppm = self.random.pick(&[-200_000, -1_000, 1_000, 50_000, 500_000]);
        self.say(|| format!("worker {i}: its clock gets fault {what} ({ms} ms or {ppm} ppm)"));
        let Some(worker) = &mut self.actors[i].worker else { return };
        let clock = worker.clock();
        match what {
            0 => clock.jump_nanos(ms * MS as i64),
            1 => clock.jump_nanos(-ms * MS as i64),
            2 => clock.set_drift_ppm(ppm),
            3 | 4 => clock.freeze(),
            _ => clock.thaw(),
        }
    }

    /// All clocks show the host's time again.
    pub(crate) fn set_clock(&mut self, i: usize) {
        let now = self.now();
        let Some(worker) = &mut self.actors[i].worker else { return };
        let clock = worker.clock();
        clock.thaw();
        clock.set_drift_ppm(0);
        clock.jump_nanos(now as i64 - clock.nanos() as i64);
    }

    /// A shared value is cut, flipped, emptied, exchanged or overwritten.
    fn damage(&mut self) {
        let data = self.host.shared_data().clone();
        let keys = data.keys();
        if keys.is_empty() {
            return;
        }
        let key = keys[self.random.below(keys.len())].clone();
        let mut value = data.get(&key).unwrap_or_default();
        let what = self.random.below(5);
        match what {
            0 => value.truncate(self.random.below(value.len())),
            1 if !value.is_empty() => {
                let at = self.random.below(value.len());
                value[at] ^= 1 << self.random.below(8);
            }
            2 => value = (0..self.random.below(200)).map(|_| self.random.next() as u8).collect(),
            3 => value = data.get(&keys[self.random.below(keys.len())]).unwrap_or_default(),
            _ => value.clear(),
        }
        if data.get(&key).as_ref() == Some(&value) {
            return;
        }
        let name = String::from_utf8_lossy(&key).into_owned();
        self.say(|| format!("{name} is damaged ({what})"));
        if self.random.percent(50) {
            data.put_raw(&key, &value);
        } else {
            data.corrupt(&key, |bytes| *bytes = value);
        }
        self.watch.damaged(&name);
    }

    /// A new configuration: tried in a VM of its own, then wanted by all.
    fn reconfigure(&mut self) -> Result<(), Broken> {
        if self.random.percent(25) {
            let text = self.random.pick(&UNSOUND);
            let refused = Config::from_json(text.as_bytes()).is_err();
            return match try_configuration(self.module, &self.host, &Configuration::plugin(text)) {
                Err(WorkerError::ConfigureRefused) if refused => {
                    self.host.log().take();
                    Ok(())
                }
                Ok(()) => Err(Broken::UnsoundTaken),
                Err(error) => Err(Broken::Worker { worker: 0, error }),
            };
        }
        self.variant = self.random.below(self.scenario.variants.len());
        let (variant, text) = (self.variant, self.scenario.variants[self.variant].text.clone());
        self.say(|| format!("configuration {variant} is delivered"));
        try_configuration(self.module, &self.host, &Configuration::plugin(text))
            .map_err(|error| Broken::Worker { worker: 0, error })?;
        for actor in &mut self.actors {
            actor.wanted = variant;
        }
        Ok(())
    }

    /// All workers end, in good order or not, and with the last of them the shared data.
    fn restart(&mut self) -> Result<(), Broken> {
        if self.random.percent(80) || self.any(Actor::is_stalled).is_some() {
            return Ok(());
        }
        let orderly = self.random.percent(50);
        self.say(|| format!("all workers end{}", if orderly { "" } else { " at once" }));
        for i in 0..self.actors.len() {
            let actor = &mut self.actors[i];
            let wrote = orderly && !actor.is_dead && actor.failing.is_none();
            let Some(mut worker) = actor.worker.take() else { continue };
            worker.trap_after_hostcalls(0);
            if orderly && !actor.is_dead {
                worker.shut_down().map_err(|error| Broken::Worker { worker: i, error })?;
            }
            if !wrote && !actor.is_dead {
                actor.roots.iter().for_each(|root| self.books.lost(&root.unwritten));
            }
        }
        self.actors.clear();
        self.host.shared_data().take_journal();
        if !self.host.shared_data().keys().is_empty() {
            let (value, bound) = (self.host.shared_data().total_bytes(), 0);
            let what = "shared data after the last VM".into();
            return Err(Broken::Grown { what, value, bound });
        }
        self.watch.forget();
        self.start_workers()
    }
}
