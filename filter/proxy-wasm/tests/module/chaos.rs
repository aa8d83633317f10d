//! Everything at once, by chance: whatever happens, plans never fork or go back, nothing traps, and once it is
//! quiet all agree again.

use rudolph_mock_host::WorkerError;

use crate::common::admin::{Answer, Endpoint};
use crate::common::{Gateway, ONE_OWNER, Random, STRATEGIES, Setup, address};

const STEPS: usize = 1000;

struct Chaos {
    random: Random,
    gateway: Gateway,
    still: Vec<usize>,
}

impl Chaos {
    fn new(seed: u64, strategy: &str) -> Self {
        let setup = Setup::admin().strategy(strategy);
        Self { random: Random::of(seed), gateway: Gateway::start(4, &setup), still: Vec::new() }
    }

    fn any_worker(&self) -> usize {
        self.random.below(self.gateway.workers.len())
    }

    fn load(&mut self) {
        for _ in 0..self.random.below(40) {
            let worker = self.any_worker();
            self.gateway.request(worker, &self.random.key(300));
        }
    }

    /// A worker dies at some host call of its next tick and comes back.
    fn dies(&mut self) {
        let worker = self.any_worker();
        self.gateway.workers[worker].trap_after_hostcalls(1 + self.random.below(40) as u64);
        match self.gateway.try_tick(worker) {
            Ok(()) => self.gateway.workers[worker].trap_after_hostcalls(0),
            Err(WorkerError::Trapped { .. }) => self.gateway.reload(worker),
            Err(other) => panic!("{other}"),
        }
    }

    fn servers_change(&mut self) {
        let count = self.random.below(8);
        let endpoint = |_| Endpoint::healthy(&address(self.random.below(8)));
        self.gateway.admin.endpoints = (0..count).map(endpoint).collect();
    }

    fn answers_change(&mut self) {
        let answers =
            [Answer::Well, Answer::Well, Answer::Status("503"), Answer::Failed, Answer::Never];
        self.gateway.admin.answer = answers[self.random.below(answers.len())].clone();
    }

    fn a_value_breaks(&mut self) {
        let keys = self.gateway.host.shared_data().keys();
        let Some(key) = keys.get(self.random.below(keys.len().max(1))) else { return };
        let mut bytes = self.gateway.host.shared_data().get(key).unwrap_or_default();
        bytes.truncate(self.random.below(bytes.len() + 1));
        if let Some(byte) = bytes.last_mut() {
            *byte ^= 1;
        }
        self.gateway.host.shared_data().put_raw(key, &bytes);
        self.gateway.watch.overlook(&self.gateway.host);
    }

    fn step(&mut self) {
        self.load();
        match self.random.below(60) {
            0 => self.dies(),
            1 => self.servers_change(),
            2 => self.answers_change(),
            3 => self.a_value_breaks(),
            4 => self.still = vec![self.any_worker()],
            5 => self.still.clear(),
            6 => self.gateway.advance_ms(self.random.below(20_000) as u64),
            7 if self.gateway.workers.len() < 8 => self.gateway.add_worker(),
            _ => {}
        }
        let still = self.still.clone();
        self.gateway.tick_all_but(&still);
    }

    /// Quiet: all comes to rest.
    fn rest(&mut self) {
        self.gateway.admin.answer = Answer::Well;
        self.gateway.admin.endpoints = (0..5).map(|i| Endpoint::healthy(&address(i))).collect();
        self.gateway.tick_rounds(150);
        self.gateway.agreed_version();
        let workers = self.gateway.workers.len();
        assert_eq!(self.gateway.shared().living(), workers);
        let keys = (0..50).map(|i| format!("key-{i}"));
        for key in keys {
            let routed: Vec<_> =
                (0..workers).map(|worker| self.gateway.request(worker, &key).owners).collect();
            assert!(routed.iter().all(|owners| owners.len() == 3 && *owners == routed[0]), "{key}");
        }
        assert_eq!(self.gateway.counter("plans_refused"), 0);
        let slots = self.gateway.shared().slots().len();
        assert!(slots < 32, "{slots} slots for {workers} workers");
    }
}

#[test]
fn whatever_happens_all_agree_again() {
    for strategy in STRATEGIES {
        for seed in 0..2 {
            let mut chaos = Chaos::new(0xc4a05 + seed, strategy);
            for _ in 0..STEPS {
                chaos.step();
            }
            chaos.rest();
        }
    }
}

/// While nobody dies or stalls, a key has one owner whenever one looks, whatever the servers do.
#[test]
fn with_one_owner_a_key_has_one_while_servers_come_and_go() {
    for strategy in ONE_OWNER {
        let mut chaos = Chaos::new(0x07e0, strategy);
        for _ in 0..400 {
            chaos.load();
            match chaos.random.below(15) {
                0 => chaos.servers_change(),
                1 => chaos.answers_change(),
                _ => {}
            }
            for worker in 0..4 {
                chaos.gateway.advance_ms(25);
                chaos.gateway.tick(worker);
                for key in ["key-1", "key-2", "key-77"] {
                    let routed: Vec<_> =
                        (0..4).map(|worker| chaos.gateway.request(worker, key)).collect();
                    let same = routed.iter().all(|other| other.owners == routed[0].owners);
                    assert!(same, "{strategy}, {key}: {routed:?}");
                }
            }
        }
    }
}
