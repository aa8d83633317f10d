//! Which owners a plan gives a key, by the core built for this machine. The module must say the same.

use std::sync::Arc;

use rudolph_core::config::{Config, Strategy};
use rudolph_core::hash::KeyHash;
use rudolph_core::plan::Plan;
use rudolph_core::table::Table;

/// Tables kept: the last few placements are those in use.
const KEPT: usize = 24;

#[derive(Debug, Default)]
pub(crate) struct Oracle {
    tables: Vec<(u64, Arc<Plan>, Arc<Table>)>,
}

impl Oracle {
    fn table(&mut self, config: &Config, plan: &Arc<Plan>) -> Arc<Table> {
        let known = self
            .tables
            .iter()
            .find(|(digest, known, _)| *digest == config.digest && known.places_like(plan));
        if let Some((_, _, table)) = known {
            return Arc::clone(table);
        }
        let table = Arc::new(Table::of(plan, config));
        if self.tables.len() == KEPT {
            self.tables.remove(0);
        }
        self.tables.push((config.digest, Arc::clone(plan), Arc::clone(&table)));
        table
    }

    /// The owners of a key whose request had this outcome; under `spread` a hot key's first owner is any of its
    /// servers, so that one is given.
    pub(crate) fn owners(
        &mut self,
        config: &Config,
        plan: &Arc<Plan>,
        key: &str,
        reason: &str,
        first: &str,
    ) -> String {
        let table = self.table(config, plan);
        let hash = KeyHash::of(key.as_bytes());
        let bin = table.bin(hash);
        let home = table.home(bin).0;
        let chosen = match (reason, config.strategy) {
            ("owner", Strategy::Pin) => pinned(plan, hash).unwrap_or(home),
            ("spilled", Strategy::Spread) => table.owner(bin, 1),
            ("spread", Strategy::Spread) => elsewhere(plan, first, home).unwrap_or(home),
            _ => home,
        };
        let wanted = config.owners.min(plan.members.len());
        let rest = (0..).map(|place| table.owner(bin, place)).filter(|owner| *owner != chosen);
        let owners = std::iter::once(chosen).chain(rest).take(wanted);
        let name = |owner: u16| plan.members.servers()[usize::from(owner)].address.as_str();
        owners.map(name).collect::<Vec<_>>().join(",")
    }
}

fn pinned(plan: &Plan, key: KeyHash) -> Option<u16> {
    plan.hot.iter().find(|hot| hot.key == key).map(|hot| hot.value)
}

fn elsewhere(plan: &Plan, first: &str, home: u16) -> Option<u16> {
    let found =
        plan.members.servers().iter().position(|server| server.address.as_str() == first)?;
    u16::try_from(found).ok().filter(|found| *found != home)
}
