//! The engine: virtual time in nanoseconds, and what happens in it.
//!
//! A request arrives at a worker, which chooses a server ([`crate::balancer`]); there it takes a slot or waits
//! ([`farm`]), finds its key in the cache or not ([`lru`]), is served for a noisy while ([`noise`]) and leaves. Times of
//! completions and all else that is known ahead wait in [`events`]; [`membership`] takes servers away and brings them
//! back; [`meter`] looks on.

mod events;
mod farm;
mod keys;
mod lru;
mod membership;
mod meter;
mod moves;
mod noise;
mod slab;

use rudolph_workload::{Operation, SplitMix64};

use crate::balancer::Balancer;
use crate::scenario::Scenario;
use events::{Event, Events};
use farm::{Farm, RequestId};
pub(crate) use keys::{Hashes, Keys, hashes_of};
pub(crate) use lru::hit_share;
use meter::Meter;
pub use meter::{Measured, Second};
use moves::Moves;
use noise::{Noise, exponential};
use slab::{Request, Slab, State};

const SECOND_NS: u64 = 1_000_000_000;

/// Tries of a request on servers that are gone before it fails.
const MOST_TRIES: u32 = 3;

/// A client whose request failed waits so long.
const PAUSE_NS: u64 = 100_000_000;

/// One run: a scenario, a seed, a strategy.
pub(crate) struct Engine<'a, B: Balancer> {
    scenario: &'a Scenario,
    balancer: B,
    keys: Keys,
    now_ns: u64,
    end_ns: u64,
    events: Events,
    requests: Slab<B::Ticket>,
    farm: Farm,
    meter: Meter,
    moves: Moves,
    hit_noise: Noise,
    miss_noise: Noise,
    /// By key, where keys differ in cost.
    costs: Vec<f32>,
    arrivals: SplitMix64,
    placing: SplitMix64,
    closed: bool,
    /// One queue and one cache for all: only a free slot says which server serves.
    pooled: bool,
    wakes: Vec<(u64, u32)>,
}

impl<'a, B: Balancer> Engine<'a, B> {
    pub(crate) fn new(
        scenario: &'a Scenario,
        seed: u64,
        keys: Keys,
        balancer: B,
        pooled: bool,
    ) -> Result<Self, hdrhistogram::CreationError> {
        let rng = |purpose| SplitMix64::for_purpose(seed, purpose);
        let (servers, count) = (&scenario.servers, keys.hashes().len());
        let alive = scenario.first_alive();
        let mut cost = Noise::new(servers.key_cost_sigma, rng(15));
        let priced = servers.key_cost_sigma > 0.0;
        Ok(Self {
            farm: Farm::new(servers, count, &alive, pooled),
            meter: Meter::new(servers.count)?,
            moves: Moves::new(keys.hashes(), seed),
            costs: (0..if priced { count } else { 0 }).map(|_| cost.factor() as f32).collect(),
            hit_noise: Noise::new(servers.sigma, rng(10)),
            miss_noise: Noise::new(servers.sigma, rng(11)),
            arrivals: rng(12),
            placing: rng(13),
            closed: scenario.arrivals.clients.is_some(),
            pooled,
            end_ns: nanoseconds(scenario.warmup_s + scenario.seconds),
            scenario,
            balancer,
            keys,
            now_ns: 0,
            events: Events::default(),
            requests: Slab::default(),
            wakes: Vec::new(),
        })
    }

    /// Runs to the end.
    pub(crate) fn run(mut self) -> Measured {
        self.begin();
        let rate = self.scenario.arrivals.open_rps.unwrap_or(0.0);
        let mut arrival_ns = self.next_arrival(rate);
        loop {
            let event_ns = self.events.next_ns();
            self.now_ns = event_ns.min(arrival_ns);
            if self.now_ns > self.end_ns {
                return self.end();
            }
            if arrival_ns < event_ns {
                arrival_ns = self.next_arrival(rate);
                let worker = self.placing.next_below(self.scenario.workers() as u64) as u32;
                self.arrive(worker);
            } else if let Some(event) = self.events.pop() {
                self.happen(event);
            }
        }
    }

    fn begin(&mut self) {
        let alive = self.scenario.first_alive();
        self.balancer.hear(&alive);
        self.balancer.begin(&mut self.wakes);
        self.schedule_wakes();
        for (number, event) in self.scenario.events.iter().enumerate() {
            let at_ns = nanoseconds(event.at_s);
            let heard_ns = at_ns + nanoseconds(self.scenario.gateways.detection_ms / 1e3);
            self.events.push(at_ns, Event::Membership(number as u32));
            self.events.push(heard_ns, Event::Heard(number as u32));
        }
        self.events.push(nanoseconds(self.scenario.warmup_s), Event::Window);
        let workers = self.scenario.workers() as u32;
        for client in 0..self.scenario.arrivals.clients.unwrap_or(0) {
            // Not all at once, and not before the workers have begun.
            let at_ns = PAUSE_NS + self.arrivals.next_below(PAUSE_NS);
            self.events.push(at_ns, Event::Client(client % workers));
        }
    }

    fn end(mut self) -> Measured {
        let keys = self.keys.hashes().len();
        self.meter.measured.seconds = self.scenario.seconds;
        self.meter.measured.copies = self.farm.copies_a_key(keys);
        self.meter.measured.moved_keys = self.moves.keys_moved(keys);
        self.meter.measured.unfinished = self.requests.live() as u64;
        self.meter.measured.runs = 1;
        self.meter.measured
    }

    fn next_arrival(&mut self, rate: f64) -> u64 {
        if rate <= 0.0 {
            return u64::MAX;
        }
        self.now_ns + (exponential(&mut self.arrivals) * 1e9 / rate) as u64
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Completion(request) => self.complete(request),
            Event::Client(worker) => self.arrive(worker),
            Event::Wake(token) => {
                self.balancer.wake(self.now_ns, token, &mut self.wakes);
                self.schedule_wakes();
            }
            Event::Window => self.close_second(),
            Event::Membership(number) => self.change(number),
            Event::Heard(number) => self.hear(number),
        }
    }

    fn schedule_wakes(&mut self) {
        for (at_ns, token) in self.wakes.drain(..) {
            self.events.push(at_ns, Event::Wake(token));
        }
    }

    fn close_second(&mut self) {
        let alive = (0..self.scenario.servers.count as u32).filter(|&s| self.farm.is_alive(s));
        self.meter.close_second(alive.count());
        self.moves.look(&mut self.balancer, self.meter.active);
        self.meter.active = true;
        self.events.push(self.now_ns + SECOND_NS, Event::Window);
    }

    #[inline]
    fn arrive(&mut self, worker: u32) {
        let asked = self.keys.next(self.now_ns);
        let born_ns = self.now_ns;
        self.send(born_ns, worker, asked);
    }

    fn send(&mut self, born_ns: u64, worker: u32, (key, operation): (u32, Operation)) {
        let chosen = self.balancer.choose(self.now_ns, worker, self.keys.hash(key));
        let Some((server, ticket)) = chosen else {
            return self.fail(worker);
        };
        // The bound's queue is everywhere: there is no server that could be the wrong one.
        let reached = if self.pooled { Some(server) } else { self.reach(worker, server) };
        let Some(server) = reached else {
            self.balancer.finish(worker, ticket);
            return self.fail(worker);
        };
        let state = State::Waiting;
        let request = Request { born_ns, worker, key, operation, server, state, ticket };
        let request = self.requests.insert(request);
        if !self.pooled {
            self.meter.sent(server);
        }
        if let Some(server) = self.farm.arrive(server, request) {
            self.start(server, request);
        }
    }

    /// The chosen server, or, if it is gone, the next that is there.
    #[inline]
    fn reach(&mut self, worker: u32, mut server: u32) -> Option<u32> {
        let mut attempt = 0;
        while !self.farm.is_alive(server) {
            attempt += 1;
            if attempt == MOST_TRIES {
                return None;
            }
            self.meter.retried();
            server = self.balancer.retry(worker, attempt)?;
        }
        Some(server)
    }

    fn fail(&mut self, worker: u32) {
        self.meter.failed();
        if self.closed {
            self.events.push(self.now_ns + PAUSE_NS, Event::Client(worker));
        }
    }

    #[inline]
    fn start(&mut self, server: u32, id: RequestId) {
        if self.pooled {
            self.meter.sent(server);
        }
        let request = &mut self.requests[id];
        request.server = server;
        // A write goes to the database whatever the cache holds, and leaves the key in the cache.
        let reads = request.operation == Operation::Read;
        let hit = reads && self.farm.touch(server, request.key);
        request.state = if hit { State::Hit } else { State::Miss };
        let config = &self.scenario.servers;
        let mut ms = config.hit_ms * self.hit_noise.factor();
        if !hit {
            ms += config.miss_ms * self.miss_noise.factor();
        }
        if let Some(cost) = self.costs.get(request.key as usize) {
            ms *= f64::from(*cost);
        }
        let service_ns = (ms * self.farm.slowness(server) * 1e6) as u64;
        if reads {
            self.meter.looked_up(hit);
        }
        self.events.push(self.now_ns + service_ns, Event::Completion(id));
    }

    fn complete(&mut self, id: RequestId) {
        let request = self.requests.remove(id);
        if request.state == State::Lost {
            return;
        }
        if request.state == State::Miss {
            self.farm.fill(request.server, request.key);
        }
        self.balancer.finish(request.worker, request.ticket);
        self.meter.answered(self.now_ns - request.born_ns);
        if let Some(next) = self.farm.leave(request.server) {
            self.start(request.server, next);
        }
        if self.closed {
            self.arrive(request.worker);
        }
    }
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}
