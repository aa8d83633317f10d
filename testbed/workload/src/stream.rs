use crate::{SpecError, SplitMix64, ValueBytes, WorkloadSpec, rng::mix, source::KeySource};

/// A key's number; [`KeyStream::write_key`] gives its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Read,
    Write,
}

/// One request to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub key: KeyId,
    pub operation: Operation,
    /// Size of this key's value, the same whenever the key comes.
    pub value_bytes: usize,
}

/// The stream itself. Keys and operations are drawn from separate generators, so the mix does not change the keys.
#[derive(Clone, Debug)]
pub struct KeyStream {
    source: KeySource,
    key_rng: SplitMix64,
    operation_rng: SplitMix64,
    read_fraction: f64,
    value_bytes: ValueBytes,
    seed: u64,
}

impl KeyStream {
    /// REQUIRES: a validated spec; [`WorkloadSpec::build`] sees to it.
    pub(crate) fn new(spec: &WorkloadSpec) -> Result<Self, SpecError> {
        Ok(Self {
            source: KeySource::new(&spec.keys, spec.seed)?,
            key_rng: SplitMix64::for_purpose(spec.seed, 0),
            operation_rng: SplitMix64::for_purpose(spec.seed, 1),
            read_fraction: spec.read_fraction,
            value_bytes: spec.value_bytes.clone(),
            seed: spec.seed,
        })
    }

    /// The next request at `now_ns` since the start of the run. Time decides which deal of ranks and which alpha holds.
    pub fn next(&mut self, now_ns: u64) -> Step {
        let key = KeyId(self.source.next(now_ns, &mut self.key_rng));
        Step { key, operation: self.operation(), value_bytes: self.value_bytes_of(key) }
    }

    /// The same keys with the same ranks and sizes, drawn in another order: for filling caches before the stream itself comes.
    #[must_use]
    pub fn redrawn(mut self) -> Self {
        self.key_rng = SplitMix64::for_purpose(self.seed, 5);
        self.operation_rng = SplitMix64::for_purpose(self.seed, 6);
        self
    }

    /// Appends the key's bytes. Numbered keys have a fixed width, so that their order as text is their order as numbers.
    pub fn write_key(&self, key: KeyId, out: &mut Vec<u8>) {
        self.source.write_name(key.0, out);
    }

    fn operation(&mut self) -> Operation {
        if self.read_fraction >= 1.0 || self.operation_rng.next_unit() < self.read_fraction {
            Operation::Read
        } else {
            Operation::Write
        }
    }

    fn value_bytes_of(&self, key: KeyId) -> usize {
        let ValueBytes { min, max } = self.value_bytes;
        if min == max {
            return min;
        }
        let span = (max - min + 1) as u64;
        min + usize::try_from(mix(self.seed ^ mix(key.0)) % span).unwrap_or(0)
    }
}
