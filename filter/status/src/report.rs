//! The document: what a survey found, put into words and numbers.

use crate::Tables;
use crate::causes::{Meter, Readings};
use crate::document::{
    DOCUMENT_FORMAT, Document, FilterName, FilterState, HistoryState, HotKeyState, LeftOutState,
    Load, PlanState, Ring, ServerState, WorkerState, short,
};
use crate::lookup::Lookup;
use crate::survey::{Filter, Survey, WorkerSeen};
use rudolph_core::arcs::Arcs;
use rudolph_core::config::{Config, Membership, StatusConfig};
use rudolph_core::hash::KeyHash;
use rudolph_core::plan::{LEARNED_ONE, Placement, Plan};
use rudolph_core::planner::spread::LEAST_COUNT;
use rudolph_core::rendezvous;
use rudolph_core::servers::ServerId;
use rudolph_core::shown::history::{ABSENT, relative_loads};
use rudolph_core::telemetry::{Counter, Gauge};

/// So many of the hottest keys are named.
const MAX_HOT_SHOWN: usize = 24;

/// A worker may be behind for so long before it counts as one that disagrees.
const AGREES_WITHIN_MS: u64 = 3_000;

/// Beyond so many servers their rows of the history are left out: the document would be megabytes.
const MAX_ROWS_SHOWN: usize = 1_000;

pub(crate) fn document(
    config: &StatusConfig,
    filters: &[Filter],
    filter: Option<FilterState>,
    now_ms: u64,
) -> Document {
    let name = |filter: &Filter| FilterName {
        id: id(&filter.config),
        name: filter.config.stat_prefix.clone(),
        strategy: filter.config.strategy.name(),
        cluster: match &filter.config.membership {
            Membership::Static(_) => None,
            Membership::EnvoyAdmin { cluster, .. } => Some(cluster.clone()),
        },
    };
    Document {
        format: DOCUMENT_FORMAT,
        title: config.title.clone(),
        now_ms,
        refresh_ms: config.refresh_ms,
        filters: filters.iter().map(name).collect(),
        filter,
    }
}

fn id(config: &Config) -> String {
    format!("{:016x}", config.digest)
}

pub(crate) fn state(
    survey: &Survey,
    tables: &mut Tables,
    meter: &Meter,
    readings: Option<&Readings>,
    now_ms: u64,
) -> FilterState {
    let config = &survey.config;
    let causes = readings.map(|read| meter.causes(now_ms, &read.counters)).unwrap_or_default();
    let workers = workers(survey, now_ms);
    let mut state = FilterState {
        id: id(config),
        name: config.stat_prefix.clone(),
        strategy: config.strategy.name(),
        clear_keys: config.clear_keys,
        epoch: survey.epoch.map(|epoch| epoch.number),
        epoch_ms: config.epoch_ms,
        plan: survey.plan.as_ref().map(|plan| plan_state(survey, plan)),
        load: load(survey),
        servers: servers(survey),
        left_out: left_out(survey),
        ring: ring(survey),
        hot_keys: hot_keys(survey, tables),
        workers,
        history: history(survey),
        causes,
        alarms: Vec::new(),
        metrics: readings.map(metrics).unwrap_or_default(),
    };
    state.alarms = alarms(&state);
    state
}

fn plan_state(survey: &Survey, plan: &Plan) -> PlanState {
    PlanState {
        version: plan.version,
        epoch: plan.epoch,
        active_since_ms: plan.activate_at_ms,
        waiting: survey.waiting.as_ref().map(|plan| plan.version),
        hot_keys: plan.hot.len(),
        rotation: match plan.placement {
            Placement::Turned { rotation } => Some(rotation),
            Placement::Rendezvous | Placement::Dealt { .. } => None,
        },
    }
}

fn load(survey: &Survey) -> Load {
    let peak = survey.plan.as_ref().map(|plan| f64::from(survey.loads.peak_over_mean(plan)));
    let peak = peak.filter(|peak| *peak > 0.0);
    let last = survey.history.samples.last();
    let plain = last.map(|sample| f64::from(sample.plain_permille) / 1000.0);
    Load {
        peak_over_mean: peak.map(short),
        plain_peak_over_mean: plain.filter(|plain| peak.is_some() && *plain > 0.0),
    }
}

fn servers(survey: &Survey) -> Vec<ServerState> {
    let Some(plan) = &survey.plan else { return Vec::new() };
    let count = plan.members.len();
    let weights: Vec<f64> =
        (0..count).map(|i| plan.effective_weight(ServerId::from_index(i))).collect();
    let whole: f64 = weights.iter().sum();
    let loads = relative_loads(plan, &survey.loads);
    let in_flight = survey.in_flight();
    let history = &survey.history;
    // Right after a change of members the history still has the rows of those before.
    let row = |i: usize, address: &str| {
        let own = history.rows.get(i).filter(|row| row.address == address);
        own.or_else(|| history.rows.iter().find(|row| row.address == address))
    };
    plan.members
        .servers()
        .iter()
        .enumerate()
        .map(|(i, server)| {
            let row = row(i, server.address.as_str());
            let told = |load: &u16| (*load != ABSENT).then(|| f64::from(*load) / 1000.0);
            ServerState {
                address: server.address.as_str().into(),
                weight: server.weight,
                learned: short(f64::from(plan.learned[i]) / f64::from(LEARNED_ONE)),
                due: short(weights[i] / whole),
                load: loads.get(i).copied().map(short),
                load_5m: row.and_then(|row| history.mean_of(row)).map(short),
                in_flight: in_flight.get(i).copied().unwrap_or(0),
                loads: row
                    .filter(|_| count <= MAX_ROWS_SHOWN)
                    .map_or_else(Vec::new, |row| row.loads.iter().map(told).collect()),
            }
        })
        .collect()
}

fn left_out(survey: &Survey) -> Vec<LeftOutState> {
    let still = |address: &str| {
        let plan = survey.plan.as_ref();
        plan.is_none_or(|plan| {
            plan.members.servers().iter().all(|server| server.address.as_str() != address)
        })
    };
    (survey.left_out.iter())
        .filter(|server| still(&server.address))
        .map(|server| LeftOutState {
            address: server.address.clone(),
            reason: server.reason.text(),
        })
        .collect()
}

fn ring(survey: &Survey) -> Ring {
    let heat = survey.history.heat.iter().map(|load| f64::from(*load) / 1000.0).collect();
    let Some(plan) = survey.plan.as_ref().filter(|plan| !plan.members.is_empty()) else {
        return Ring { bins: 0, in_place: false, arcs: Vec::new(), heat: Vec::new() };
    };
    let (bins, in_place, arcs) = match &plan.placement {
        Placement::Turned { rotation } => {
            let arcs = Arcs::of(plan, survey.config.rotation.candidates);
            let bins = arcs.bins();
            (bins, true, lengths(arcs.starts(), |start| (start + rotation) % bins))
        }
        // Bins are all over the ring: an arc is as long as the part of them that is a server's due.
        Placement::Rendezvous => {
            let weights: Vec<f64> = (0..plan.members.len())
                .map(|i| plan.effective_weight(ServerId::from_index(i)))
                .collect();
            let parts = rendezvous::BINS / weights.len() as u32;
            let arcs = Arcs::by_weight(&weights, parts);
            (rendezvous::BINS, false, lengths(arcs.starts(), |start| start))
        }
        Placement::Dealt { owners } => {
            let mut counts = vec![0_u32; plan.members.len()];
            owners.iter().for_each(|owner| counts[usize::from(*owner)] += 1);
            let mut starts = vec![0];
            for count in counts {
                starts.push(starts.last().copied().unwrap_or(0) + count);
            }
            (owners.len() as u32, false, lengths(&starts, |start| start))
        }
    };
    Ring { bins: bins as usize, in_place, arcs, heat }
}

fn lengths(starts: &[u32], place: impl Fn(u32) -> u32) -> Vec<(u32, u32, u16)> {
    (starts.windows(2).zip(0_u16..))
        .map(|(arc, server)| (place(arc[0]), arc[1] - arc[0], server))
        .collect()
}

/// The keys that ask for most; those that are surely there, and not by chance of a few requests.
fn hot_keys(survey: &Survey, tables: &mut Tables) -> Vec<HotKeyState> {
    let Some(plan) = survey.plan.as_ref().filter(|plan| !plan.members.is_empty()) else {
        return Vec::new();
    };
    let loads = &survey.loads;
    let mut hottest: Vec<_> =
        loads.keys.iter().filter(|merged| merged.guaranteed >= LEAST_COUNT).collect();
    if hottest.is_empty() || loads.total <= 0.0 {
        return Vec::new();
    }
    hottest.sort_by(|a, b| b.guaranteed.total_cmp(&a.guaranteed).then(a.key.cmp(&b.key)));
    let table = tables.of(&survey.config, plan);
    let lookup = Lookup::new(survey, plan.clone(), table);
    (hottest.into_iter().take(MAX_HOT_SHOWN))
        .map(|merged| {
            let owners = lookup.owners(merged.key);
            let share = f64::from(merged.guaranteed / loads.total);
            HotKeyState {
                hash: format!("{:016x}", merged.key.0),
                key: text_of(survey, merged.key),
                bin: owners.bin,
                share: short(share),
                load: short(share * plan.members.len() as f64),
                home: owners.home,
                owners: owners.serving,
            }
        })
        .collect()
}

/// The key's text, as one of the workers shows it.
fn text_of(survey: &Survey, key: KeyHash) -> Option<String> {
    if !survey.config.clear_keys {
        return None;
    }
    let views = survey.workers.iter().filter_map(|worker| worker.view.as_ref());
    let mut names = views.flat_map(|view| &view.names);
    let (_, text) = names.find(|(known, _)| *known == key)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

fn workers(survey: &Survey, now_ms: u64) -> Vec<WorkerState> {
    let sent = |worker: &WorkerSeen| {
        worker.told.contribution.sent.iter().map(|sent| f64::from(*sent)).sum::<f64>()
    };
    let total: f64 = survey.workers.iter().map(sent).sum();
    (survey.workers.iter())
        .map(|worker| {
            let view = worker.view.as_ref();
            WorkerState {
                slot: worker.slot,
                silent_ms: now_ms.saturating_sub(worker.told.heartbeat_ms),
                plan: view.map(|view| view.plan_version),
                epoch: view.map(|view| view.plan_epoch),
                share: (total > 0.0).then(|| short(sent(worker) / total)),
                agrees: agrees(survey, worker, now_ms),
            }
        })
        .collect()
}

/// Whether it follows the plan that held a while ago, or a newer one.
fn agrees(survey: &Survey, worker: &WorkerSeen, now_ms: u64) -> bool {
    let Some(view) = &worker.view else { return true };
    let settled = |at: u64| now_ms.saturating_sub(at) >= AGREES_WITHIN_MS;
    let present = survey.plan.as_ref().filter(|plan| settled(plan.activate_at_ms));
    let past = survey.history.samples.iter().rev().find(|sample| settled(sample.at_ms));
    let expected = present.map(|plan| plan.version).max(past.map(|sample| sample.version));
    expected.is_none_or(|version| view.plan_version >= version)
}

fn history(survey: &Survey) -> HistoryState {
    let ratio = |permille: u16| f64::from(permille) / 1000.0;
    HistoryState {
        samples: (survey.history.samples.iter())
            .map(|sample| {
                let (peak, plain) = (ratio(sample.peak_permille), ratio(sample.plain_permille));
                (sample.at_ms, peak, plain, sample.rotation, sample.hot, sample.version)
            })
            .collect(),
        columns: survey.history.columns.iter().map(|column| column.began_ms).collect(),
    }
}

fn metrics(readings: &Readings) -> std::collections::BTreeMap<&'static str, u64> {
    let counters = Counter::ALL.iter().map(|counter| counter.name()).zip(readings.counters);
    let gauges = Gauge::ALL.iter().map(|gauge| gauge.name()).zip(readings.gauges);
    counters.chain(gauges).collect()
}

/// What is wrong, in a line each, the worst first.
fn alarms(state: &FilterState) -> Vec<String> {
    let mut alarms = Vec::new();
    if state.plan.is_some() && state.servers.is_empty() {
        alarms.push("No server is usable: Envoy's fallback policy routes.".to_owned());
    }
    let behind: Vec<String> = (state.workers.iter())
        .filter(|worker| !worker.agrees)
        .map(|worker| worker.slot.to_string())
        .collect();
    if !behind.is_empty() {
        let text = format!("Workers that follow an old plan, by slot: {}.", behind.join(", "));
        alarms.push(text);
    }
    let matters = state.causes.iter().filter(|cause| cause.matters);
    alarms.extend(matters.map(|cause| {
        let mut text = cause.text.to_owned();
        text[..1].make_ascii_uppercase();
        format!("{text}: {} times in the last minute.", cause.recent)
    }));
    let out = state.left_out.len();
    if out > 0 && !state.servers.is_empty() {
        let servers = if out == 1 { "server is" } else { "servers are" };
        alarms.push(format!("{out} {servers} left out."));
    }
    alarms
}
