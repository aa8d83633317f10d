//! What hashing alone would do with the same keys: each to one server, as the strategy `static` places them.

use rudolph_core::hash::KeyHash;
use rudolph_workload::{KeyStream, SpecError, WorkloadSpec};

/// Enough that chance moves the result by a hundredth or so.
const SAMPLES: usize = 50_000;
/// Bins a server, as in the filter.
const BINS: u64 = 64;

#[derive(Debug)]
pub(crate) struct PlainHashing {
    stream: KeyStream,
    servers: usize,
    name: Vec<u8>,
}

impl PlainHashing {
    /// REQUIRES: at least one server.
    pub(crate) fn new(workload: &WorkloadSpec, servers: usize) -> Result<Self, SpecError> {
        Ok(Self { stream: workload.build()?, servers, name: Vec::new() })
    }

    /// The busiest server's load over the mean, for keys drawn as the load draws them at that second.
    pub(crate) fn peak_over_mean(&mut self, second: u64) -> f64 {
        // In the middle of the second: at its start ranks may just change hands.
        let now_ns = second * 1_000_000_000 + 500_000_000;
        let mut requests = vec![0_usize; self.servers];
        for _ in 0..SAMPLES {
            let key = self.stream.next(now_ns).key;
            self.name.clear();
            self.stream.write_key(key, &mut self.name);
            requests[self.home()] += 1;
        }
        let most = requests.iter().copied().max().unwrap_or(0);
        most as f64 * self.servers as f64 / SAMPLES as f64
    }

    fn home(&self) -> usize {
        let bins = BINS * self.servers as u64;
        (KeyHash::of(&self.name).0 % bins / BINS) as usize
    }
}

#[cfg(test)]
mod tests {
    use rudolph_workload::KeySpec;

    use super::*;

    fn peak(keys: KeySpec, servers: usize) -> f64 {
        let workload = WorkloadSpec { keys, ..WorkloadSpec::default() };
        PlainHashing::new(&workload, servers).unwrap().peak_over_mean(0)
    }

    #[test]
    fn one_key_is_all_load_on_one_server_and_many_even_ones_are_even_load() {
        assert!((peak(KeySpec::Uniform { count: 1 }, 5) - 5.0).abs() < 1e-9);
        assert!(peak(KeySpec::Uniform { count: 1_000_000 }, 5) < 1.1);
        assert!((peak(KeySpec::Uniform { count: 1_000_000 }, 1) - 1.0).abs() < 1e-9);
    }
}
