//! Weighted rendezvous placement, as a race.
//!
//! Rendezvous hashing gives a bin to the server that scores best for it. Here a server's score is when it
//! arrives: each walks over the bins in a random sequence of its own, at a steady pace as fast as its
//! weight, and a bin belongs to the first to reach it. When and where a server arrives depends on its
//! address and weight alone, hence: equal members give equal owners anywhere; a server that leaves gives
//! its bins away and no other bin moves; one that comes takes from all alike.
//!
//! The steady pace leaves chance less room than independent scores do: the number of a server's bins
//! varies half as much (its variance). And where scoring every pair costs bins x servers, the race costs about
//! `bins * ln(bins)` arrivals whatever the number of servers, so a table is made anew for each change
//! and never patched.

use crate::hash::{GOLDEN_GAMMA, KeyHash, digest, exponential, mix};
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
    let total_weight: f64 = contenders.iter().map(|c| c.weight).sum();
    let round_length = f64::from(BINS) / total_weight;
    let mut runners: Vec<Runner> = contenders.iter().map(Runner::at_the_start).collect();
    let mut finish = 0.0;
    while rows.taken < BINS {
        finish += round_length;
        for (id, runner) in runners.iter_mut().enumerate() {
            while runner.next_at <= finish {
                let (bin, time) = runner.arrive();
                rows.arrive(bin, id as u16, time);
            }
        }
    }
}

/// A server on its way over the bins: one arrival each `1 / weight`.
struct Runner {
    state: u64,
    weight: f64,
    arrivals: f64,
    next_at: f64,
}

impl Runner {
    /// Servers of one weight would all arrive at once: a phase of its own tells each from the others.
    fn at_the_start(contender: &Contender) -> Self {
        const UNIT: f64 = (1u64 << 53) as f64;
        let phase = (mix(contender.seed) >> 11) as f64 / UNIT;
        let weight = contender.weight;
        Self { state: contender.seed, weight, arrivals: phase, next_at: phase / weight }
    }

    #[inline]
    fn arrive(&mut self) -> (usize, f64) {
        let time = self.next_at;
        self.state = self.state.wrapping_add(GOLDEN_GAMMA);
        let bin = mix(self.state) & u64::from(BINS - 1);
        self.arrivals += 1.0;
        self.next_at = self.arrivals / self.weight;
        (bin as usize, time)
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
