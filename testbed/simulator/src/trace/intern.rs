//! Numbers for keys: each different key gets the next.

use rudolph_core::hash::KeyHash;

const FREE: u32 = u32::MAX;

/// The keys that were met. Their bytes stand one after the other in one piece of memory.
#[derive(Debug)]
pub(super) struct Interner {
    bytes: Vec<u8>,
    /// Where each key ends.
    ends: Vec<u64>,
    hashes: Vec<KeyHash>,
    /// Open addressing with linear probing, at most half full; the length is a power of two.
    slots: Vec<u32>,
}

impl Interner {
    pub(super) fn new() -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), hashes: Vec::new(), slots: vec![FREE; 1 << 12] }
    }

    /// The number of a key; `None` if there are too many.
    #[inline]
    pub(super) fn number(&mut self, key: &[u8]) -> Option<u32> {
        let hash = KeyHash::of(key);
        let mut slot = self.first_slot(hash);
        while self.slots[slot] != FREE {
            let known = self.slots[slot];
            if self.hashes[known as usize] == hash && self.key(known) == key {
                return Some(known);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        let number = u32::try_from(self.hashes.len()).ok().filter(|&number| number != FREE)?;
        self.slots[slot] = number;
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len() as u64);
        self.hashes.push(hash);
        if self.hashes.len() * 2 > self.slots.len() {
            self.grow();
        }
        Some(number)
    }

    /// The bytes of a key. REQUIRES: a number that was given.
    pub(super) fn key(&self, number: u32) -> &[u8] {
        let at = number as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start as usize..self.ends[at] as usize]
    }

    pub(super) fn into_hashes(self) -> Vec<KeyHash> {
        self.hashes
    }

    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    fn first_slot(&self, hash: KeyHash) -> usize {
        (hash.0 >> 20) as usize & (self.slots.len() - 1)
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        self.slots = Vec::new();
        self.slots.resize(size, FREE);
        for number in 0..self.hashes.len() as u32 {
            let mut slot = self.first_slot(self.hashes[number as usize]);
            while self.slots[slot] != FREE {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    use rudolph_workload::SplitMix64;

    #[test]
    fn numbers_as_a_map_would() {
        let (mut interner, mut map) = (Interner::new(), HashMap::new());
        let mut rng = SplitMix64::new(11);
        for _ in 0..50_000 {
            let key = format!("key {}", rng.next_below(20_000));
            let next = map.len() as u32;
            let expected = *map.entry(key.clone()).or_insert(next);
            assert_eq!(interner.number(key.as_bytes()), Some(expected), "seed 11, {key}");
            assert_eq!(interner.key(expected), key.as_bytes());
        }
        assert_eq!(interner.len(), map.len());
    }
}
