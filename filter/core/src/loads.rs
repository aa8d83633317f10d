//! What one worker knows of each server's load: requests in flight, completions a second, requests sent.
//!
//! Indexed by [`LocalId`], which outlives plans: a request that began under one plan ends under another.

use std::collections::BTreeMap;

use crate::servers::{Address, Members};

/// A server as this worker numbers it, for as long as it is in the plan or has requests in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalId(u16);

impl LocalId {
    fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Below this a decaying number is nothing.
const FORGOTTEN: f32 = 1e-3;

/// Ticks that decay by steps of this length keep one half-life whatever the tick's jitter.
pub const DECAY_STEP_MS: u64 = 100;

/// What the path of a request touches, kept together and small.
#[derive(Clone, Copy, Debug, Default)]
struct Live {
    in_flight: u32,
    completed: u32,
    /// Seconds that one more request in flight adds, by Little's law.
    delay: f32,
    /// Requests sent, decayed.
    sent: f32,
}

/// What ticks alone touch.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    /// Decayed completions; in the steady state proportional to completions a second.
    completions: f32,
    /// Requests by home, decayed.
    homed: f32,
    /// In-flight counts added up over the samples of the current learning window.
    in_flight_sum: u32,
}

/// The loads of all servers that this worker has met and not yet forgotten.
#[derive(Clone, Debug, Default)]
pub struct Loads {
    live: Vec<Live>,
    past: Vec<Past>,
    by_address: BTreeMap<Address, LocalId>,
    free: Vec<LocalId>,
    samples: u32,
    /// Requests in flight to all servers, decayed like the completions.
    in_flight: f32,
    mean_time: f32,
}

impl Loads {
    /// Numbers the members of a new plan and forgets servers that are gone and idle.
    pub fn adopt(&mut self, members: &Members) -> Vec<LocalId> {
        self.forget_absent(members);
        self.start_window();
        members.servers().iter().map(|server| self.number(&server.address)).collect()
    }

    fn number(&mut self, address: &Address) -> LocalId {
        if let Some(&known) = self.by_address.get(address) {
            return known;
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.live.push(Live::default());
            self.past.push(Past::default());
            LocalId((self.live.len() - 1) as u16)
        });
        self.by_address.insert(address.clone(), id);
        id
    }

    fn forget_absent(&mut self, members: &Members) {
        let (live, past, free) = (&mut self.live, &mut self.past, &mut self.free);
        self.by_address.retain(|address, id| {
            let at = id.index();
            let keep = live[at].in_flight > 0 || members.find(address).is_some();
            if !keep {
                (live[at], past[at]) = (Live::default(), Past::default());
                free.push(*id);
            }
            keep
        });
    }

    /// A request goes to this server.
    #[inline]
    pub fn begin(&mut self, server: LocalId) {
        let load = &mut self.live[server.index()];
        load.in_flight += 1;
        load.sent += 1.0;
    }

    /// A request's home is this server, wherever it goes.
    #[inline]
    pub fn homed(&mut self, server: LocalId) {
        self.past[server.index()].homed += 1.0;
    }

    /// The request that [`Loads::begin`] counted is over.
    #[inline]
    pub fn finish(&mut self, server: LocalId) {
        let load = &mut self.live[server.index()];
        load.in_flight = load.in_flight.saturating_sub(1);
        load.completed += 1;
    }

    /// Requests of this worker that the server has not answered.
    #[inline]
    #[must_use]
    pub fn in_flight(&self, server: LocalId) -> u32 {
        self.live[server.index()].in_flight
    }

    /// Seconds that a new request would wait for those before it.
    #[inline]
    #[must_use]
    pub fn expected_wait(&self, server: LocalId) -> f32 {
        let load = &self.live[server.index()];
        load.in_flight as f32 * load.delay
    }

    /// Seconds that a request took of late, its waiting included.
    #[inline]
    #[must_use]
    pub fn mean_time(&self) -> f32 {
        self.mean_time
    }

    /// One decay step: folds the completions in and multiplies all decaying numbers by `factor`.
    pub fn decay(&mut self, factor: f32, current: &[LocalId]) {
        let settle = |value: f32| if value < FORGOTTEN { 0.0 } else { value };
        for (live, past) in self.live.iter_mut().zip(&mut self.past) {
            past.completions = settle((past.completions + live.completed as f32) * factor);
            past.homed = settle(past.homed * factor);
            live.sent = settle(live.sent * factor);
            live.completed = 0;
        }
        self.learn_delays(factor, current);
    }

    /// `wait = in_flight / rate`. A server that completes little may merely be asked little, so no rate
    /// counts for less than a quarter of the mean.
    fn learn_delays(&mut self, factor: f32, current: &[LocalId]) {
        let steps_per_second = 1000.0 / DECAY_STEP_MS as f32;
        let per_second = (1.0 - factor) / factor * steps_per_second;
        let sum: f32 = current.iter().map(|id| self.past[id.index()].completions).sum();
        let in_flight: u32 = current.iter().map(|id| self.live[id.index()].in_flight).sum();
        self.in_flight = (self.in_flight + in_flight as f32) * factor;
        let mean_in_flight = self.in_flight * (1.0 - factor) / factor;
        self.mean_time = if sum > 0.0 { mean_in_flight / (sum * per_second) } else { 0.0 };
        let floor = sum * per_second / current.len().max(1) as f32 / 4.0;
        for id in current {
            let rate = (self.past[id.index()].completions * per_second).max(floor);
            self.live[id.index()].delay = if rate > 0.0 { 1.0 / rate } else { 0.0 };
        }
    }

    /// Adds the present in-flight counts to the learning window.
    pub fn sample_in_flight(&mut self) {
        self.samples += 1;
        for (live, past) in self.live.iter().zip(&mut self.past) {
            past.in_flight_sum = past.in_flight_sum.saturating_add(live.in_flight);
        }
    }

    /// Samples taken since the window began.
    #[must_use]
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// Begins a new learning window.
    pub fn start_window(&mut self) {
        self.samples = 0;
        for past in &mut self.past {
            past.in_flight_sum = 0;
        }
    }

    /// Mean requests in flight over the window, of each given server.
    #[must_use]
    pub fn mean_in_flight(&self, servers: &[LocalId]) -> Vec<f32> {
        let samples = self.samples.max(1) as f32;
        let mean = |id: &LocalId| self.past[id.index()].in_flight_sum as f32 / samples;
        servers.iter().map(mean).collect()
    }

    /// Decayed requests sent, of each given server.
    #[must_use]
    pub fn sent(&self, servers: &[LocalId]) -> Vec<f32> {
        servers.iter().map(|id| self.live[id.index()].sent).collect()
    }

    /// Decayed requests by home, of each given server.
    #[must_use]
    pub fn homes(&self, servers: &[LocalId]) -> Vec<f32> {
        servers.iter().map(|id| self.past[id.index()].homed).collect()
    }
}
