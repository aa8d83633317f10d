//! Bins in ring order: each server owns an arc as long as its weight, and a rotation turns all arcs at once.
//!
//! With equal weights and `c` bins a server this is `server(b) = floor((b - r) / c) mod n`.

use crate::plan::Plan;
use crate::servers::ServerId;

/// The arcs of the servers at rotation 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arcs {
    /// Where each server's arc begins, and at the end the number of bins.
    starts: Vec<u32>,
}

impl Arcs {
    /// `bins_per_server * members` bins, shared by effective weight; every server gets at least one.
    #[must_use]
    pub fn of(plan: &Plan, bins_per_server: u32) -> Self {
        let weights: Vec<f64> = (0..plan.members.len())
            .map(|i| plan.effective_weight(ServerId::from_index(i)))
            .collect();
        Self::by_weight(&weights, bins_per_server)
    }

    /// Shares by largest remainder, ties to the earlier server.
    #[must_use]
    pub fn by_weight(weights: &[f64], bins_per_server: u32) -> Self {
        let bins = bins_per_server as usize * weights.len();
        let spare = bins - weights.len();
        let total: f64 = weights.iter().sum();
        let exact: Vec<f64> = weights.iter().map(|w| w / total * bins as f64).collect();
        // One bin each comes first; what an arc wants beyond that is shared by size.
        let wanted: Vec<f64> = exact.iter().map(|x| (x - 1.0).max(0.0)).collect();
        let scale = spare as f64 / wanted.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let shares: Vec<f64> = wanted.iter().map(|x| x * scale).collect();
        let mut lengths: Vec<u32> = shares.iter().map(|x| 1 + (x + 1e-9) as u32).collect();
        let given: usize = lengths.iter().map(|&length| length as usize).sum();
        let mut order: Vec<usize> = (0..weights.len()).collect();
        let remainder = |i: usize| shares[i] - (lengths[i] - 1) as f64;
        order.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)).then(a.cmp(&b)));
        for &i in order.iter().cycle().take(bins.saturating_sub(given)) {
            lengths[i] += 1;
        }
        let mut starts = vec![0];
        let mut end = 0;
        for length in lengths {
            end += length;
            starts.push(end);
        }
        Self { starts }
    }

    /// All bins.
    #[must_use]
    pub fn bins(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Where each server's arc begins, and at the end the number of bins.
    #[must_use]
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The owner of a bin at rotation 0.
    #[must_use]
    pub fn owner(&self, bin: u32) -> usize {
        self.starts.partition_point(|&start| start <= bin).saturating_sub(1)
    }

    /// The owner of each bin at a rotation.
    #[must_use]
    pub fn owners(&self, rotation: u32) -> Vec<u16> {
        let bins = self.bins();
        let mut owners = vec![0; bins as usize];
        for (server, arc) in self.starts.windows(2).enumerate() {
            for bin in arc[0]..arc[1] {
                owners[((bin + rotation) % bins) as usize] = server as u16;
            }
        }
        owners
    }

    /// For each server at a rotation, the sum of the counts of its bins. `running[i]` is the sum of the first
    /// `i` counts, so that each arc costs two look-ups.
    pub(crate) fn loads<'a>(
        &'a self,
        running: &'a [u64],
        rotation: u32,
    ) -> impl Iterator<Item = u64> + 'a {
        let bins = self.bins();
        let total = running[bins as usize];
        let before = move |bin: u32| {
            let at = bin + rotation;
            if at >= bins { total + running[(at - bins) as usize] } else { running[at as usize] }
        };
        self.starts.windows(2).map(move |arc| before(arc[1]) - before(arc[0]))
    }
}
