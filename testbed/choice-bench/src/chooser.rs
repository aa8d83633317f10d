use rudolph_core::hash::KeyHash;

use crate::ours;
use crate::rivals::{jump, ketama, maglev::Maglev, ring::Ring, scoring::Scoring};

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChooserError {
    #[error("our own configuration is refused: {0}")]
    Config(String),
    #[error("no plan for {servers} servers: {reason}")]
    Plan { servers: usize, reason: String },
}

/// Chooses a server for each key, one after the other, and returns the sum of the choices, so that none can be left out.
pub(crate) type Batch = Box<dyn FnMut(&[Vec<u8>]) -> u64>;

/// One way to choose.
pub(crate) struct Way {
    pub(crate) name: &'static str,
    /// Builds what is chosen from, for so many servers.
    pub(crate) build: fn(usize) -> Result<Batch, ChooserError>,
    /// The cost grows with the servers: fewer keys are enough, and more would take minutes.
    pub(crate) is_linear: bool,
}

/// All ways, ours first. All but ketama, which hashes by CRC-32 inside, hash the key by XXH64.
pub(crate) const WAYS: [Way; 8] = [
    Way { name: "ours", build: |n| Ok(each(ours::table(n)?)), is_linear: false },
    Way { name: "ours_whole", build: |n| Ok(each(ours::whole(n)?)), is_linear: false },
    Way { name: "array", build: |n| Ok(each(move |key| hash(key) % n as u64)), is_linear: false },
    Way {
        name: "maglev",
        build: |n| Ok(by_hash(Maglev::new(n), Maglev::server)),
        is_linear: false,
    },
    Way {
        name: "jump",
        build: |n| Ok(each(move |key| u64::from(jump::bucket(hash(key), n as u32)))),
        is_linear: false,
    },
    Way { name: "ring", build: |n| Ok(by_hash(Ring::new(n), Ring::server)), is_linear: false },
    Way { name: "ketama", build: |n| Ok(each(ketama::chooser(n))), is_linear: false },
    Way {
        name: "scoring",
        build: |n| Ok(by_hash(Scoring::new(n), Scoring::server)),
        is_linear: true,
    },
];

pub(crate) fn hash(key: &[u8]) -> u64 {
    KeyHash::of(key).0
}

/// What all call the servers.
pub(crate) fn address(server: usize) -> String {
    format!("10.{}.{}.1:8080", server / 250, server % 250)
}

/// A loop of its own for each way, so that a choice costs no call through a pointer.
fn each(mut choose: impl FnMut(&[u8]) -> u64 + 'static) -> Batch {
    Box::new(move |keys| keys.iter().fold(0, |sum, key| sum ^ choose(std::hint::black_box(key))))
}

fn by_hash<T: 'static>(from: T, choose: impl Fn(&T, u64) -> usize + 'static) -> Batch {
    each(move |key| choose(&from, hash(key)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_uses_all_servers_and_chooses_alike_each_time() {
        for way in WAYS.iter().filter(|way| way.name != "ketama" && way.name != "ours_whole") {
            let mut batch = (way.build)(10).unwrap();
            let mut seen = std::collections::BTreeSet::new();
            for i in 0..2_000 {
                let key = vec![format!("user:{i:07}").into_bytes()];
                let chosen = batch(&key);
                assert_eq!(batch(&key), chosen, "{}", way.name);
                seen.insert(chosen);
            }
            assert_eq!(seen, (0..10).collect(), "{}", way.name);
        }
    }
}
