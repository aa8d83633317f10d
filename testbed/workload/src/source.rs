use crate::{
    AlphaRamp, KeySpec, Permutation, SpecError, SplitMix64, Zipf, names, replay::ReplayFile,
};

/// Draws key numbers; names are given by the stream.
#[derive(Clone, Debug)]
pub(crate) enum KeySource {
    Zipf(ShiftingZipf),
    Uniform { count: u64 },
    Sequential { count: u64, next: u64, first: u64, buckets: Option<u32> },
    OneHot { count: u64, share: f64, hot: u64 },
    Replay { file: ReplayFile, next: u64 },
}

impl KeySource {
    /// REQUIRES: a validated spec.
    pub(crate) fn new(spec: &KeySpec, seed: u64) -> Result<Self, SpecError> {
        Ok(match spec {
            KeySpec::Zipf { count, alpha, ramp, reshuffle_s } => {
                Self::Zipf(ShiftingZipf::new(*count, *alpha, ramp.clone(), *reshuffle_s, seed))
            }
            KeySpec::Uniform { count } => Self::Uniform { count: *count },
            KeySpec::Sequential { count, first, buckets } => {
                Self::Sequential { count: *count, next: 0, first: *first, buckets: *buckets }
            }
            KeySpec::OneHot { count, share } => Self::OneHot {
                count: *count,
                share: *share,
                hot: SplitMix64::for_purpose(seed, 2).next_below(*count),
            },
            KeySpec::Replay { path } => Self::Replay { file: ReplayFile::read(path)?, next: 0 },
        })
    }

    pub(crate) fn next(&mut self, now_ns: u64, rng: &mut SplitMix64) -> u64 {
        match self {
            Self::Zipf(zipf) => zipf.next(now_ns, rng),
            Self::Uniform { count } => rng.next_below(*count),
            Self::Sequential { count, next, .. } => advance(next, *count),
            Self::OneHot { count, share, hot } => one_hot(*count, *share, *hot, rng),
            Self::Replay { file, next } => advance(next, file.len()),
        }
    }

    /// Appends the bytes of a key.
    pub(crate) fn write_name(&self, number: u64, out: &mut Vec<u8>) {
        match self {
            // Every number that a stream gives is one of the file's.
            Self::Replay { file, .. } => out.extend_from_slice(file.key(number).unwrap_or(b"k")),
            Self::Sequential { first, buckets: Some(buckets), .. } => {
                names::write_bucketed(first + number, *buckets, out);
            }
            Self::Sequential { first, .. } => names::write_name(first + number, out),
            _ => names::write_name(number, out),
        }
    }
}

fn advance(next: &mut u64, count: u64) -> u64 {
    let current = *next;
    *next = if current + 1 >= count { 0 } else { current + 1 };
    current
}

fn one_hot(count: u64, share: f64, hot: u64, rng: &mut SplitMix64) -> u64 {
    if count == 1 || rng.next_unit() < share {
        return hot;
    }
    let other = rng.next_below(count - 1);
    if other >= hot { other + 1 } else { other }
}

/// Zipf whose alpha steps and whose ranks change hands as time goes on.
#[derive(Clone, Debug)]
pub(crate) struct ShiftingZipf {
    count: u64,
    alpha: f64,
    ramp: Option<AlphaRamp>,
    reshuffle_ns: Option<u64>,
    seed: u64,
    zipf: Zipf,
    level: u64,
    permutation: Permutation,
    deal: u64,
}

impl ShiftingZipf {
    fn new(
        count: u64,
        alpha: f64,
        ramp: Option<AlphaRamp>,
        reshuffle_s: Option<f64>,
        seed: u64,
    ) -> Self {
        Self {
            count,
            alpha,
            ramp,
            reshuffle_ns: reshuffle_s.map(nanoseconds),
            seed,
            zipf: Zipf::new(count, alpha),
            level: 0,
            permutation: deal_of(count, seed, 0),
            deal: 0,
        }
    }

    fn next(&mut self, now_ns: u64, rng: &mut SplitMix64) -> u64 {
        self.follow_time(now_ns);
        self.permutation.apply(self.zipf.sample(rng) - 1)
    }

    fn follow_time(&mut self, now_ns: u64) {
        if let Some(every) = self.reshuffle_ns {
            let deal = now_ns / every.max(1);
            if deal != self.deal {
                self.deal = deal;
                self.permutation = deal_of(self.count, self.seed, deal);
            }
        }
        if let Some(ramp) = &self.ramp {
            let level = (now_ns / nanoseconds(ramp.step_s).max(1)).min(u64::from(ramp.steps) - 1);
            if level != self.level {
                self.level = level;
                self.zipf = Zipf::new(self.count, alpha_at(self.alpha, ramp, level));
            }
        }
    }
}

#[allow(clippy::cast_precision_loss)] // at most 1000 levels
fn alpha_at(from: f64, ramp: &AlphaRamp, level: u64) -> f64 {
    from + (ramp.to - from) * level as f64 / f64::from(ramp.steps - 1)
}

fn deal_of(count: u64, seed: u64, deal: u64) -> Permutation {
    Permutation::new(count, SplitMix64::for_purpose(seed, 3 ^ deal << 8).next_u64())
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // validated: 1 ms to a million seconds
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}
