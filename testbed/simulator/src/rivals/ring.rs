//! A ring of points, as Envoy lays it with its default of at least 1,024 points.

use rudolph_core::hash::digest;

use crate::balancer::ServerNumber;
use crate::core_driver::address;

const LEAST_POINTS: usize = 1024;

/// Points in order, each with the index of its server.
#[derive(Clone, Debug)]
pub(crate) struct Ring(Vec<(u64, u16)>);

impl Ring {
    pub(super) fn new(members: &[ServerNumber]) -> Self {
        let each = LEAST_POINTS.div_ceil(members.len().max(1));
        let point = |server: ServerNumber, i: usize| {
            digest(0, format!("{}_{i}", address(server)).as_bytes())
        };
        let mut points: Vec<(u64, u16)> = (members.iter().enumerate())
            .flat_map(|(at, &server)| (0..each).map(move |i| (point(server, i), at as u16)))
            .collect();
        points.sort_unstable();
        Self(points)
    }

    /// The server of the first point at or after the hash, around the ring. REQUIRES: there is a server.
    pub(super) fn server(&self, hash: u64) -> usize {
        let at = self.0.partition_point(|(point, _)| *point < hash);
        usize::from(self.0[if at == self.0.len() { 0 } else { at }].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rudolph_workload::SplitMix64;

    #[test]
    fn finds_what_a_search_point_by_point_finds() {
        let ring = Ring::new(&[0, 1, 2, 3, 4]);
        let mut rng = SplitMix64::new(8);
        for _ in 0..2_000 {
            let hash = rng.next_u64();
            let found = ring.0.iter().find(|(point, _)| *point >= hash).unwrap_or(&ring.0[0]);
            assert_eq!(ring.server(hash), usize::from(found.1), "seed 8, hash {hash}");
        }
    }
}
