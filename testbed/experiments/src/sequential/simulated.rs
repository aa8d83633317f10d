//! The same search in virtual time.

use rudolph_simulator::{report::Row, run, scenario::sweep};

use super::{
    Placement, Plan, SequentialError,
    placement::SPAN,
    raw::{Highest, Place, Probe},
};

/// Before anything counts: plans are made and hot buckets are known.
const WARM_UP_S: u64 = 3;
/// A hit and a miss must have a time; only writes are sent, which take both.
const HIT_MS: f64 = 0.001;

/// All searches of the plan, several at a time; `done` is told of each.
pub(super) fn run_all(
    plan: &Plan,
    done: &(dyn Fn(&Highest) + Sync),
) -> Result<Vec<(Highest, Vec<Probe>)>, SequentialError> {
    let mut jobs = Vec::new();
    for &servers in &plan.simulated_servers {
        for &placement in &plan.placements {
            jobs.extend((0..plan.repeats).map(|repeat| (placement, servers, repeat)));
        }
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some((placement, servers, repeat)) =
            jobs.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
        {
            let one = search(plan, *placement, *servers, *repeat)?;
            done(&one.0);
            found.push(one);
        }
        Ok::<_, SequentialError>(found)
    };
    let mut all = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut all = Vec::new();
        for worker in workers {
            let lost = |_| SequentialError::Simulator("a thread of it panicked".to_owned());
            all.extend(worker.join().map_err(lost)??);
        }
        Ok::<_, SequentialError>(all)
    })?;
    all.sort_by_key(|(highest, _)| (highest.servers, highest.strategy, highest.repeat));
    Ok(all)
}

pub(super) fn search(
    plan: &Plan,
    placement: Placement,
    servers: usize,
    repeat: u32,
) -> Result<(Highest, Vec<Probe>), SequentialError> {
    let mut search = plan.search(servers);
    let mut probes = Vec::new();
    while let Some(rate) = search.next_rate() {
        let probe = probe(plan, placement, (servers, repeat), rate)?;
        search.tell(probe.passed);
        probes.push(probe);
    }
    let highest = Highest::of(&probes, placement, Place::Simulator, servers, repeat);
    Ok((highest, probes))
}

pub(super) fn probe(
    plan: &Plan,
    placement: Placement,
    (servers, repeat): (usize, u32),
    offered_rps: f64,
) -> Result<Probe, SequentialError> {
    let failed = |message: String| SequentialError::Simulator(message);
    let variants = sweep::read(&scenario(plan, placement, (servers, repeat), offered_rps));
    let variants = variants.map_err(|error| failed(error.to_string()))?;
    let outcomes = run::run_all(&variants, 1, &|| {}).map_err(|error| failed(error.to_string()))?;
    let outcome = outcomes.first().ok_or_else(|| failed("it ran nothing".to_owned()))?;
    let row = Row::of(placement.name(), &outcome.measured);
    let mut probe = Probe {
        strategy: placement,
        place: Place::Simulator,
        servers,
        repeat: repeat + 1,
        offered_rps,
        rps: row.rps,
        mean_ms: row.mean_ms,
        p99_ms: row.p99_ms,
        errors: row.errors,
        busiest_percent: 100.0 * row.peak_over_mean / servers as f64,
        passed: false,
        machine_busy_percent: 0.0,
        void: String::new(),
    };
    probe.judge(plan.limit_ms);
    Ok(probe)
}

fn scenario(
    plan: &Plan,
    placement: Placement,
    (servers, repeat): (usize, u32),
    rate: f64,
) -> String {
    let seconds = plan.simulated_seconds;
    // So many that none comes twice.
    let keys = (rate * (seconds + WARM_UP_S) as f64 * 1.5) as u64 + 1_000;
    let buckets = placement.buckets(servers).map(|n| format!(", buckets = {n}"));
    format!(
        "title = 'sequential'\nstrategies = [{}]\nseeds = [{}]\nwarmup_s = {WARM_UP_S}\nseconds = {seconds}\n\
         arrivals = {{ open_rps = {rate:.3} }}\ngateways = {{ workers = 2 }}\n\
         servers = {{ count = {servers}, slots = {}, cache_keys = 1000, hit_ms = {HIT_MS}, miss_ms = {}, sigma = 0.0 }}\n\
         workload = {{ read_fraction = 0.0, keys = {{ kind = 'sequential', count = {keys}, first = {SPAN}{} }} }}\n",
        placement.simulated(),
        repeat + 1,
        plan.slots,
        plan.service_ms - HIT_MS,
        buckets.unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One server under random arrivals and constant service is M/D/1, whose mean is known.
    #[test]
    fn one_server_is_the_known_queue() {
        let plan = Plan { simulated_seconds: 200, ..Plan::full() };
        for (rate, mean_ms) in [(125.0, 6.0), (187.5, 10.0)] {
            let probe = probe(&plan, Placement::Range, (1, 0), rate).unwrap();
            assert!((probe.mean_ms / mean_ms - 1.0).abs() < 0.06, "seed 1: {probe:?}");
        }
    }

    /// The claim in small: ranges do not grow, ten buckets do.
    #[test]
    fn ranges_stay_at_one_server_and_buckets_grow() {
        let rps = |placement, servers| {
            // One server has few requests, so its mean takes long to settle.
            let simulated_seconds = if placement == Placement::Range { 60 } else { 8 };
            let plan = Plan { simulated_seconds, ..Plan::full() };
            let (highest, probes) = search(&plan, placement, servers, 0).unwrap();
            assert!(probes.len() <= 9, "{probes:?}");
            highest.rps
        };
        let range = [5, 10].map(|servers| rps(Placement::Range, servers));
        assert!((range[1] / range[0] - 1.0).abs() < 0.05, "seed 1: {range:?}");
        // One server's limit, as the known queue has it.
        assert!((range[0] / 187.5 - 1.0).abs() < 0.06, "seed 1: {range:?}");
        let hash = [5, 10, 20].map(|servers| rps(Placement::Hash10, servers));
        assert!(hash[1] / hash[0] > 1.9 && hash[2] / hash[1] > 1.9, "seed 1: {hash:?}");
        let owned = [10, 20].map(|servers| rps(Placement::Hash10OneOwner, servers));
        assert!(owned[1] / owned[0] < 1.1, "seed 1: ten buckets use ten servers: {owned:?}");
    }
}
