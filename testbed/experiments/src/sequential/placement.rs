use std::fmt;

use rudolph_cluster::{Baseline, Builder};
use rudolph_workload::{KeySpec, Ranges, ValueBytes, WorkloadSpec, bucketed_name, name_of};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Where keys go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Keys in order, a range a server: plain Envoy routes.
    Range,
    /// Ten buckets, as published, through the filter as it is shipped.
    #[serde(rename = "hash_10")]
    Hash10,
    /// Ten buckets with one owner each, by `pin`.
    #[serde(rename = "hash_10_one_owner")]
    Hash10OneOwner,
    /// Four buckets a server with one owner each.
    #[serde(rename = "hash_4n_one_owner")]
    Hash4nOneOwner,
    /// No buckets: the filter hashes each key.
    Keys,
}

/// The buckets of the published run.
pub(super) const PUBLISHED_BUCKETS: u32 = 10;
/// Numbers that are taken before the first new key: what the range placement cuts.
pub(super) const SPAN: u64 = 1_000_000;
/// `pin` places so many keys one by one at most, which is more than there are buckets.
const PINNED: u32 = 512;
/// Buckets are alike, so what `pin` measures between them is noise: with its default of 1.02 it would move them for that.
const TOLERANCE: f64 = 1.25;

impl Placement {
    pub(super) const ALL: [Self; 5] =
        [Self::Range, Self::Hash10, Self::Hash10OneOwner, Self::Hash4nOneOwner, Self::Keys];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::Hash10 => "hash_10",
            Self::Hash10OneOwner => "hash_10_one_owner",
            Self::Hash4nOneOwner => "hash_4n_one_owner",
            Self::Keys => "keys",
        }
    }

    pub(super) fn buckets(self, servers: usize) -> Option<u32> {
        match self {
            Self::Range | Self::Keys => None,
            Self::Hash10 | Self::Hash10OneOwner => Some(PUBLISHED_BUCKETS),
            Self::Hash4nOneOwner => u32::try_from(4 * servers).ok(),
        }
    }

    fn strategy(self) -> &'static str {
        match self {
            Self::Hash10OneOwner | Self::Hash4nOneOwner => "pin",
            Self::Range | Self::Hash10 | Self::Keys => "spread",
        }
    }

    /// The cluster in which it runs.
    pub(super) fn enter(self, builder: Builder, span: u64) -> Builder {
        match self {
            Self::Range => builder.baseline(Baseline::Range { span }),
            _ => builder
                .strategy(self.strategy())
                .filter_field("hash_tag", true)
                .filter_field("pin", json!({ "keys": PINNED, "tolerance": TOLERANCE })),
        }
    }

    /// As the simulator reads it.
    pub(super) fn simulated(self) -> String {
        match self {
            Self::Range => "{ name = \"range\", rival = \"range\" }".to_owned(),
            _ => format!(
                "{{ name = \"{}\", filter = {{ strategy = \"{}\", hash_tag = true, pin = {{ keys = {PINNED}, tolerance = {TOLERANCE} }} }} }}",
                self.name(),
                self.strategy()
            ),
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// New keys from `first` on, all written.
pub(super) fn writes(first: u64, buckets: Option<u32>, seed: u64) -> WorkloadSpec {
    WorkloadSpec {
        seed,
        keys: KeySpec::Sequential { count: SPAN, first, buckets },
        read_fraction: 0.0,
        value_bytes: ValueBytes { min: 32, max: 32 },
    }
}

/// How a table's keys are laid out, as far as a scan must know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    Ranges(Ranges),
    Buckets(u32),
}

/// One request of a scan: the keys from one up to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub from: Vec<u8>,
    pub to: Vec<u8>,
}

impl Layout {
    /// What must be asked for to get all keys numbered `from..to`: a piece of each range that they touch, or of every
    /// bucket, since any of them may hold some.
    #[must_use]
    pub fn pieces(&self, from: u64, to: u64) -> Vec<Piece> {
        match self {
            Self::Ranges(ranges) => {
                let pieces = ranges.pieces(from, to).into_iter();
                pieces.map(|(_, from, to)| Piece { from: name_of(from), to: name_of(to) }).collect()
            }
            Self::Buckets(buckets) => (0..*buckets)
                .map(|bucket| Piece {
                    from: bucketed_name(bucket, from),
                    to: bucketed_name(bucket, to),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rudolph_workload::{SplitMix64, bucket_of};

    use super::*;

    /// The obvious version: the whole table as a list, and every key looked at.
    #[test]
    fn the_pieces_of_a_scan_hold_its_keys_once_each() {
        const SEED: u64 = 41;
        let mut rng = SplitMix64::new(SEED);
        for _ in 0..100 {
            let buckets = 1 + rng.next_below(25) as u32;
            let parts = 1 + rng.next_below(12) as usize;
            let bucketed = (0..1_000).map(|n| (bucketed_name(bucket_of(n, buckets), n), n));
            let plain = (0..1_000).map(|n| (name_of(n), n));
            let from = rng.next_below(900);
            let to = from + 1 + rng.next_below(100);
            for (table, layout) in [
                (bucketed.collect::<Vec<_>>(), Layout::Buckets(buckets)),
                (plain.collect(), Layout::Ranges(Ranges::even(1_000, parts))),
            ] {
                let mut found = Vec::new();
                for Piece { from, to } in layout.pieces(from, to) {
                    let inside = table.iter().filter(|(name, _)| *name >= from && *name < to);
                    found.extend(inside.map(|(_, number)| *number));
                }
                found.sort_unstable();
                assert!(found.into_iter().eq(from..to), "seed {SEED}: {from}..{to} of {layout:?}");
            }
        }
    }

    #[test]
    fn names_are_the_words_of_the_files() {
        for placement in Placement::ALL {
            assert_eq!(serde_json::to_value(placement).unwrap(), placement.name());
        }
    }
}
