//! What the core costs: choosing an owner on the request path, and planning. Ends with `figure NAME VALUE` lines.
//!
//! `make bench` runs it; `cargo bench -p rudolph-core` alone does too.
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock; the core does not")]
#![expect(clippy::unwrap_used, reason = "its inputs are its own")]

use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::Criterion;
use rudolph_core::config::Config;
use rudolph_core::hash::KeyHash;
use rudolph_core::plan::Plan;
use rudolph_core::planner::merge::{Contribution, merge};
use rudolph_core::planner::{self, Request};
use rudolph_core::router::Router;
use rudolph_core::servers::{Address, Members, Server};
use rudolph_core::table::Table;

const KEYS: usize = 1 << 16;

/// Each sample of each bench, so that the figures are the medians of what criterion saw.
#[derive(Default)]
struct Figures(RefCell<Vec<(String, Vec<f64>)>>);

impl Figures {
    /// Measures `run`, in units of `unit`, under a name.
    fn measure(
        &self,
        criterion: &mut Criterion,
        name: &str,
        unit: Duration,
        mut run: impl FnMut(),
    ) {
        let mut samples = Vec::new();
        criterion.bench_function(name, |bencher| {
            bencher.iter_custom(|iterations| {
                let began = Instant::now();
                for _ in 0..iterations {
                    run();
                }
                let took = began.elapsed();
                samples.push(took.as_secs_f64() / iterations as f64 / unit.as_secs_f64());
                took
            });
        });
        self.0.borrow_mut().push((name.to_owned(), samples));
    }

    fn print(&self) {
        for (name, samples) in self.0.borrow_mut().iter_mut() {
            samples.sort_by(f64::total_cmp);
            println!("figure {name} {:.2}", samples[samples.len() / 2]);
        }
    }
}

fn members(count: usize) -> Members {
    let server = |i: usize| Server {
        address: Address::parse(&format!("10.{}.{}.1:8080", i / 250, i % 250)).unwrap(),
        weight: 1,
    };
    Members::new((0..count).map(server).collect())
}

fn config(strategy: &str) -> Arc<Config> {
    let text = format!(
        r#"{{"strategy": "{strategy}", "key": ["path"], "spread": {{"max_copies": 8}},
            "membership": {{"source": "static", "servers": [{{"address": "127.0.0.1:1"}}]}}}}"#
    );
    Arc::new(Config::from_json(text.as_bytes()).unwrap())
}

fn plan(
    config: &Config,
    members: &Members,
    previous: Option<&Plan>,
    load: &[Contribution],
) -> Plan {
    let loads = merge(config, members, 2, load);
    let request =
        Request { config, members, previous, loads: &loads, epoch: 2, version: 2, now_ms: 0 };
    let mut table = |plan: &Plan| Arc::new(Table::of(plan, config));
    planner::plan(&request, &mut table).unwrap().plan
}

fn router(servers: usize) -> Router {
    let config = config("spread");
    let plan = plan(&config, &members(servers), None, &[]);
    let table = Table::of(&plan, &config);
    let mut router = Router::new(config);
    router.adopt(Arc::new(plan), Arc::new(table));
    router
}

/// Hash, sketch, counters, choice, and the end of the request, for keys of 12 bytes.
fn choosing(criterion: &mut Criterion, figures: &Figures) {
    let nanosecond = Duration::from_nanos(1);
    let keys: Vec<String> = (0..KEYS).map(|i| format!("user:{i:07}")).collect();
    for servers in [5, 100, 5000] {
        let mut cold = router(servers);
        let mut next = 0;
        figures.measure(criterion, &format!("choose_cold_ns_{servers}"), nanosecond, || {
            next = (next + 1) % KEYS;
            let route = cold.route(KeyHash::of(black_box(keys[next].as_bytes()))).unwrap();
            cold.finish(black_box(route).server);
        });
        let mut hot = router(servers);
        for _ in 0..1000 {
            let route = hot.route(KeyHash::of(keys[0].as_bytes())).unwrap();
            hot.finish(route.server);
        }
        figures.measure(criterion, &format!("choose_hot_ns_{servers}"), nanosecond, || {
            let route = hot.route(KeyHash::of(black_box(keys[0].as_bytes()))).unwrap();
            hot.finish(black_box(route).server);
        });
    }
}

/// One worker's counts of 64,000 bins, a few of them hot.
fn skewed(members: &Members, bins: usize) -> Vec<Contribution> {
    let count = |bin: usize| (1_000_000 / (1 + bin * 7919 % bins)) as u32;
    vec![Contribution {
        members_digest: members.digest(),
        closed_epoch: 1,
        bins: (0..bins).map(count).collect(),
        ..Contribution::default()
    }]
}

fn planning(criterion: &mut Criterion, figures: &Figures) {
    let millisecond = Duration::from_millis(1);
    let thousand = members(1000);
    let load = skewed(&thousand, 64 * 1000);
    for strategy in ["rotation", "lpt"] {
        let config = config(strategy);
        let before = plan(&config, &thousand, None, &load);
        figures.measure(criterion, &format!("plan_{strategy}_ms_1000"), millisecond, || {
            let next = plan(&config, &thousand, Some(&before), black_box(&load));
            black_box(Table::of(&next, &config));
        });
    }
    let config = config("spread");
    let before = plan(&config, &thousand, None, &[]);
    let fewer = Members::new(thousand.servers()[1..].to_vec());
    figures.measure(criterion, "membership_change_spread_ms_1000", millisecond, || {
        let next = plan(&config, black_box(&fewer), Some(&before), &[]);
        black_box(Table::of(&next, &config));
    });
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(30)
        .configure_from_args();
    let figures = Figures::default();
    choosing(&mut criterion, &figures);
    planning(&mut criterion, &figures);
    criterion.final_summary();
    figures.print();
}
