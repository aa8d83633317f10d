use rudolph_core::hash::digest;

use crate::chooser::address;

/// Envoy's default, a prime.
const SIZE: usize = 65_537;
const FREE: u16 = u16::MAX;

/// Maglev's table: each server in turn takes the next free slot of a walk of its own.
#[derive(Debug)]
pub(crate) struct Maglev(Vec<u16>);

impl Maglev {
    pub(crate) fn new(servers: usize) -> Self {
        let walk = |server: usize| {
            let address = address(server);
            let of = |seed| digest(seed, address.as_bytes()) as usize;
            (of(0) % SIZE, of(1) % (SIZE - 1) + 1)
        };
        let mut walks: Vec<(usize, usize)> = (0..servers).map(walk).collect();
        let (mut table, mut free) = (vec![FREE; SIZE], SIZE);
        'filling: loop {
            for (server, (at, step)) in walks.iter_mut().enumerate() {
                while table[*at] != FREE {
                    *at = (*at + *step) % SIZE;
                }
                table[*at] = server as u16;
                free -= 1;
                if free == 0 {
                    break 'filling;
                }
            }
        }
        Self(table)
    }

    pub(crate) fn server(&self, hash: u64) -> usize {
        usize::from(self.0[(hash % SIZE as u64) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_differ_by_one_slot_at_most() {
        let mut shares = [0; 30];
        Maglev::new(30).0.iter().for_each(|server| shares[usize::from(*server)] += 1);
        assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
    }
}
