//! What workers leave for the status page: the history, the counterfactual, the records.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod common;

use common::{Rng, Zipf, config, first_plan, members, numbered, seeds, weighted};
use rudolph_core::admin::{LeftOut, Reason};
use rudolph_core::config::Config;
use rudolph_core::hash::KeyHash;
use rudolph_core::plan::Plan;
use rudolph_core::planner::merge::{LoadMap, MergedKey};
use rudolph_core::servers::Members;
use rudolph_core::shown::counterfactual::{Heat, plain_peak};
use rudolph_core::shown::history::{ABSENT, COLUMN_MS, History, MAX_COLUMNS, MAX_SAMPLES, SPAN_MS};
use rudolph_core::table::Table;
use rudolph_core::wire::WireFault;
use rudolph_core::wire::shown::{self, View};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const CANDIDATES: u32 = 64;
const START_MS: u64 = 1_700_000_000_000;

fn plan_of(strategy: &str, members: &Members) -> (std::sync::Arc<Config>, Plan) {
    // A list in a configuration is never empty; what a poll finds may be.
    let listed = if members.is_empty() { common::members(1) } else { members.clone() };
    let config = config(strategy, &listed, &[]);
    let plan = first_plan(&config, members);
    (config, plan)
}

fn sent(loads: &[f64]) -> LoadMap {
    LoadMap { sent: loads.to_vec(), ..LoadMap::default() }
}

#[test]
fn five_minutes_are_kept_and_no_more() {
    let (_, plan) = plan_of("spread", &members(3));
    let mut history = History::default();
    for second in 0..700 {
        history.add(&plan, CANDIDATES, &sent(&[3.0, 2.0, 1.0]), START_MS + second * 1_000);
        let oldest = history.samples[0].at_ms;
        assert!(START_MS + second * 1_000 - oldest < SPAN_MS);
    }
    assert_eq!((history.samples.len(), history.columns.len()), (MAX_SAMPLES, MAX_COLUMNS));
    assert!(
        history.columns.windows(2).all(|pair| pair[1].began_ms - pair[0].began_ms == COLUMN_MS)
    );
    assert!(history.rows.iter().all(|row| row.loads.len() == MAX_COLUMNS));
    let means: Vec<f64> = history.rows.iter().map(|row| history.mean_of(row).unwrap()).collect();
    assert_eq!(means, [1.5, 1.0, 0.5]);
    assert_eq!(history.samples.last().unwrap().peak_permille, 1500);
}

#[test]
fn a_column_is_the_mean_of_its_samples() {
    let (_, plan) = plan_of("spread", &members(2));
    let mut history = History::default();
    let begin = START_MS - START_MS % COLUMN_MS;
    for (second, load) in [0.5, 1.0, 1.5, 2.0].into_iter().enumerate() {
        let loads = sent(&[load, 2.0 - load]);
        history.add(&plan, CANDIDATES, &loads, begin + second as u64 * 1_000);
    }
    let last: Vec<u16> = history.rows.iter().map(|row| row.loads[0]).collect();
    assert_eq!(last, [1250, 750]);
    history.add(&plan, CANDIDATES, &LoadMap::default(), begin + 4_000);
    assert_eq!(
        history.columns[0].samples, 4,
        "a second without requests says nothing of the servers"
    );
}

#[test]
fn rows_follow_the_members() {
    let mut history = History::default();
    let few = numbered([0, 2, 5].map(|i| (i, 1)));
    let more = numbered([0, 1, 5].map(|i| (i, 1)));
    history.add(&plan_of("spread", &few).1, CANDIDATES, &sent(&[1.0, 2.0, 3.0]), START_MS);
    history.add(
        &plan_of("spread", &more).1,
        CANDIDATES,
        &sent(&[1.0, 1.0, 1.0]),
        START_MS + COLUMN_MS,
    );
    let rows: Vec<(&str, &[u16])> =
        history.rows.iter().map(|row| (row.address.as_str(), &row.loads[..])).collect();
    let names: Vec<&str> = more.servers().iter().map(|server| server.address.as_str()).collect();
    assert_eq!(
        rows,
        [
            (names[0], &[500, 1000][..]),
            (names[1], &[ABSENT, 1000][..]),
            (names[2], &[1500, 1000][..]),
        ]
    );
    let nobody = members(0);
    history.add(&plan_of("spread", &nobody).1, CANDIDATES, &LoadMap::default(), START_MS + 11_000);
    assert!(history.rows.is_empty() && history.heat.is_empty());
}

#[test]
fn a_clock_that_jumps_back_begins_anew_and_one_that_jumps_ahead_forgets() {
    let (_, plan) = plan_of("spread", &members(2));
    let loads = sent(&[1.0, 1.0]);
    let mut history = History::default();
    history.add(&plan, CANDIDATES, &loads, START_MS);
    history.add(&plan, CANDIDATES, &loads, START_MS - 60_000);
    assert_eq!(history.samples.len(), 1);
    history.add(&plan, CANDIDATES, &loads, START_MS + 10 * SPAN_MS);
    assert_eq!((history.samples.len(), history.columns.len()), (1, 1));
    history.add(&plan, CANDIDATES, &loads, 0);
    assert_eq!(history.last_ms(), Some(0));
}

/// Against the obvious way: the table of `static` on the same bins and weights.
#[test]
fn the_counterfactual_of_counted_bins_is_exact() {
    for seed in seeds(30) {
        let mut rng = Rng::new(seed);
        let weights: Vec<u32> = (0..rng.between(1, 12)).map(|_| rng.between(1, 5) as u32).collect();
        let members = weighted(&weights);
        let (_, plan) = plan_of("rotation", &members);
        let (config, still) = plan_of("static", &members);
        let table = Table::of(&still, &config);
        let bins: Vec<u64> = (0..table.bins()).map(|_| rng.below(1_000) as u64).collect();
        let mut piles = vec![0.0; weights.len()];
        for (bin, count) in bins.iter().enumerate() {
            piles[table.home(bin).index()] += *count as f64;
        }
        let total: f64 = piles.iter().sum();
        let whole: f64 = weights.iter().map(|weight| f64::from(*weight)).sum();
        let relative = piles.iter().zip(&weights).map(|(pile, weight)| pile / f64::from(*weight));
        let expected = relative.fold(0.0, f64::max) * whole / total;
        let loads = LoadMap { bins, ..LoadMap::default() };
        let told = plain_peak(&plan, CANDIDATES, &loads).unwrap();
        assert!((told - expected).abs() < 1e-9, "seed {seed}: {told} {expected}");
    }
}

#[test]
fn the_counterfactual_of_tracked_keys_is_near_that_of_all() {
    for seed in seeds(20) {
        let mut rng = Rng::new(seed);
        let zipf = Zipf::new(10_000);
        let members = members(5);
        let (_, plan) = plan_of("spread", &members);
        let (config, still) = plan_of("static", &members);
        let table = Table::of(&still, &config);
        let (mut counts, mut piles) = (std::collections::BTreeMap::new(), [0.0; 5]);
        for _ in 0..20_000 {
            let key = KeyHash(common::mix(zipf.rank(&mut rng) as u64 + seed * 100_000));
            *counts.entry(key).or_insert(0.0_f32) += 1.0;
            piles[table.home(table.bin(key)).index()] += 1.0;
        }
        let mut keys: Vec<MergedKey> = (counts.into_iter())
            .map(|(key, count)| MergedKey { key, count, guaranteed: count })
            .collect();
        keys.sort_by(|a, b| b.count.total_cmp(&a.count));
        keys.truncate(512);
        let loads = LoadMap { keys, total: 20_000.0, ..LoadMap::default() };
        let (told, real) = (
            plain_peak(&plan, CANDIDATES, &loads).unwrap(),
            piles.into_iter().fold(0.0, f64::max) / 4_000.0,
        );
        assert!((told / real - 1.0).abs() < 0.06, "seed {seed}: {told} {real}");
    }
}

#[test]
fn without_load_or_servers_nothing_is_told() {
    let (_, plan) = plan_of("spread", &members(3));
    assert_eq!(plain_peak(&plan, CANDIDATES, &LoadMap::default()), None);
    let (_, none) = plan_of("spread", &members(0));
    assert_eq!(plain_peak(&none, CANDIDATES, &LoadMap::default()), None);
    assert!(Heat::of(&none, CANDIDATES, &LoadMap::default()).permille().is_empty());
    let idle = Heat::of(&plan, CANDIDATES, &LoadMap::default()).permille();
    assert!(idle.len() == 256 && idle.iter().all(|load| *load == 0));
}

#[test]
fn heat_is_where_the_load_is() {
    let (_, plan) = plan_of("rotation", &members(4));
    let mut bins = vec![1; 4 * CANDIDATES as usize];
    bins[100] = 257;
    let heat = Heat::of(&plan, CANDIDATES, &LoadMap { bins, ..LoadMap::default() }).permille();
    assert_eq!(heat.len(), 256);
    assert_eq!((heat[100], heat[99]), (ABSENT - 1, 500));
}

fn view() -> View {
    View {
        heartbeat_ms: 5,
        plan_version: 6,
        plan_epoch: 7,
        members_digest: 8,
        in_flight: vec![0, 1, u16::MAX],
        names: vec![(KeyHash(9), b"key\0\xff".to_vec()), (KeyHash(10), Vec::new())],
    }
}

fn left_out() -> Vec<LeftOut> {
    let one = |reason| LeftOut { address: "10.0.0.1:80".into(), reason };
    Reason::ALL.into_iter().map(one).collect()
}

fn filled() -> History {
    let mut history = History::default();
    let (_, plan) = plan_of("rotation", &members(3));
    for second in 0..50 {
        history.add(&plan, CANDIDATES, &sent(&[1.0, 2.0, 3.0]), START_MS + second * 1_000);
    }
    history
}

type Opener = fn(&[u8]) -> Result<(), WireFault>;

#[test]
fn records_come_back_as_they_were_and_never_cut() {
    assert_eq!(shown::open_watch(&shown::seal_watch(7)), Ok(7));
    assert_eq!(shown::open_text(3, &shown::seal_text(3, b"{}")), Ok(b"{}".to_vec()));
    assert_eq!(shown::open_text(4, &shown::seal_text(3, b"{}")), Err(WireFault::Config));
    assert_eq!(shown::open_view(3, &shown::seal_view(3, &view())), Ok(view()));
    let sealed = shown::seal_left_out(3, &left_out());
    assert_eq!(shown::open_left_out(3, &sealed), Ok(left_out()));
    let sealed_history = shown::seal_history(3, &filled());
    assert_eq!(shown::open_history(3, &sealed_history), Ok(filled()));
    let samples: [(Vec<u8>, Opener); 5] = [
        (shown::seal_watch(7), |bytes| shown::open_watch(bytes).map(drop)),
        (shown::seal_text(3, b"text"), |bytes| shown::open_text(3, bytes).map(drop)),
        (shown::seal_view(3, &view()), |bytes| shown::open_view(3, bytes).map(drop)),
        (sealed, |bytes| shown::open_left_out(3, bytes).map(drop)),
        (sealed_history, |bytes| shown::open_history(3, bytes).map(drop)),
    ];
    for (sealed, open) in samples {
        assert_eq!(open(&sealed), Ok(()));
        for end in 0..sealed.len() {
            assert!(open(&sealed[..end]).is_err(), "{end} of {}", sealed.len());
        }
        for at in 0..sealed.len() {
            let mut torn = sealed.clone();
            torn[at] ^= 1;
            let digest = (16..24).contains(&at);
            assert!(open(&torn).is_err() || digest, "byte {at} of {}", sealed.len());
        }
    }
}
