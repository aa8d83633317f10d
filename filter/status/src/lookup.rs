//! Where a key goes, by the plan that holds and what the workers count: the same code that routes.

use std::sync::Arc;

use crate::survey::Survey;
use rudolph_core::config::{Config, Strategy};
use rudolph_core::hash::KeyHash;
use rudolph_core::hot::HotTable;
use rudolph_core::plan::Plan;
use rudolph_core::planner::spread::copies;
use rudolph_core::table::Table;

/// What says where keys go.
#[derive(Debug)]
pub(crate) struct Lookup<'a> {
    pub(crate) survey: &'a Survey,
    pub(crate) plan: Arc<Plan>,
    pub(crate) table: Arc<Table>,
    hot: HotTable,
}

/// The servers of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owners {
    pub(crate) bin: usize,
    pub(crate) home: u16,
    /// Those that may serve it; with several, the one with the least in flight does.
    pub(crate) serving: Vec<u16>,
    /// Those that a retry goes to after them.
    pub(crate) retries: Vec<u16>,
}

impl<'a> Lookup<'a> {
    /// REQUIRES: a plan with a server.
    pub(crate) fn new(survey: &'a Survey, plan: Arc<Plan>, table: Arc<Table>) -> Self {
        let hot = HotTable::new(&plan.hot);
        Self { survey, plan, table, hot }
    }

    fn config(&self) -> &Config {
        &self.survey.config
    }

    /// On how many servers a key is under `spread`: the most that the plan or a worker's own sketch asks for.
    pub(crate) fn copies_of(&self, key: KeyHash) -> usize {
        let spread = &self.config().spread;
        if self.config().strategy != Strategy::Spread || !spread.hot_keys {
            return 1;
        }
        let planned = self.hot.get(key).map_or(1, usize::from);
        if !spread.online {
            return planned;
        }
        let own = self.survey.workers.iter().filter_map(|worker| {
            let told = &worker.told.contribution;
            let tracked = told.keys.iter().find(|tracked| tracked.key == key)?;
            copies(spread, tracked.guaranteed(), told.total, self.plan.members.len())
        });
        own.fold(planned, usize::max).clamp(1, self.plan.members.len())
    }

    pub(crate) fn owners(&self, key: KeyHash) -> Owners {
        let bin = self.table.bin(key);
        let home = self.table.home(bin).0;
        let serving = match self.config().strategy {
            Strategy::Spread => self.order(key, bin, self.copies_of(key)),
            Strategy::Pin => vec![self.hot.get(key).unwrap_or(home)],
            Strategy::Rotation | Strategy::Lpt | Strategy::Static => vec![home],
        };
        let retries = self.retries(bin, &serving);
        Owners { bin, home, serving, retries }
    }

    /// The first of a key's rendezvous order, as the router takes them.
    fn order(&self, key: KeyHash, bin: usize, count: usize) -> Vec<u16> {
        let row = self.table.row(bin);
        let mut order = if count <= row.len() {
            row[..count].to_vec()
        } else {
            self.table.order_of_key(key, count)
        };
        order.truncate(count);
        order
    }

    /// The owners list goes on with the bin's row, whoever serves.
    fn retries(&self, bin: usize, serving: &[u16]) -> Vec<u16> {
        let wanted = self.config().owners.min(self.table.servers());
        let row = (0..self.table.servers()).map(|place| self.table.owner(bin, place));
        let mut list: Vec<u16> = Vec::new();
        for server in row {
            if list.len() + 1 >= wanted {
                break;
            }
            if serving.first() != Some(&server) {
                list.push(server);
            }
        }
        list.retain(|server| !serving.contains(server));
        list
    }
}
