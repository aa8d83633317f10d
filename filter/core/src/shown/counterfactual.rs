//! What hashing alone would have made of the same load, and where on the ring of bins that load is.

use super::history::{HEAT_CELLS, permille};
use crate::arcs::Arcs;
use crate::plan::{Placement, Plan};
use crate::planner::merge::LoadMap;
use crate::rendezvous;

/// Highest load over the mean, by configured weight, had each key gone to `hash mod bins` for good, as under `static`.
/// `None` where that cannot be told: without load, or where neither bins nor keys are counted.
///
/// Where bins are counted it is exact. Where a sketch is kept, its keys go where their hashes say, and the rest of the
/// load, of which no key is large, is taken for even.
#[must_use]
pub fn plain_peak(plan: &Plan, candidates: u32, loads: &LoadMap) -> Option<f64> {
    let weights: Vec<f64> =
        plan.members.servers().iter().map(|server| f64::from(server.weight)).collect();
    if weights.is_empty() {
        return None;
    }
    let arcs = Arcs::by_weight(&weights, candidates);
    let whole: f64 = weights.iter().sum();
    let mut piles = vec![0.0; weights.len()];
    if loads.bins.iter().any(|count| *count > 0) && loads.bins.len() == arcs.bins() as usize {
        for (bin, count) in (0..).zip(&loads.bins) {
            piles[arcs.owner(bin)] += *count as f64;
        }
    } else if loads.total > 0.0 && !loads.keys.is_empty() {
        let mut rest = f64::from(loads.total);
        for merged in &loads.keys {
            let load = f64::from(merged.guaranteed);
            piles[arcs.owner((merged.key.0 % u64::from(arcs.bins())) as u32)] += load;
            rest -= load;
        }
        for (pile, weight) in piles.iter_mut().zip(&weights) {
            *pile += rest.max(0.0) * weight / whole;
        }
    } else {
        return None;
    }
    let total: f64 = piles.iter().sum();
    let peak = piles.iter().zip(&weights).map(|(pile, weight)| pile / weight).fold(0.0, f64::max);
    Some(peak * whole / total)
}

/// The load of each part of the ring of bins.
#[derive(Debug)]
pub struct Heat {
    cells: Vec<f64>,
}

impl Heat {
    /// Bins as they are counted, or as the sketch's keys fall into them over an even rest.
    #[must_use]
    pub fn of(plan: &Plan, candidates: u32, loads: &LoadMap) -> Self {
        let bins = match plan.placement {
            _ if plan.members.is_empty() => 0,
            Placement::Rendezvous => u64::from(rendezvous::BINS),
            Placement::Turned { .. } | Placement::Dealt { .. } => {
                u64::from(candidates) * plan.members.len() as u64
            }
        };
        let count = bins.min(HEAT_CELLS as u64);
        let mut cells = vec![0.0; count as usize];
        if count == 0 {
            return Self { cells };
        }
        let cell = |bin: u64| (bin * count / bins) as usize;
        if loads.bins.len() as u64 == bins {
            for (bin, load) in (0..).zip(&loads.bins) {
                cells[cell(bin)] += *load as f64;
            }
        } else {
            let mut rest = f64::from(loads.total);
            for merged in &loads.keys {
                let load = f64::from(merged.guaranteed);
                cells[cell(merged.key.0 % bins)] += load;
                rest -= load;
            }
            let even = rest.max(0.0) / count as f64;
            cells.iter_mut().for_each(|load| *load += even);
        }
        Self { cells }
    }

    /// Over the mean, in thousandths; all zero without load.
    #[must_use]
    pub fn permille(&self) -> Vec<u16> {
        let total: f64 = self.cells.iter().sum();
        let mean = total / self.cells.len().max(1) as f64;
        let relative = |load: &f64| if total > 0.0 { permille(load / mean) } else { 0 };
        self.cells.iter().map(relative).collect()
    }
}
