//! A router that follows a plan, with its hands on the counts of what is in flight.

use std::sync::Arc;

use rudolph_core::config::Config;
use rudolph_core::hash::KeyHash;
use rudolph_core::loads::LocalId;
use rudolph_core::plan::Plan;
use rudolph_core::router::{Route, Router};
use rudolph_core::servers::Members;
use rudolph_core::table::Table;

use super::{Rng, config, first_plan, members, table};

pub struct Rig {
    pub config: Arc<Config>,
    pub table: Arc<Table>,
    pub router: Router,
    pub rng: Rng,
}

pub fn spread(fields: &str) -> String {
    format!(r#""spread": {{{fields}}}"#)
}

impl Rig {
    pub fn new(strategy: &str, servers: usize, more: &[&str]) -> Self {
        Self::with(strategy, &members(servers), more, |_| {})
    }

    pub fn with(
        strategy: &str,
        members: &Members,
        more: &[&str],
        change: impl Fn(&mut Plan),
    ) -> Self {
        let config = config(strategy, members, more);
        let mut plan = first_plan(&config, members);
        change(&mut plan);
        let table = table(&config, &plan);
        let mut router = Router::new(config.clone());
        router.adopt(Arc::new(plan), table.clone());
        Self { config, table, router, rng: Rng::new(1) }
    }

    pub fn adopt(&mut self, members: &Members) {
        let plan = first_plan(&self.config, members);
        self.table = table(&self.config, &plan);
        self.router.adopt(Arc::new(plan), self.table.clone());
    }

    pub fn local(&self, server: u16) -> LocalId {
        self.router.local()[usize::from(server)]
    }

    pub fn in_flight(&mut self, server: u16) -> u32 {
        let local = self.local(server);
        self.router.loads_mut().in_flight(local)
    }

    pub fn set_in_flight(&mut self, server: u16, count: u32) {
        let local = self.local(server);
        while self.in_flight(server) < count {
            self.router.loads_mut().begin(local);
        }
        while self.in_flight(server) > count {
            self.router.loads_mut().finish(local);
        }
    }

    pub fn clear(&mut self) {
        (0..self.table.servers() as u16).for_each(|server| self.set_in_flight(server, 0));
    }

    /// Routes a new key each time, so that none is hot.
    pub fn cold(&mut self) -> (Route, Vec<u16>) {
        let key = KeyHash(self.rng.next());
        let row = self.table.row(self.table.bin(key)).to_vec();
        (self.router.route(key).unwrap(), row)
    }

    /// A key that this worker has made hot.
    pub fn hot(&mut self) -> KeyHash {
        let key = KeyHash(self.rng.next());
        for _ in 0..20 {
            let route = self.router.route(key).unwrap();
            self.router.finish(route.server);
        }
        key
    }

    /// Every server completes so many requests each 100 ms, for long.
    pub fn complete(&mut self, each: u32, from_ms: u64) {
        for step in 0..60 {
            self.router.decay(from_ms + step * 100);
            for local in self.router.local().to_vec() {
                for _ in 0..each {
                    self.router.loads_mut().begin(local);
                    self.router.loads_mut().finish(local);
                }
            }
        }
        self.router.decay(from_ms + 6_000);
    }

    pub fn order(&self, key: KeyHash, count: usize) -> Vec<u16> {
        let mut order = self.table.order_of_key(key, count);
        order.truncate(count);
        order
    }
}
