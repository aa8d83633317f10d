//! The plan: one immutable, versioned whole that every worker of a gateway adopts, or none of it.

use crate::config::{Config, Strategy};
use crate::hot::{HotKey, MAX_HOT_KEYS};
use crate::servers::{Members, ServerId};

/// A learned factor of 1: a server as fast as its weight says.
pub const LEARNED_ONE: u16 = 4096;

/// The slowest that a server is ever held for: its weight divided by sixteen.
pub const LEARNED_LEAST: u16 = LEARNED_ONE / 16;

/// Which server owns which bin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// By the rendezvous race; it follows from members and weights and needs no table in the plan.
    Rendezvous,
    /// Arcs of bins in ring order, turned by so many bins.
    Turned {
        /// In `0 .. bins`.
        rotation: u32,
    },
    /// Bin by bin.
    Dealt {
        /// The owner of each bin.
        owners: Vec<u16>,
    },
}

/// What a planner decides and all workers follow.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Rises with every plan that a gateway makes for a configuration; no two of those share one.
    pub version: u64,
    /// The epoch it was made in.
    pub epoch: u64,
    /// From this wall time on it holds, in all workers at once.
    pub activate_at_ms: u64,
    /// When the learned factors last changed.
    pub learned_at_ms: u64,
    /// The usable servers. There may be none: requests then go to Envoy's fallback policy.
    pub members: Members,
    /// Learned speed of each member, in parts of [`LEARNED_ONE`].
    pub learned: Vec<u16>,
    /// Who owns which bin.
    pub placement: Placement,
    /// Keys treated one by one, ordered by key.
    pub hot: Vec<HotKey>,
}

impl Plan {
    /// A member's weight with what was learned of its speed.
    #[must_use]
    pub fn effective_weight(&self, server: ServerId) -> f64 {
        let configured = self.members.servers()[server.index()].weight;
        effective_weight(configured, self.learned[server.index()])
    }

    /// Whether it decides differently from another plan; who made it and when do not matter.
    #[must_use]
    pub fn decides_like(&self, other: &Self) -> bool {
        self.places_like(other) && self.hot == other.hot
    }

    /// Whether every bin has the same owners under another plan.
    #[must_use]
    pub fn places_like(&self, other: &Self) -> bool {
        self.members == other.members
            && self.learned == other.learned
            && self.placement == other.placement
    }

    /// Checks what the planner guarantees: every bin has a usable owner and every index means a member.
    ///
    /// # Errors
    /// The first broken guarantee.
    pub fn check(&self, config: &Config) -> Result<(), PlanFault> {
        if self.learned.len() != self.members.len() {
            return Err(PlanFault::LearnedLength(self.learned.len()));
        }
        let sound = |factor: &u16| (LEARNED_LEAST..=LEARNED_ONE).contains(factor);
        if !self.learned.iter().all(sound) {
            return Err(PlanFault::LearnedValue);
        }
        self.check_placement(config)?;
        self.check_hot(config)
    }

    fn check_placement(&self, config: &Config) -> Result<(), PlanFault> {
        let servers = self.members.len();
        let bins = config.rotation.candidates as usize * servers;
        match (&self.placement, config.strategy) {
            (Placement::Rendezvous, Strategy::Spread | Strategy::Pin) => Ok(()),
            (Placement::Turned { rotation }, Strategy::Rotation | Strategy::Static) => {
                let turned = *rotation as usize;
                let still = config.strategy == Strategy::Static || bins == 0;
                let allowed = if still { turned == 0 } else { turned < bins };
                allowed.then_some(()).ok_or(PlanFault::Rotation(*rotation))
            }
            (Placement::Dealt { owners }, Strategy::Lpt) => {
                if owners.len() != bins {
                    return Err(PlanFault::Bins(owners.len()));
                }
                match owners.iter().find(|&&owner| usize::from(owner) >= servers) {
                    Some(&owner) => Err(PlanFault::Owner(owner)),
                    None => Ok(()),
                }
            }
            _ => Err(PlanFault::Placement),
        }
    }

    fn check_hot(&self, config: &Config) -> Result<(), PlanFault> {
        if self.hot.len() > MAX_HOT_KEYS {
            return Err(PlanFault::HotKeys(self.hot.len()));
        }
        if !self.hot.windows(2).all(|pair| pair[0].key < pair[1].key) {
            return Err(PlanFault::HotOrder);
        }
        let servers = self.members.len();
        let sound = |hot: &HotKey| match config.strategy {
            Strategy::Spread => (1..=servers).contains(&usize::from(hot.value)),
            Strategy::Pin => usize::from(hot.value) < servers,
            Strategy::Rotation | Strategy::Lpt | Strategy::Static => false,
        };
        match self.hot.iter().find(|hot| !sound(hot)) {
            Some(hot) => Err(PlanFault::HotValue(hot.value)),
            None => Ok(()),
        }
    }
}

/// A configured weight times a learned factor.
#[must_use]
pub(crate) fn effective_weight(configured: u32, learned: u16) -> f64 {
    f64::from(configured) * f64::from(learned) / f64::from(LEARNED_ONE)
}

/// A guarantee that a plan breaks. Such a plan is neither published nor adopted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanFault {
    /// So many learned factors do not match the members.
    LearnedLength(usize),
    /// A learned factor is out of bounds.
    LearnedValue,
    /// The placement is of another strategy.
    Placement,
    /// The rotation is out of bounds.
    Rotation(u32),
    /// So many bins do not match the members.
    Bins(usize),
    /// A bin's owner is no member.
    Owner(u16),
    /// More hot keys than a plan may have.
    HotKeys(usize),
    /// Hot keys are not in order, or one is there twice.
    HotOrder,
    /// A hot key's value means nothing.
    HotValue(u16),
}
