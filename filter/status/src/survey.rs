//! Reads what the workers of one configuration left in the shared store.

use std::sync::Arc;

use rudolph_core::admin::LeftOut;
use rudolph_core::agreement::arena::key;
use rudolph_core::agreement::slot::{self, LEASE_MS};
use rudolph_core::agreement::{SharedStore, Shelf, StoreFault, Tally};
use rudolph_core::config::{Config, digest_of};
use rudolph_core::plan::Plan;
use rudolph_core::planner::merge::{LoadMap, Merge};
use rudolph_core::servers::Members;
use rudolph_core::shown::history::History;
use rudolph_core::wire::records::{self, Epoch, Slot};
use rudolph_core::wire::shown::{self, View};
use rudolph_core::wire::{FORMAT, WireFault};
use rudolph_core::worker::is_ahead;

/// A configuration whose workers gave no sign of life for so long is not shown.
const SILENT_MS: u64 = 20_000;

/// A configuration that lives, with its rules.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    pub(crate) arena: usize,
    pub(crate) config: Arc<Config>,
}

/// A worker and what it told.
#[derive(Clone, Debug)]
pub(crate) struct WorkerSeen {
    pub(crate) slot: usize,
    pub(crate) told: Slot,
    pub(crate) view: Option<View>,
}

/// Everything of one configuration at one moment.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) config: Arc<Config>,
    pub(crate) epoch: Option<Epoch>,
    /// The plan that holds.
    pub(crate) plan: Option<Arc<Plan>>,
    /// One that was published and waits for its time.
    pub(crate) waiting: Option<Plan>,
    pub(crate) workers: Vec<WorkerSeen>,
    pub(crate) history: History,
    pub(crate) left_out: Vec<LeftOut>,
    /// What all workers counted, over the plan's members.
    pub(crate) loads: LoadMap,
}

fn read<T>(
    store: &mut dyn SharedStore,
    key: String,
    open: impl FnOnce(&[u8]) -> Result<T, WireFault>,
) -> Result<Option<T>, StoreFault> {
    Ok(Shelf::new(key).read(store, &mut Tally::default(), open)?.value)
}

/// The configurations that live, by arena. `known` keeps their rules from one look to the next.
pub(crate) fn filters(
    store: &mut dyn SharedStore,
    known: &mut Vec<Arc<Config>>,
    now_ms: u64,
) -> Result<Vec<Filter>, StoreFault> {
    let directory = format!("rudolph/{FORMAT}/directory");
    let tenants = read(store, directory, records::open_directory)?.unwrap_or_default();
    let mut filters = Vec::new();
    for (arena, tenant) in tenants.iter().enumerate() {
        if tenant.heartbeat_ms == 0 || now_ms.abs_diff(tenant.heartbeat_ms) > SILENT_MS {
            continue;
        }
        let found = known.iter().find(|config| config.digest == tenant.config).cloned();
        let config = match found {
            Some(config) => Some(config),
            None => rules(store, arena, tenant.config)?,
        };
        filters.extend(config.map(|config| Filter { arena, config }));
    }
    *known = filters.iter().map(|filter| filter.config.clone()).collect();
    Ok(filters)
}

/// The rules of a configuration, from the text that its workers left.
fn rules(
    store: &mut dyn SharedStore,
    arena: usize,
    digest: u64,
) -> Result<Option<Arc<Config>>, StoreFault> {
    let text = read(store, key(arena, "text"), |bytes| shown::open_text(digest, bytes))?;
    let text = text.filter(|text| digest_of(text) == digest);
    Ok(text.and_then(|text| Config::from_json(&text).ok()).map(Arc::new))
}

impl Survey {
    pub(crate) fn take(
        store: &mut dyn SharedStore,
        filter: &Filter,
        now_ms: u64,
    ) -> Result<Self, StoreFault> {
        let (arena, config) = (filter.arena, filter.config.clone());
        let digest = config.digest;
        let epoch = read(store, key(arena, "epoch"), |b| records::open_epoch(digest, b))?;
        let (plan, waiting) = plans(store, arena, &config, now_ms)?;
        let workers = workers(store, arena, digest, now_ms)?;
        let history = read(store, key(arena, "history"), |b| shown::open_history(digest, b))?;
        let left_out = read(store, key(arena, "left_out"), |b| shown::open_left_out(digest, b))?;
        let mut survey = Self {
            config,
            epoch,
            plan,
            waiting,
            workers,
            history: history.unwrap_or_default(),
            left_out: left_out.unwrap_or_default(),
            loads: LoadMap::default(),
        };
        if let Some(plan) = survey.plan.clone() {
            survey.loads = survey.loads_over(&plan.members);
        }
        Ok(survey)
    }

    /// What the workers counted, as the planner would see it over these members.
    pub(crate) fn loads_over(&self, members: &Members) -> LoadMap {
        let epoch = self.epoch.map_or(0, |epoch| epoch.number);
        let mut merge = Merge::new(&self.config, members, epoch);
        for worker in &self.workers {
            merge.add(&worker.told.contribution);
        }
        merge.finish()
    }

    /// Requests in flight to each server of the plan, over all workers.
    pub(crate) fn in_flight(&self) -> Vec<u64> {
        let Some(plan) = &self.plan else { return Vec::new() };
        let mut sums = vec![0; plan.members.len()];
        let digest = plan.members.digest();
        let views = self.workers.iter().filter_map(|worker| worker.view.as_ref());
        for view in views.filter(|view| view.members_digest == digest) {
            for (sum, count) in sums.iter_mut().zip(&view.in_flight) {
                *sum += u64::from(*count);
            }
        }
        sums
    }
}

/// The plan that holds, and one that waits. A plan of which the gateway's own check says no is none.
fn plans(
    store: &mut dyn SharedStore,
    arena: usize,
    config: &Config,
    now_ms: u64,
) -> Result<(Option<Arc<Plan>>, Option<Plan>), StoreFault> {
    let sound = |plan: &Plan| plan.check(config).is_ok();
    let mut at = |what| -> Result<Option<Plan>, StoreFault> {
        let open = |bytes: &[u8]| records::open_plan(config.digest, bytes);
        Ok(read(store, key(arena, what), open)?.filter(sound))
    };
    let published = at("plan")?;
    match published {
        Some(plan) if is_ahead(config, &plan, now_ms) => {
            let before = at("plan/before")?.filter(|before| before.version < plan.version);
            Ok((before.map(Arc::new), Some(plan)))
        }
        published => Ok((published.map(Arc::new), None)),
    }
}

fn workers(
    store: &mut dyn SharedStore,
    arena: usize,
    digest: u64,
    now_ms: u64,
) -> Result<Vec<WorkerSeen>, StoreFault> {
    let mut workers = Vec::new();
    let tally = &mut Tally::default();
    slot::read_numbered(store, tally, digest, arena, now_ms, |slot, told| {
        workers.push(WorkerSeen { slot, told, view: None });
    })?;
    for worker in &mut workers {
        let key = key(arena, &format!("slot/{}/view", worker.slot));
        let view = read(store, key, |bytes| shown::open_view(digest, bytes))?;
        worker.view = view.filter(|view| now_ms.abs_diff(view.heartbeat_ms) < LEASE_MS);
    }
    Ok(workers)
}
