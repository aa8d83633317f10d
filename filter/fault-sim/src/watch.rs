//! What every stored value is held against, as it is stored.

use std::collections::BTreeMap;
use std::sync::Arc;

use rudolph_core::agreement::slot::LEASE_MS;
use rudolph_core::config::{Config, Membership};
use rudolph_core::plan::Plan;
use rudolph_core::servers::Members;
use rudolph_core::wire::{FORMAT, Kind, WireFault, open, records};
use rudolph_mock_host::SharedWrite;

use crate::broken::Broken;
use crate::scenario::Variant;

/// Who stores: a root context of a VM of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Writer {
    pub(crate) worker: usize,
    pub(crate) generation: u32,
    pub(crate) root: u32,
}

/// A worker at work.
#[derive(Debug)]
pub(crate) struct AtWork<'a> {
    pub(crate) writer: Writer,
    /// Members that it was told of in this job.
    pub(crate) lesson: Option<&'a Members>,
    /// How many stores there had been when the job began.
    pub(crate) began: usize,
    /// The newest plan that any living worker is known to follow.
    pub(crate) newest_followed: u64,
}

/// From which store on a roster stood; `None` for one that was damaged.
type Roster = (usize, Option<Members>);

#[derive(Debug)]
struct Held {
    writer: Writer,
    config: u64,
    heartbeat_ms: u64,
}

/// The requests of one writer: how many it had, and how many it told of, by epoch.
#[derive(Debug, Default)]
struct Told {
    had: u64,
    by_epoch: BTreeMap<u64, u64>,
}

/// All that was stored since the shared data was last erased.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    configs: BTreeMap<u64, Arc<Config>>,
    plans: BTreeMap<(u64, u64), Arc<Plan>>,
    /// By arena and configuration: the rosters, each from the number of the store that brought it.
    rosters: BTreeMap<(String, u64), Vec<Roster>>,
    slots: BTreeMap<String, Held>,
    epochs: BTreeMap<(String, u64), u64>,
    told: BTreeMap<Writer, Told>,
    /// Plans' versions that a value tells of, by its key.
    versions: BTreeMap<String, u64>,
    stores: usize,
    plans_published: usize,
}

impl Watch {
    pub(crate) fn new(variants: &[Variant]) -> Self {
        let configs = variants.iter().map(|it| (it.config.digest, Arc::clone(&it.config)));
        Self { configs: configs.collect(), ..Self::default() }
    }

    /// The shared data was erased; versions begin anew.
    pub(crate) fn forget(&mut self) {
        let (configs, stores) = (std::mem::take(&mut self.configs), self.stores);
        *self = Self { configs, stores, ..Self::default() };
    }

    pub(crate) fn stores(&self) -> usize {
        self.stores
    }

    pub(crate) fn plans_published(&self) -> usize {
        self.plans_published
    }

    pub(crate) fn plan(&self, config: u64, version: u64) -> Option<&Arc<Plan>> {
        self.plans.get(&(config, version))
    }

    pub(crate) fn plans_of(&self, config: u64) -> impl DoubleEndedIterator<Item = &Arc<Plan>> {
        self.plans.range((config, 0)..=(config, u64::MAX)).map(|(_, plan)| plan)
    }

    /// The newest plan's version among other configurations.
    pub(crate) fn newest_of_others(&self, config: u64) -> u64 {
        let others = self.plans.keys().filter(|(digest, _)| *digest != config);
        others.map(|(_, version)| *version).max().unwrap_or(0)
    }

    /// A request that was counted in a bin, or may have been.
    pub(crate) fn routed(&mut self, writer: Writer) {
        self.told.entry(writer).or_default().had += 1;
    }

    /// The test damaged a value: what it said holds no more.
    pub(crate) fn damaged(&mut self, key: &str) {
        self.stores += 1;
        self.slots.remove(key);
        self.versions.remove(key);
        self.epochs.retain(|(other, _), _| other != key);
        if let Some(arena) = key.strip_suffix("/roster") {
            let stores = self.stores;
            for ((other, _), history) in &mut self.rosters {
                if other == arena {
                    history.push((stores, None));
                }
            }
        }
    }

    /// Judges a store. Says whether it was a plan.
    pub(crate) fn see(&mut self, write: &SharedWrite, who: &AtWork<'_>) -> Result<bool, Broken> {
        self.stores += 1;
        let key = String::from_utf8_lossy(&write.key).into_owned();
        let prefix = format!("rudolph/{FORMAT}/");
        let rest = key.strip_prefix(&prefix).unwrap_or_default();
        if rest == "directory" {
            return directory(&key, &write.value).map(|()| false);
        }
        let Some((arena, what)) = rest.split_once('/') else {
            return Err(Broken::UnknownKey(key));
        };
        let arena = format!("{prefix}{arena}");
        match what {
            "plan" => self.see_plan(&key, &arena, &write.value, who).map(|()| true),
            "plan/before" => {
                let version = self.see_before(&key, &write.value)?;
                self.versions.insert(key, version);
                Ok(false)
            }
            "roster" => self.see_roster(&key, arena, &write.value, who).map(|()| false),
            "epoch" => self.see_epoch(&key, &write.value).map(|()| false),
            "poll" => {
                let config = owner(&key, Kind::Poll, &write.value)?;
                read(&key, records::open_poll(config, &write.value)).map(|_| false)
            }
            slot if slot.starts_with("slot/") => {
                self.see_slot(&key, &write.value, who).map(|()| false)
            }
            _ => Err(Broken::UnknownKey(key)),
        }
    }

    fn see_plan(
        &mut self,
        key: &str,
        arena: &str,
        value: &[u8],
        who: &AtWork<'_>,
    ) -> Result<(), Broken> {
        let digest = owner(key, Kind::Plan, value)?;
        let plan = read(key, records::open_plan(digest, value))?;
        let version = plan.version;
        let Some(config) = self.configs.get(&digest).map(Arc::clone) else {
            return Err(Broken::UnknownKey(key.into()));
        };
        plan.check(&config).map_err(|fault| Broken::UnsoundPlan { version, fault })?;
        // Where all values that told of a plan were damaged, and no worker lives that is seen to follow it, its version may
        // be used again: nothing is left that could know.
        let told = self.versions.values().copied().max().unwrap_or(0).max(who.newest_followed);
        self.versions.insert(key.into(), version);
        let known = self.plans_of(digest).filter(|plan| plan.version <= told);
        let newest = known.map(|plan| plan.version).max().unwrap_or(0);
        if version < newest {
            return Err(Broken::PublishedBack { version, newest });
        }
        if version <= told && self.plan(digest, version).is_some_and(|other| **other != plan) {
            return Err(Broken::TwoPlans { version });
        }
        let seen = match &config.membership {
            Membership::Static(members) => *members == plan.members,
            Membership::EnvoyAdmin { .. } => self.stood(arena, digest, who.began, &plan.members),
        };
        if !seen {
            return Err(Broken::Members { version, members: names(&plan.members) });
        }
        self.plans_published += 1;
        self.plans.insert((digest, version), Arc::new(plan));
        Ok(())
    }

    /// Whether these members stood in the arena at some moment since the writer began.
    fn stood(&self, arena: &str, config: u64, began: usize, members: &Members) -> bool {
        let Some(history) = self.rosters.get(&(arena.to_owned(), config)) else {
            return false;
        };
        let first = history.iter().rposition(|(at, _)| *at <= began).unwrap_or(0);
        history[first..].iter().any(|(_, roster)| roster.as_ref() == Some(members))
    }

    fn see_before(&self, key: &str, value: &[u8]) -> Result<u64, Broken> {
        let config = owner(key, Kind::Plan, value)?;
        let plan = read(key, records::open_plan(config, value))?;
        let known = self.plan(config, plan.version).is_some_and(|known| **known == plan);
        known.then_some(plan.version).ok_or(Broken::NeverPublished { version: plan.version })
    }

    fn see_roster(
        &mut self,
        key: &str,
        arena: String,
        value: &[u8],
        who: &AtWork<'_>,
    ) -> Result<(), Broken> {
        let config = owner(key, Kind::Roster, value)?;
        let members = read(key, records::open_roster(config, value))?;
        if who.lesson != Some(&members) {
            return Err(Broken::Roster { worker: who.writer.worker, members: names(&members) });
        }
        self.rosters.entry((arena, config)).or_default().push((self.stores, Some(members)));
        Ok(())
    }

    fn see_epoch(&mut self, key: &str, value: &[u8]) -> Result<(), Broken> {
        let config = owner(key, Kind::Epoch, value)?;
        let number = read(key, records::open_epoch(config, value))?.number;
        // Where the directory was lost, two configurations may meet in one arena for a moment. What one overwrites the
        // other no longer knows.
        self.epochs.retain(|(other, owner), _| other != key || *owner == config);
        match self.epochs.insert((key.into(), config), number) {
            Some(last) if number <= last => {
                Err(Broken::EpochAgain { key: key.into(), number, last })
            }
            _ => Ok(()),
        }
    }

    fn see_slot(&mut self, key: &str, value: &[u8], who: &AtWork<'_>) -> Result<(), Broken> {
        let config = owner(key, Kind::Slot, value)?;
        let slot = read(key, records::open_slot(config, value))?;
        self.versions.insert(key.into(), slot.plan_version);
        let held = Held { writer: who.writer, config, heartbeat_ms: slot.heartbeat_ms };
        if let Some(before) = self.slots.insert(key.into(), held)
            && before.config == config
            && before.writer != who.writer
            && before.heartbeat_ms != 0
        {
            let after_ms = before.heartbeat_ms.abs_diff(slot.heartbeat_ms);
            if after_ms < LEASE_MS {
                return Err(Broken::SlotTaken { key: key.into(), after_ms });
            }
        }
        let told = self.told.entry(who.writer).or_default();
        let counted: u64 = slot.contribution.bins.iter().map(|count| u64::from(*count)).sum();
        let before = told.by_epoch.entry(slot.contribution.closed_epoch).or_default();
        *before = counted.max(*before);
        let sum: u64 = told.by_epoch.values().sum();
        if sum > told.had {
            let worker = who.writer.worker;
            return Err(Broken::CountedTwice { worker, told: sum, had: told.had });
        }
        Ok(())
    }
}

fn directory(key: &str, value: &[u8]) -> Result<(), Broken> {
    let tenants = read(key, records::open_directory(value))?;
    // 0 stands for a tenant that is not known since the directory was lost.
    let known = tenants.iter().map(|tenant| tenant.config).filter(|config| *config != 0);
    let mut configs: Vec<u64> = known.collect();
    let count = configs.len();
    configs.sort_unstable();
    configs.dedup();
    (configs.len() == count).then_some(()).ok_or(Broken::TwoArenas)
}

fn owner(key: &str, kind: Kind, value: &[u8]) -> Result<u64, Broken> {
    read(key, open(kind, value)).map(|(config, _)| config)
}

fn read<T>(key: &str, opened: Result<T, WireFault>) -> Result<T, Broken> {
    opened.map_err(|fault| Broken::Unreadable { key: key.into(), fault })
}

/// Members as text.
pub(crate) fn names(members: &Members) -> String {
    let name =
        |it: &rudolph_core::servers::Server| format!("{}*{}", it.address.as_str(), it.weight);
    let names: Vec<String> = members.servers().iter().map(name).collect();
    format!("[{}]", names.join(" "))
}
