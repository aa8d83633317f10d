use std::collections::HashMap;

use rudolph_workload::KeyId;

/// Keys followed at most; later ones are not.
const MOST_KEYS: usize = 1_000_000;

/// Which server each key met last, and how often that changed.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    last: HashMap<KeyId, u32>,
    pub(crate) returned: u64,
    pub(crate) moved: u64,
}

impl Moves {
    /// REQUIRES: servers are numbered from 0, far below 2^32.
    pub(crate) fn met(&mut self, key: KeyId, server: usize, counts: bool) {
        let server = u32::try_from(server).unwrap_or(u32::MAX);
        let before = match self.last.get_mut(&key) {
            Some(last) => std::mem::replace(last, server),
            None => {
                if self.last.len() < MOST_KEYS {
                    self.last.insert(key, server);
                }
                return;
            }
        };
        if counts {
            self.returned += 1;
            self.moved += u64::from(before != server);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_keys_that_meet_another_server_than_before() {
        let mut moves = Moves::default();
        for (key, server) in [(1, 0), (2, 0), (1, 0), (1, 1), (1, 1), (2, 0)] {
            moves.met(KeyId(key), server, true);
        }
        assert_eq!((moves.returned, moves.moved), (4, 1));
        moves.met(KeyId(2), 1, false);
        moves.met(KeyId(2), 1, true);
        assert_eq!((moves.returned, moves.moved), (5, 1), "warm-up is remembered, not counted");
    }
}
