//! Maglev's table as Envoy fills it: each server in turn takes the next free slot of its own permutation.

use rudolph_core::hash::digest;

use crate::balancer::ServerNumber;
use crate::core_driver::address;

/// Envoy's default, a prime.
pub(super) const SIZE: u64 = 65_537;

const FREE: u16 = u16::MAX;

/// For each slot the index of its server among `members`.
pub(super) fn table(members: &[ServerNumber]) -> Vec<u16> {
    let mut table = vec![FREE; SIZE as usize];
    if members.is_empty() {
        return table;
    }
    let mut walks: Vec<(u64, u64)> = members.iter().map(|&server| walk_of(server)).collect();
    let mut filled = 0;
    loop {
        for (index, (at, skip)) in walks.iter_mut().enumerate() {
            while table[*at as usize] != FREE {
                *at = (*at + *skip) % SIZE;
            }
            table[*at as usize] = index as u16;
            filled += 1;
            if filled == SIZE {
                return table;
            }
        }
    }
}

/// Where a server's permutation begins and by how much it steps: two hashes of its address.
fn walk_of(server: ServerNumber) -> (u64, u64) {
    let address = address(server);
    (digest(0, address.as_bytes()) % SIZE, digest(1, address.as_bytes()) % (SIZE - 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_has_its_share_but_for_one_slot() {
        for servers in [1, 2, 5, 20, 100] {
            let members: Vec<u32> = (0..servers).collect();
            let mut slots = vec![0_u64; servers as usize];
            table(&members).iter().for_each(|&server| slots[usize::from(server)] += 1);
            let (least, most) = (slots.iter().min().unwrap(), slots.iter().max().unwrap());
            assert!(most - least <= 1, "{servers} servers: {least} to {most}");
        }
    }

    #[test]
    fn a_lost_server_moves_little_else() {
        let all: Vec<u32> = (0..10).collect();
        let without: Vec<u32> = all.iter().copied().filter(|&server| server != 3).collect();
        let (before, after) = (table(&all), table(&without));
        let pairs = before.iter().zip(&after);
        let kept = pairs.map(|(&b, &a)| (all[usize::from(b)], without[usize::from(a)]));
        let moved = kept.filter(|&(before, after)| before != 3 && before != after).count();
        assert!((moved as f64) < 0.1 * SIZE as f64, "{moved} slots of others moved");
    }
}
