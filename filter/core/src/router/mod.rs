//! A request's way: from the hash of its key to the ordered list of servers that may serve it.
//!
//! One router belongs to one worker and shares nothing. The path of a request takes no lock, parses nothing
//! and allocates nothing but for a newly hot key on many servers.

mod choice;

use std::sync::Arc;

use choice::Order;

use crate::config::{Config, MAX_OWNERS, Strategy};
use crate::hash::KeyHash;
use crate::hot::HotTable;
use crate::loads::{DECAY_STEP_MS, Loads, LocalId};
use crate::plan::Plan;
use crate::servers::ServerId;
use crate::sketch::{CAPACITY, Sketch};
use crate::table::Table;

/// Half of a sketched count, rate or load is forgotten in 0.5 s: 2^(-0.1/0.5) a step.
const DECAY_PER_STEP: f32 = 0.870_550_6;

/// After so many steps at once nothing is left to decay.
const MOST_STEPS: u64 = 100;

/// Why a request went where it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// To the one owner of its key: its home, or where it is pinned.
    Owner,
    /// Its key is hot and another of the key's servers had less in flight.
    Spread,
    /// Its home was in an emergency.
    Spilled,
    /// It had no key.
    NoKey,
    /// There was no plan yet.
    NoPlan,
    /// The plan has no usable server.
    NoServer,
}

impl Outcome {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Owner, Self::Spread, Self::Spilled, Self::NoKey, Self::NoPlan, Self::NoServer];

    /// The word that metrics and the debug header use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Spread => "spread",
            Self::Spilled => "spilled",
            Self::NoKey => "no_key",
            Self::NoPlan => "no_plan",
            Self::NoServer => "no_server",
        }
    }
}

/// Where a request may go.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    owners: [u16; MAX_OWNERS],
    len: u8,
    /// Why.
    pub outcome: Outcome,
    /// The bin of the key.
    pub bin: u32,
    /// The first owner, to be given back to [`Router::finish`].
    pub server: LocalId,
}

impl Route {
    /// The owners, the chosen one first.
    #[must_use]
    pub fn owners(&self) -> &[u16] {
        &self.owners[..usize::from(self.len)]
    }
}

/// A plan as this worker follows it.
#[derive(Clone, Debug)]
struct Routing {
    plan: Arc<Plan>,
    table: Arc<Table>,
    hot: HotTable,
    local: Vec<LocalId>,
}

/// The router of one worker.
#[derive(Debug)]
pub struct Router {
    config: Arc<Config>,
    routing: Option<Routing>,
    sketch: Sketch,
    loads: Loads,
    orders: Vec<Order>,
    /// Counts changes of the table, so that orders of an older one are not used.
    tables: u64,
    /// Requests of each bin since [`Router::close_bins`].
    bins: Vec<u32>,
    outcomes: [u64; Outcome::ALL.len()],
    turn: u32,
    decayed_at_ms: Option<u64>,
}

impl Router {
    /// A router without a plan.
    #[must_use]
    pub fn new(config: Arc<Config>) -> Self {
        Self {
            config,
            routing: None,
            sketch: Sketch::default(),
            loads: Loads::default(),
            orders: vec![Order::default(); CAPACITY],
            tables: 0,
            bins: Vec::new(),
            outcomes: [0; Outcome::ALL.len()],
            turn: 0,
            decayed_at_ms: None,
        }
    }

    /// Follows a plan from now on, whole. `table` spells that plan out.
    pub fn adopt(&mut self, plan: Arc<Plan>, table: Arc<Table>) {
        let before = self.routing.as_ref();
        let same_members = before.is_some_and(|routing| routing.plan.members == plan.members);
        let same_table = before.is_some_and(|routing| Arc::ptr_eq(&routing.table, &table));
        let local = match before {
            Some(routing) if same_members => routing.local.clone(),
            _ => self.loads.adopt(&plan.members),
        };
        if !same_table {
            self.tables += 1;
            self.loads.start_window();
        }
        if self.config.counts_bins() && self.bins.len() != table.bins() {
            self.bins = vec![0; table.bins()];
        }
        self.routing = Some(Routing { hot: HotTable::new(&plan.hot), plan, table, local });
    }

    /// The plan in force.
    #[must_use]
    pub fn plan(&self) -> Option<&Arc<Plan>> {
        self.routing.as_ref().map(|routing| &routing.plan)
    }

    /// The table of the plan in force.
    #[must_use]
    pub fn table(&self) -> Option<&Arc<Table>> {
        self.routing.as_ref().map(|routing| &routing.table)
    }

    /// Chooses the owners of a key and counts the request.
    ///
    /// # Errors
    /// The outcome that leaves the request to Envoy's fallback policy.
    #[inline]
    pub fn route(&mut self, key: KeyHash) -> Result<Route, Outcome> {
        let Some(routing) = &self.routing else {
            return Err(self.unrouted(Outcome::NoPlan));
        };
        if routing.local.is_empty() {
            return Err(self.unrouted(Outcome::NoServer));
        }
        let bin = routing.table.bin(key);
        let home = routing.table.home(bin).0;
        let (chosen, outcome) = match self.config.strategy {
            Strategy::Spread => self.spread(key, bin, home),
            Strategy::Pin => (self.pinned(key, home), Outcome::Owner),
            Strategy::Rotation | Strategy::Lpt => {
                self.bins[bin] += 1;
                (home, Outcome::Owner)
            }
            Strategy::Static => (home, Outcome::Owner),
        };
        Ok(self.send(bin, chosen, outcome))
    }

    /// Counts a request that goes to the fallback policy.
    pub fn unrouted(&mut self, outcome: Outcome) -> Outcome {
        self.outcomes[outcome as usize] += 1;
        outcome
    }

    /// The request that went to this server is over.
    #[inline]
    pub fn finish(&mut self, server: LocalId) {
        self.loads.finish(server);
    }

    fn send(&mut self, bin: usize, chosen: u16, outcome: Outcome) -> Route {
        let mut owners = [chosen; MAX_OWNERS];
        let mut len = 1;
        let mut server = LocalId::default();
        if let Some(routing) = &self.routing {
            let wanted = self.config.owners.min(routing.local.len());
            let mut place = 0;
            while len < wanted {
                let next = routing.table.owner(bin, place);
                place += 1;
                if next != chosen {
                    owners[len] = next;
                    len += 1;
                }
            }
            server = routing.local[usize::from(chosen)];
        }
        self.loads.begin(server);
        self.outcomes[outcome as usize] += 1;
        Route { owners, len: len as u8, outcome, bin: bin as u32, server }
    }

    /// Decays what decays, for the whole steps since the last call. A clock that jumps back decays nothing.
    pub fn decay(&mut self, now_ms: u64) {
        let since = self.decayed_at_ms.unwrap_or(now_ms);
        let steps = now_ms.saturating_sub(since) / DECAY_STEP_MS;
        self.decayed_at_ms = if now_ms < since || steps > MOST_STEPS {
            Some(now_ms)
        } else {
            Some(since + steps * DECAY_STEP_MS)
        };
        let local = self.routing.as_ref().map_or(&[][..], |routing| &routing.local);
        for _ in 0..steps.min(MOST_STEPS) {
            self.sketch.decay(DECAY_PER_STEP);
            self.loads.decay(DECAY_PER_STEP, local);
        }
    }

    /// The sketch of this worker.
    #[must_use]
    pub fn sketch(&self) -> &Sketch {
        &self.sketch
    }

    /// What this worker knows of its servers' loads.
    #[must_use]
    pub fn loads(&self) -> &Loads {
        &self.loads
    }

    /// The same, to be written.
    pub fn loads_mut(&mut self) -> &mut Loads {
        &mut self.loads
    }

    /// The local numbers of the plan's servers, in the plan's order.
    #[must_use]
    pub fn local(&self) -> &[LocalId] {
        self.routing.as_ref().map_or(&[], |routing| &routing.local)
    }

    /// Requests by outcome since the router was made.
    #[must_use]
    pub fn outcomes(&self) -> [u64; Outcome::ALL.len()] {
        self.outcomes
    }

    /// Takes the counts of the bins and begins new ones.
    pub fn close_bins(&mut self) -> Vec<u32> {
        let fresh = vec![0; self.bins.len()];
        std::mem::replace(&mut self.bins, fresh)
    }

    /// Writes owners as Envoy reads them: addresses, separated by commas.
    pub fn write_owners(&self, route: &Route, out: &mut Vec<u8>) {
        if let Some(routing) = &self.routing {
            write_addresses(&routing.plan, route.owners(), out);
        }
    }

    /// Writes the first `count` servers of the key's rendezvous order, whichever was chosen to serve it.
    pub fn write_replicas(&self, route: &Route, count: usize, out: &mut Vec<u8>) {
        if let Some(routing) = &self.routing {
            let row = routing.table.row(route.bin as usize);
            write_addresses(&routing.plan, &row[..count.min(row.len())], out);
        }
    }
}

fn write_addresses(plan: &Plan, servers: &[u16], out: &mut Vec<u8>) {
    out.clear();
    for (i, server) in servers.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        let server = &plan.members.servers()[ServerId(*server).index()];
        out.extend_from_slice(server.address.as_str().as_bytes());
    }
}
