//! The race: shares by weight, minimal movement, and an obvious twin.

mod common;

use std::collections::BTreeSet;

use common::{Rng, address, mix, seeds};
use rudolph_core::hash::digest;
use rudolph_core::rendezvous::{BINS, Contender, order_of_key, race};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const WIDTH: usize = 3;

/// Rows of server numbers.
fn rows(servers: &[(usize, f64)]) -> Vec<Vec<usize>> {
    let contenders: Vec<Contender> = (servers.iter())
        .map(|&(number, weight)| Contender::new(&address(number), weight))
        .collect();
    let (rows, width) = race(&contenders, WIDTH);
    assert_eq!(rows.len(), BINS as usize * width);
    let number = |&index: &u16| servers[usize::from(index)].0;
    rows.chunks(width).map(|row| row.iter().map(number).collect()).collect()
}

fn homes(servers: &[(usize, f64)]) -> Vec<usize> {
    rows(servers).iter().map(|row| row[0]).collect()
}

fn equal(count: usize) -> Vec<(usize, f64)> {
    (0..count).map(|number| (number, 1.0)).collect()
}

#[test]
fn every_bin_has_distinct_owners() {
    for count in [1, 2, 3, 4, 17, 300] {
        let rows = rows(&equal(count));
        for (bin, row) in rows.iter().enumerate() {
            let distinct: BTreeSet<&usize> = row.iter().collect();
            assert_eq!(distinct.len(), WIDTH.min(count), "n={count} bin={bin}");
        }
    }
    assert_eq!(race(&[], WIDTH), (Vec::new(), 0));
}

#[test]
fn shares_follow_weights() {
    for seed in seeds(4) {
        let mut rng = Rng::new(seed);
        let count = [2, 7, 40, 200][seed as usize % 4];
        let servers: Vec<(usize, f64)> =
            (0..count).map(|number| (number, rng.between(1, 9) as f64)).collect();
        let total: f64 = servers.iter().map(|(_, weight)| weight).sum();
        let mut owned = vec![0.0; count];
        for home in homes(&servers) {
            owned[home] += 1.0;
        }
        let mut chi_square = 0.0;
        for (number, weight) in servers {
            let share = weight / total;
            let expected = f64::from(BINS) * share;
            let deviation = owned[number] - expected;
            let sigma = (expected * (1.0 - share)).sqrt();
            assert!(deviation.abs() < 4.0 * sigma, "seed {seed} server {number}");
            chi_square += deviation * deviation / expected;
        }
        // Half of what chance alone would give.
        let freedom = count as f64 - 1.0;
        let bound = 0.5 * (freedom + 5.0 * (2.0 * freedom).sqrt());
        assert!(chi_square < bound, "seed {seed}: {chi_square} of {bound}");
    }
}

#[test]
fn who_leaves_gives_its_bins_to_their_second_place_and_takes_them_back() {
    for seed in seeds(4) {
        let mut rng = Rng::new(seed);
        let count = rng.between(2, 30);
        let servers: Vec<(usize, f64)> =
            (0..count).map(|number| (number, rng.between(1, 4) as f64)).collect();
        let leaver = rng.below(count);
        let stay: Vec<(usize, f64)> =
            (servers.iter().copied()).filter(|(number, _)| *number != leaver).collect();
        let (before, after) = (rows(&servers), homes(&stay));
        let (mut moved, mut elsewhere) = (0, 0);
        for (bin, (row, home)) in before.iter().zip(&after).enumerate() {
            if row[0] != leaver {
                assert_eq!(row[0], *home, "seed {seed} bin {bin} moved between survivors");
                continue;
            }
            moved += 1;
            elsewhere += usize::from(row[1] != *home);
        }
        // Only where the race ended before a second server came is the second place drawn otherwise.
        assert!(elsewhere * 500 <= moved, "seed {seed}: {elsewhere} of {moved}");
        assert_eq!(rows(&servers), before, "seed {seed}: back, all is as it was");
    }
}

#[test]
fn who_comes_takes_its_share_from_all_and_nothing_else_moves() {
    for seed in seeds(3) {
        let count = Rng::new(seed).between(1, 60);
        let (before, after) = (homes(&equal(count)), homes(&equal(count + 1)));
        let mut taken = vec![0; count];
        for (old, new) in before.iter().zip(&after) {
            assert!(old == new || *new == count, "seed {seed}");
            taken[*old] += usize::from(old != new);
        }
        let share = taken.iter().sum::<usize>() as f64 / f64::from(BINS);
        let fair = 1.0 / (count + 1) as f64;
        assert!((share - fair).abs() < 0.01, "seed {seed}: {share} of {fair}");
        assert!(taken.iter().all(|&bins| bins > 0), "seed {seed}");
    }
}

#[test]
fn a_weight_that_falls_only_gives_and_one_that_rises_only_takes() {
    for seed in seeds(3) {
        let mut rng = Rng::new(seed);
        let heavy = equal(rng.between(2, 25));
        let changed = rng.below(heavy.len());
        let mut light = heavy.clone();
        light[changed].1 = 0.1 + 0.8 * rng.unit();
        let (heavy, light) = (homes(&heavy), homes(&light));
        let moved = heavy.iter().zip(&light).filter(|(from, to)| from != to);
        let mut count = 0;
        for (from, to) in moved {
            assert_eq!(*from, changed, "seed {seed}: it gives");
            assert_ne!(*to, changed, "seed {seed}: and takes nothing");
            count += 1;
        }
        assert!(count > 0, "seed {seed}");
    }
}

#[test]
fn extreme_weights_end() {
    let owned = |servers: &[(usize, f64)], number| {
        let homes = homes(servers);
        homes.iter().filter(|&&home| home == number).count()
    };
    let million = 1_000_000.0;
    assert!(owned(&[(0, 1.0), (1, million)], 1) >= BINS as usize - 5);
    let mut servers = equal(30);
    servers[7].1 = million;
    assert!(owned(&servers, 7) >= BINS as usize - 20);
    servers.iter_mut().for_each(|server| server.1 = million);
    servers[7].1 = 1.0;
    assert!(owned(&servers, 7) <= 5);
}

/// Per bin the first arrival of each server until a horizon, in time.
fn twin(servers: &[(usize, f64)], horizon: f64) -> Vec<Vec<(f64, usize)>> {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut bins = vec![Vec::<(f64, usize)>::new(); BINS as usize];
    for &(number, weight) in servers {
        let seed = digest(0x7261_6365, address(number).as_str().as_bytes());
        let phase = (mix(seed) >> 11) as f64 / (1u64 << 53) as f64;
        let times = (0u32..).map(|arrival| (f64::from(arrival) + phase) / weight);
        for (arrival, time) in (1..).zip(times.take_while(|time| *time <= horizon)) {
            let drawn = mix(seed.wrapping_add(STEP.wrapping_mul(arrival)));
            let bin = &mut bins[(drawn % u64::from(BINS)) as usize];
            if bin.iter().all(|(_, other)| *other != number) {
                bin.push((time, number));
            }
        }
    }
    for bin in &mut bins {
        bin.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    bins
}

#[test]
fn the_race_is_its_twin() {
    for (seed, count) in seeds(5).zip([1, 2, 5, 12, 60, 9]) {
        let mut rng = Rng::new(seed);
        let servers: Vec<(usize, f64)> =
            (0..count).map(|number| (number, rng.between(1, 5) as f64)).collect();
        let total: f64 = servers.iter().map(|(_, weight)| weight).sum();
        let round = f64::from(BINS) / total;
        let twin = twin(&servers, 30.0 * round);
        let last = twin.iter().map(|bin| bin[0].0).fold(0.0, f64::max);
        let ends = (last / round).ceil() * round;
        for (bin, (row, expected)) in rows(&servers).iter().zip(&twin).enumerate() {
            for (place, number) in row.iter().enumerate() {
                let Some((_, other)) = expected.get(place).filter(|(time, _)| *time < ends) else {
                    break;
                };
                assert_eq!(number, other, "seed {seed} n={count} bin {bin} place {place}");
            }
        }
    }
}

#[test]
fn a_steady_pace_is_more_even_than_chance() {
    for count in [200, 1000, 3000] {
        let mut owned = vec![0.0; count];
        for home in homes(&equal(count)) {
            owned[home] += 1.0;
        }
        let due = f64::from(BINS) / count as f64;
        let square: f64 = owned.iter().map(|bins| (bins / due - 1.0) * (bins / due - 1.0)).sum();
        let found = (square / count as f64).sqrt();
        let by_chance = (1.0 / due).sqrt();
        let largest = owned.iter().copied().fold(0.0, f64::max) / due;
        println!("n={count}: {found:.4}, by chance {by_chance:.4}; the largest {largest:.3}");
        assert!(found < 0.8 * by_chance, "n={count}: {found}, by chance {by_chance}");
    }
}

#[test]
fn the_order_of_a_key_goes_on_from_its_row_and_keeps_the_survivors_in_order() {
    for seed in seeds(20) {
        let mut rng = Rng::new(seed);
        let contenders: Vec<Contender> =
            (0..30).map(|i| Contender::new(&address(i), 1.0)).collect();
        let first = [3, 1, 4];
        let key = rudolph_core::hash::KeyHash(rng.next());
        let all = order_of_key(&contenders, key, &first, 30);
        assert_eq!(all[..3], first, "seed {seed}");
        let distinct: BTreeSet<&u16> = all.iter().collect();
        assert_eq!(distinct.len(), 30, "seed {seed}");
        for count in [0, 3, 4, 11, 29] {
            let part = order_of_key(&contenders, key, &first, count);
            assert_eq!(part, all[..count.max(3)], "seed {seed} count {count}");
        }
        let fewer = order_of_key(&contenders[..29], key, &first, 29);
        let without: Vec<u16> = all.iter().copied().filter(|&server| server != 29).collect();
        assert_eq!(fewer, without, "seed {seed}");
    }
}
