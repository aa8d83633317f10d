//! Weighted rendezvous placement, as a race.
//!
//! Rendezvous hashing gives a bin to the server with the smallest `-ln(u(bin, server)) / weight`. Those
//! numbers are independent exponential variates, so the same law holds when each server instead throws
//! its own endless sequence of arrivals over the bins, as a Poisson process with its weight for a rate,
//! and a bin belongs to the first server that reaches it. A server's arrivals depend on its address and
//! weight alone, hence: equal members give equal owners anywhere; a server that leaves gives its bins
//! away and no other bin moves; one that comes takes from all alike.
//!
//! Scoring every pair costs bins x servers. The race costs about `bins * ln(bins)` arrivals whatever
//! the number of servers, so a table is made anew for each change and never patched.

use crate::hash::{EXPONENTIAL_FRACTION_BITS, GOLDEN_GAMMA, KeyHash, digest, exponential, mix};
use crate::servers::Address;

/// Bins of the race. It does not depend on the number of servers: if it did, a server's coming would
/// rename the bins, and keys would move between servers that stayed.
pub const BINS: u32 = 1 << 16;

/// Marks an unfilled place of a row.
const NOBODY: u16 = u16::MAX;

/// What the race needs to know of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contender {
    seed: u64,
    weight: f64,
}

impl Contender {
    /// A server as it takes part: `weight` must be positive and finite.
    #[must_use]
    pub fn new(address: &Address, weight: f64) -> Self {
        debug_assert!(weight > 0.0 && weight.is_finite());
        Self { seed: digest(0x7261_6365, address.as_str().as_bytes()), weight }
    }

    /// The server's score for one key or bin: the smaller, the earlier in the rendezvous order.
    #[inline]
    fn score(&self, item: u64) -> f64 {
        let drawn = mix(self.seed ^ mix(item.wrapping_add(GOLDEN_GAMMA)));
        exponential(drawn >> 16) as f64 / self.weight
    }
}

/// The first `width` servers of each bin's rendezvous order, `min(width, contenders)` of them distinct.
///
/// The table is row-major: row `b` is `[b * width .. (b + 1) * width]` with the actual width returned.
#[must_use]
pub fn race(contenders: &[Contender], width: usize) -> (Vec<u16>, usize) {
    let width = width.min(contenders.len());
    let mut rows = Rows::new(width);
    if width > 0 {
        run(contenders, &mut rows);
        fill_by_score(contenders, &mut rows);
    }
    (rows.servers, width)
}

struct Rows {
    width: usize,
    times: Vec<f64>,
    servers: Vec<u16>,
    taken: u32,
}

impl Rows {
    fn new(width: usize) -> Self {
        let places = BINS as usize * width;
        Self { width, times: vec![f64::INFINITY; places], servers: vec![NOBODY; places], taken: 0 }
    }

    /// Puts an arrival in its place in the row, unless the row is full of earlier ones or has this server.
    #[inline]
    fn arrive(&mut self, bin: usize, server: u16, time: f64) {
        let range = bin * self.width..(bin + 1) * self.width;
        let times = &mut self.times[range.clone()];
        let last = times.len() - 1;
        if time >= times[last] {
            return;
        }
        let servers = &mut self.servers[range];
        if servers.contains(&server) {
            return;
        }
        self.taken += u32::from(servers[0] == NOBODY);
        let mut place = last;
        while place > 0 && times[place - 1] > time {
            times[place] = times[place - 1];
            servers[place] = servers[place - 1];
            place -= 1;
        }
        times[place] = time;
        servers[place] = server;
    }
}

/// Runs in rounds of equal time until every bin has an owner. Arrivals of a later round are all later
/// than those of an earlier one, so an owner, once there, is final.
fn run(contenders: &[Contender], rows: &mut Rows) {
    const ONE: f64 = (1u64 << EXPONENTIAL_FRACTION_BITS) as f64;
    let total_weight: f64 = contenders.iter().map(|c| c.weight).sum();
    let round_length = f64::from(BINS) / total_weight * ONE;
    let mut runners: Vec<(u64, u64)> = contenders.iter().map(|c| (c.seed, 0)).collect();
    let mut round = 0.0;
    while rows.taken < BINS {
        round += 1.0;
        for (id, (contender, runner)) in contenders.iter().zip(&mut runners).enumerate() {
            let finish = (round_length * round * contender.weight) as u64;
            let (mut state, mut clock) = *runner;
            loop {
                let drawn = mix(state);
                let next = clock + exponential(drawn >> 16);
                if next > finish {
                    break;
                }
                state = state.wrapping_add(GOLDEN_GAMMA);
                clock = next;
                let bin = (drawn & u64::from(BINS - 1)) as usize;
                rows.arrive(bin, id as u16, next as f64 / contender.weight);
            }
            *runner = (state, clock);
        }
    }
}

/// Fills the few successors that the race had not reached when the last bin got its owner.
fn fill_by_score(contenders: &[Contender], rows: &mut Rows) {
    let width = rows.width;
    for bin in 0..BINS as usize {
        let row = &mut rows.servers[bin * width..(bin + 1) * width];
        let Some(missing) = row.iter().position(|&server| server == NOBODY) else {
            continue;
        };
        let (have, rest) = row.split_at_mut(missing);
        let order = best_others(contenders, bin as u64, have, rest.len());
        for (place, server) in rest.iter_mut().zip(order) {
            *place = server;
        }
    }
}

/// The rendezvous order of a key: `first` as it stands (its bin's row), then the best `count` others.
#[must_use]
pub fn order_of_key(
    contenders: &[Contender],
    key: KeyHash,
    first: &[u16],
    count: usize,
) -> Vec<u16> {
    let mut order = first.to_vec();
    let others = count.saturating_sub(first.len());
    order.extend(best_others(contenders, key.0, first, others));
    order
}

fn best_others(contenders: &[Contender], item: u64, except: &[u16], count: usize) -> Vec<u16> {
    let mut scored: Vec<(f64, u16)> = contenders
        .iter()
        .enumerate()
        .map(|(id, contender)| (contender.score(item), id as u16))
        .filter(|(_, id)| !except.contains(id))
        .collect();
    let earlier = |a: &(f64, u16), b: &(f64, u16)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if count < scored.len() && count > 0 {
        scored.select_nth_unstable_by(count - 1, earlier);
    }
    scored.truncate(count);
    scored.sort_unstable_by(earlier);
    scored.into_iter().map(|(_, id)| id).collect()
}
