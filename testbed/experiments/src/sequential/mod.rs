//! Sequential keys: the highest rate of writes under a latency, by ranges and by buckets, and what a range scan pays for
//! buckets. Not a contest of contenders at one load, so not of the form that the other experiments share.
//!
//! [`Search`] says which rate to try next; `envoy` and `simulated` try it; `scans` scans tables beside `model`, which says
//! what that should cost. `raw` keeps what was measured, and [`Outcome`] is made from it.

mod envoy;
mod link;
mod model;
mod outcome;
mod placement;
mod plan;
mod plots;
mod raw;
mod rows;
mod scans;
mod search;
mod simulated;
mod verdicts;

use std::{
    io::{self, Write},
    net::SocketAddr,
    path::Path,
};

use rudolph_charts::grouped;

pub use outcome::{Outcome, again};
pub use placement::{Layout, Piece, Placement};
pub use plan::{Plan, ScanPlan, Setting};
pub use raw::{Highest, Measured, Place, Probe, Scans};
pub use rows::Row;
pub use search::Search;

use crate::artefacts::ArtefactError;

/// What `make experiment` calls it, and its folder.
pub const NAME: &str = "sequential";
pub const TITLE: &str = "Sequential keys: ranges against buckets";

#[derive(Debug, thiserror::Error)]
pub enum SequentialError {
    #[error(transparent)]
    Cluster(#[from] rudolph_cluster::ClusterError),
    #[error("load generator: {0}")]
    Load(#[from] rudolph_load_generator::LoadError),
    #[error("simulator: {0}")]
    Simulator(String),
    #[error("{target}: {reason}")]
    Server { target: SocketAddr, reason: String },
    #[error("stopped; what was measured is kept beside earlier results")]
    Interrupted,
    #[error(transparent)]
    Artefact(#[from] ArtefactError),
}

/// Runs the plan and writes everything into `folder`. What a run measured before it failed or was stopped goes beside an
/// earlier result, which is not replaced by half a one.
pub async fn run(setting: Setting, folder: &Path) -> Result<Outcome, SequentialError> {
    let mut measured = Measured::default();
    let ended = tokio::select! {
        ended = measure(&setting.plan, &mut measured) => ended,
        _ = tokio::signal::ctrl_c() => Err(SequentialError::Interrupted),
    };
    if let Err(error) = ended {
        raw::write(&folder.join("unfinished"), &setting, &measured)?;
        return Err(error);
    }
    raw::write(folder, &setting, &measured)?;
    let outcome = Outcome::of(setting, &measured);
    outcome.write(folder)?;
    Ok(outcome)
}

async fn measure(plan: &Plan, measured: &mut Measured) -> Result<(), SequentialError> {
    say(&format!("{NAME}: {TITLE} (about {} min)", minutes(plan)));
    for (highest, probes) in simulated::run_all(plan, &|highest| tell(highest))? {
        measured.highest.push(highest);
        measured.probes.extend(probes);
    }
    for repeat in 0..plan.repeats {
        for &servers in &plan.envoy_servers {
            // In turn, so that the machine's drift hits all alike.
            let turn = repeat as usize % plan.placements.len();
            for place in 0..plan.placements.len() {
                let placement = plan.placements[(place + turn) % plan.placements.len()];
                let told = |probe: &Probe| tell_probe(probe);
                let search = envoy::search(plan, placement, servers, repeat, told).await?;
                tell(&search.0);
                measured.highest.push(search.0);
                measured.probes.extend(search.1);
            }
        }
    }
    measured.scans = scans::run_all(plan, tell_scans).await?;
    Ok(())
}

/// By what a probe takes, half of them drained after.
fn minutes(plan: &Plan) -> u64 {
    let probe_s = plan.warm_up_s + plan.seconds + 2;
    let searches = plan.placements.len() as u64 * u64::from(plan.repeats);
    let sizes = plan
        .envoy_servers
        .iter()
        .map(|&servers| u64::from(plan.search(servers).most_probes()) * probe_s + 6);
    let scans = &plan.scans;
    let rows = (scans.buckets.len() + 1) * scans.lengths.len() * scans.scanners.len();
    (searches * sizes.sum::<u64>() + rows as u64 * scans.seconds + 60).div_ceil(60)
}

fn tell(highest: &Highest) {
    let void =
        if highest.void.is_empty() { String::new() } else { format!("  VOID: {}", highest.void) };
    say(&format!(
        "  {:<18} {:>2} servers, {:<9} r{}: {:>6} writes/s  mean {:>5.2} ms  busiest server {:>3.0} %  ({} probes){void}",
        highest.strategy.to_string(),
        highest.servers,
        format!("{:?}", highest.place).to_lowercase(),
        highest.repeat,
        grouped(highest.rps, 0),
        highest.mean_ms,
        highest.busiest_percent,
        highest.probes,
    ));
}

fn tell_probe(probe: &Probe) {
    say(&format!(
        "      {:>6} writes/s offered: mean {:>7.2} ms, errors {}, machine {:>3.0}% busy{}",
        grouped(probe.offered_rps, 0),
        probe.mean_ms,
        probe.errors,
        probe.machine_busy_percent,
        if probe.passed { "" } else { "  too much" },
    ));
}

fn tell_scans(scans: &Scans) {
    say(&format!(
        "  {:>5} of {:>4} keys, {:>2} at a time: {:>5} scans/s  mean {:>6.2} ms  {:.2} requests at {:.2} servers",
        scans.layout,
        scans.length,
        scans.scanners,
        grouped(scans.scans_per_s, 0),
        scans.mean_ms,
        scans.requests_a_scan,
        scans.servers_a_scan,
    ));
}

fn say(line: &str) {
    _ = writeln!(io::stderr(), "{line}"); // nobody may be listening
}
