//! What several clients did and saw, recorded.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rudolph_replicated_store::client::Response;

use super::register::{Event, What, is_linearizable};

#[derive(Debug)]
pub struct History {
    began: Instant,
    next_value: AtomicU64,
    keys: Mutex<BTreeMap<String, Vec<Event>>>,
}

impl Default for History {
    fn default() -> Self {
        Self { began: Instant::now(), next_value: AtomicU64::new(1), keys: Mutex::default() }
    }
}

impl History {
    fn now(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Does a read and records it; a read that failed has seen nothing. Returns whether it was answered.
    pub fn read(&self, key: &str, read: impl FnOnce() -> std::io::Result<Response>) -> bool {
        let began = self.now();
        let value = match read() {
            Ok(Response { status: 200, body }) => {
                Some(String::from_utf8(body).unwrap().parse().unwrap())
            }
            Ok(Response { status: 404, .. }) => None,
            _ => return false,
        };
        self.record(key, began, What::Read(value));
        true
    }

    /// Does a write of a new value and records it. Returns whether it was acknowledged.
    pub fn write(&self, key: &str, write: impl FnOnce(&str) -> std::io::Result<Response>) -> bool {
        let value = self.next_value.fetch_add(1, Ordering::Relaxed);
        let began = self.now();
        let acknowledged = matches!(write(&value.to_string()), Ok(Response { status: 204, .. }));
        self.record(key, began, What::Write { value, acknowledged });
        acknowledged
    }

    fn record(&self, key: &str, began: u64, what: What) {
        let event = Event { what, began, ended: self.now() };
        self.keys.lock().unwrap().entry(key.to_owned()).or_default().push(event);
    }

    /// Fails on the first key whose events no register could have answered. Returns how many events there were.
    pub fn check(&self, seed: u64) -> usize {
        let keys = self.keys.lock().unwrap();
        for (key, events) in &*keys {
            assert!(is_linearizable(events), "seed {seed}, {key}: {events:#?}");
        }
        keys.values().map(Vec::len).sum()
    }
}
