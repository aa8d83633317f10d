//! What a seed chooses before it begins: how many workers, which configurations, and which kinds of faults may come.
//! Each seed leaves some kinds out, so that a fault is also met in a quiet neighbourhood.

use std::fmt;
use std::sync::Arc;

use rudolph_core::config::{Config, ConfigError};

use crate::random::Random;

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A worker stands still between two host calls while others run.
    Stall,
    /// A VM traps at a host call.
    Trap,
    /// Host calls fail with a status.
    Status,
    /// A worker's clock jumps, drifts or freezes.
    Clock,
    /// Shared values are damaged.
    Damage,
    /// The admin interface answers late, badly, falsely or not at all.
    Admin,
    /// Servers come, go, fail and change their weights.
    Flap,
    /// Ticks come late or not at all.
    Tick,
    /// The configuration changes.
    Reload,
    /// All workers end, and the shared data with them.
    Restart,
}

impl Kind {
    pub(crate) const ALL: [Self; 10] = [
        Self::Stall,
        Self::Trap,
        Self::Status,
        Self::Clock,
        Self::Damage,
        Self::Admin,
        Self::Flap,
        Self::Tick,
        Self::Reload,
        Self::Restart,
    ];
}

/// A configuration, as text and as the core reads it.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) text: String,
    pub(crate) config: Arc<Config>,
}

/// What a seed chose.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) workers: usize,
    pub(crate) variants: Vec<Variant>,
    pub(crate) kinds: Vec<Kind>,
    /// Each act is a time of faults and a time of rest.
    pub(crate) acts: usize,
    pub(crate) rounds: usize,
    /// One in so many actions is a fault.
    pub(crate) rarity: usize,
}

impl Scenario {
    pub(crate) fn of(random: &mut Random) -> Result<Self, ConfigError> {
        let workers = random.pick(&[1, 2, 2, 3, 3, 4, 4, 5, 6, 8, 8, 12, 16, 32]);
        let variants = (0..3).map(|_| variant(random)).collect::<Result<Vec<_>, _>>()?;
        let kinds = Kind::ALL.into_iter().filter(|_| random.percent(55)).collect();
        Ok(Self {
            workers,
            variants,
            kinds,
            acts: 3,
            rounds: if workers > 8 { 6 } else { 14 },
            rarity: random.pick(&[4, 8, 16, 40]),
        })
    }

    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} workers; faults {:?}, one in {}", self.workers, self.kinds, self.rarity)?;
        for (i, variant) in self.variants.iter().enumerate() {
            writeln!(f, "configuration {i}: {}", variant.text)?;
        }
        Ok(())
    }
}

/// The address of server `i`; some are IPv6.
pub(crate) fn address(i: usize) -> String {
    if i % 5 == 4 { format!("[fd00::{i:x}]:8080") } else { format!("10.0.0.{}:8080", i + 1) }
}

fn variant(random: &mut Random) -> Result<Variant, ConfigError> {
    let strategy = random.pick(&["spread", "spread", "pin", "rotation", "lpt", "static"]);
    let tick_ms = random.pick(&[100, 100, 50, 250]);
    let owners = random.pick(&[3, 3, 1, 2, 5]);
    let membership = if random.percent(75) {
        r#"{"source":"envoy_admin","cluster":"app","admin_cluster":"admin","poll_interval_ms":1000}"#.into()
    } else {
        let servers: Vec<String> = (0..1 + random.below(4))
            .map(|_| random.below(8))
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .map(|i| format!(r#"{{"address":"{}","weight":{}}}"#, address(i), 1 + random.below(3)))
            .collect();
        format!(r#"{{"source":"static","servers":[{}]}}"#, servers.join(","))
    };
    let text = format!(
        r#"{{"strategy":"{strategy}","key":[{{"header":"x-key"}}],"membership":{membership},"owners":{owners},"tick_ms":{tick_ms},"debug_header":"x-debug"}}"#
    );
    let config = Arc::new(Config::from_json(text.as_bytes())?);
    Ok(Variant { text, config })
}
