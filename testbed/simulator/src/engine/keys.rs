//! Which key comes next, as a small number with a hash made once.

use std::sync::Arc;

use rudolph_core::hash::KeyHash;
use rudolph_core::key::KeyFinder;
use rudolph_workload::{KeySpec, KeyStream, Operation, SpecError, SplitMix64};

use crate::scenario::Scenario;

/// The hashes of all keys that may come, by number.
pub(crate) type Hashes = Arc<[KeyHash]>;

/// A stream of keys.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    hashes: Hashes,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Workload {
        stream: Box<KeyStream>,
        scan: Option<Scan>,
    },
    /// The lines of a trace, from the start again after the last.
    Trace {
        keys: Arc<[u32]>,
        next: usize,
    },
}

#[derive(Clone, Debug)]
struct Scan {
    share: f64,
    first: u32,
    count: u32,
    next: u32,
    rng: SplitMix64,
}

/// Hashes the names of all keys of a scenario: those of the workload, then those of the scan. Where the workload has buckets,
/// what is hashed is the bucket, for every strategy: that is what the filter does with `hash_tag`.
pub(crate) fn hashes_of(scenario: &Scenario) -> Result<Hashes, SpecError> {
    let stream = scenario.workload.build()?;
    let hash_tag = matches!(scenario.workload.keys, KeySpec::Sequential { buckets: Some(_), .. });
    let finder = KeyFinder { sources: Vec::new(), hash_tag };
    let mut hash = |id: u64| {
        let mut name = Vec::new();
        stream.write_key(rudolph_workload::KeyId(id), &mut name);
        KeyHash::of(&finder.reduce(name))
    };
    let own = scenario.key_count();
    let scanned = if scenario.scan.share > 0.0 { scenario.scan.keys } else { 0 };
    Ok((0..own + scanned).map(&mut hash).collect())
}

impl Keys {
    /// REQUIRES: `hashes` are those of this scenario.
    pub(crate) fn of(scenario: &Scenario, seed: u64, hashes: Hashes) -> Result<Self, SpecError> {
        let mut spec = scenario.workload.clone();
        spec.seed = seed;
        let scan = (scenario.scan.share > 0.0).then(|| Scan {
            share: scenario.scan.share,
            first: scenario.key_count() as u32,
            count: scenario.scan.keys as u32,
            next: 0,
            rng: SplitMix64::for_purpose(seed, 14),
        });
        let stream = Box::new(spec.build()?);
        Ok(Self { hashes, source: Source::Workload { stream, scan } })
    }

    /// A trace from one of its lines on. REQUIRES: there is that line.
    pub(crate) fn of_trace(keys: Arc<[u32]>, next: usize, hashes: Hashes) -> Self {
        Self { hashes, source: Source::Trace { keys, next } }
    }

    pub(crate) fn hashes(&self) -> &[KeyHash] {
        &self.hashes
    }

    #[inline]
    pub(crate) fn hash(&self, key: u32) -> KeyHash {
        self.hashes[key as usize]
    }

    /// With each key's number in its hash's place, for what places keys by their order.
    pub(crate) fn by_number(self, scenario: &Scenario) -> Self {
        let first = match scenario.workload.keys {
            KeySpec::Sequential { first, .. } => first,
            _ => 0,
        };
        let numbers = (0..self.hashes.len() as u64).map(|number| KeyHash(first + number));
        Self { hashes: numbers.collect(), source: self.source }
    }

    /// The next key, and whether it is read or written.
    #[inline]
    pub(crate) fn next(&mut self, now_ns: u64) -> (u32, Operation) {
        match &mut self.source {
            Source::Workload { stream, scan } => {
                if let Some(scan) = scan
                    && scan.rng.next_unit() < scan.share
                {
                    let key = scan.first + scan.next;
                    scan.next = (scan.next + 1) % scan.count;
                    return (key, Operation::Read);
                }
                let step = stream.next(now_ns);
                (step.key.0 as u32, step.operation)
            }
            Source::Trace { keys, next } => {
                let key = keys[*next];
                *next = if *next + 1 == keys.len() { 0 } else { *next + 1 };
                (key, Operation::Read)
            }
        }
    }
}
