//! Clients that each ask, wait for the answer and ask again, for a set time.

use std::io;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use rudolph_experiments::redis::Command;

use crate::contender::Contender;
use crate::servers::{Servers, Spent};

pub(crate) const CLIENTS: [usize; 2] = [1, 10];
pub(crate) const KEYS: [usize; 4] = [10, 100, 1_000, 10_000];
const VALUE_BYTES: usize = 128;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) rounds: usize,
    time: Duration,
}

/// What is asked in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) contender: Contender,
    pub(crate) command: Command,
    pub(crate) keys: usize,
    pub(crate) clients: usize,
}

/// What one run measured; times are microseconds of processors a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) requests: u64,
    pub(crate) seconds: f64,
    pub(crate) rps: f64,
    pub(crate) spent_us: Spent,
}

impl Load {
    pub(crate) fn of(quick: bool, rounds: Option<u8>) -> Self {
        let (usual, ms) = if quick { (1, 60) } else { (5, 1_500) };
        Self { rounds: rounds.map_or(usual, usize::from), time: Duration::from_millis(ms) }
    }

    /// Puts every key where it belongs, so that reads find it.
    pub(crate) fn fill(&self, servers: &Servers, contender: Contender) -> io::Result<()> {
        let mut client = servers.client(contender)?;
        let most = KEYS.iter().copied().max().unwrap_or(0);
        (0..most).try_for_each(|i| client.ask(Command::Set, &key(i), &value(&key(i))))
    }

    pub(crate) fn run(&self, servers: &Servers, case: Case) -> io::Result<Figures> {
        let barrier = Barrier::new(case.clients + 1);
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..case.clients)
                .map(|number| {
                    let barrier = &barrier;
                    scope.spawn(move || one_client(servers, case, number, self.time, barrier))
                })
                .collect();
            barrier.wait();
            let (before, began) = (servers.spent(case.contender), Instant::now());
            let failed = |_| io::Error::other("a client panicked");
            let counts: Vec<io::Result<u64>> = clients
                .into_iter()
                .map(|client| client.join().map_err(failed).and_then(|count| count))
                .collect();
            let (seconds, after) = (began.elapsed().as_secs_f64(), servers.spent(case.contender));
            let requests = counts.into_iter().sum::<io::Result<u64>>()?;
            let each = |after: f64, before: f64| (after - before) * 1e6 / requests.max(1) as f64;
            let spent_us = Spent {
                client: each(after.client, before.client),
                envoy: each(after.envoy, before.envoy),
                servers: each(after.servers, before.servers),
                redis: each(after.redis, before.redis),
            };
            Ok(Figures { requests, seconds, rps: requests as f64 / seconds, spent_us })
        })
    }
}

fn key(number: usize) -> String {
    format!("key-{number}")
}

/// A key has always the same, so that every read can be checked.
fn value(key: &str) -> Vec<u8> {
    key.bytes().cycle().take(VALUE_BYTES).collect()
}

/// Its share of the keys, in turn; with fewer keys than clients, some meet on one.
fn one_client(
    servers: &Servers,
    case: Case,
    number: usize,
    time: Duration,
    barrier: &Barrier,
) -> io::Result<u64> {
    let keys: Vec<(String, Vec<u8>)> = (number..case.keys.max(number + 1))
        .step_by(case.clients)
        .map(|i| (key(i % case.keys), value(&key(i % case.keys))))
        .collect();
    let client = servers.client(case.contender);
    barrier.wait();
    let (mut client, deadline) = (client?, Instant::now() + time);
    for (count, (key, value)) in (0..).zip(keys.iter().cycle()) {
        if Instant::now() >= deadline {
            return Ok(count);
        }
        client.ask(case.command, key, value)?;
    }
    Ok(0)
}
