//! The planner: a pure function from what the workers counted to the next plan.
//!
//! Its phases, in order, each in a file of its own:
//! 1. [`merge`]: the workers' contributions become one load map (the caller adds them as it reads them);
//! 2. [`weigh`]: servers that keep more in flight than their share are held for slower (`spread`);
//! 3. placement: [`rotation`] turns the arcs, [`lpt`] deals the bins; the rendezvous strategies need none;
//! 4. hot keys: [`spread`] says on how many servers each is, [`pin`] on which.
//!
//! Equal requests give equal plans: nothing here knows a clock, a random number or a map's whim.

pub mod lpt;
pub mod merge;
pub mod pin;
pub mod rotation;
pub mod spread;
pub mod weigh;

use crate::config::{Config, Strategy};
use crate::hot::HotKey;
use crate::plan::{LEARNED_ONE, Placement, Plan, PlanFault};
use crate::servers::Members;
use crate::table::Table;
use merge::LoadMap;

/// What a plan is made of.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The rules.
    pub config: &'a Config,
    /// The usable servers.
    pub members: &'a Members,
    /// The plan in force.
    pub previous: Option<&'a Plan>,
    /// What the live workers published, merged for this epoch.
    pub loads: &'a LoadMap,
    /// The epoch that is planned.
    pub epoch: u64,
    /// The version that the plan will have.
    pub version: u64,
    /// The wall time.
    pub now_ms: u64,
}

/// A plan and what its making told.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// Highest load over the mean, each by weight, of the requests that were sent.
    pub peak_over_mean: f32,
}

/// Makes the next plan. `home_table` spells out homes for a plan: `pin` asks it where a key belongs.
///
/// # Errors
/// A broken guarantee, which would be a defect of this program; the plan in force then stays.
pub fn plan(
    request: &Request<'_>,
    home_table: &mut dyn FnMut(&Plan) -> std::sync::Arc<Table>,
) -> Result<Planned, PlanFault> {
    let loads = request.loads;
    let mut plan = same_again(request);
    if plan.members.is_empty() {
        return Ok(Planned { plan, peak_over_mean: 0.0 });
    }
    if request.config.strategy == Strategy::Spread && request.config.spread.learn_weights {
        weigh::learn(&mut plan, loads, request.config.tick_ms, request.now_ms);
    }
    plan.placement = place(request, &plan, loads);
    plan.hot = hot_keys(request, &plan, loads, home_table);
    plan.check(request.config)?;
    Ok(Planned { peak_over_mean: loads.peak_over_mean(&plan), plan })
}

/// The previous plan on the present members: what is known of a server that stays is kept.
fn same_again(request: &Request<'_>) -> Plan {
    let learned = |server: &crate::servers::Server| {
        let previous = request.previous?;
        let id = previous.members.find(&server.address)?;
        previous.learned.get(id.index()).copied()
    };
    Plan {
        version: request.version,
        epoch: request.epoch,
        activate_at_ms: request.now_ms,
        learned_at_ms: request.previous.map_or(request.now_ms, |plan| plan.learned_at_ms),
        members: request.members.clone(),
        learned: (request.members.servers().iter())
            .map(|server| learned(server).unwrap_or(LEARNED_ONE))
            .collect(),
        placement: nothing_placed(request.config.strategy),
        hot: Vec::new(),
    }
}

fn nothing_placed(strategy: Strategy) -> Placement {
    match strategy {
        Strategy::Spread | Strategy::Pin => Placement::Rendezvous,
        Strategy::Static | Strategy::Rotation => Placement::Turned { rotation: 0 },
        Strategy::Lpt => Placement::Dealt { owners: Vec::new() },
    }
}

fn place(request: &Request<'_>, plan: &Plan, loads: &LoadMap) -> Placement {
    match request.config.strategy {
        unmoved @ (Strategy::Spread | Strategy::Pin | Strategy::Static) => nothing_placed(unmoved),
        Strategy::Rotation => rotation::turn(request, plan, loads),
        Strategy::Lpt => lpt::deal(request, plan, loads),
    }
}

fn hot_keys(
    request: &Request<'_>,
    plan: &Plan,
    loads: &LoadMap,
    home_table: &mut dyn FnMut(&Plan) -> std::sync::Arc<Table>,
) -> Vec<HotKey> {
    let mut hot = match request.config.strategy {
        Strategy::Spread => spread::hot_keys(&request.config.spread, plan.members.len(), loads),
        Strategy::Pin => pin::pin(request, plan, loads, &home_table(plan)),
        Strategy::Rotation | Strategy::Lpt | Strategy::Static => Vec::new(),
    };
    hot.sort_unstable_by_key(|hot| hot.key);
    hot
}
