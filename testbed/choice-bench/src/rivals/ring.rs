use rudolph_core::hash::digest;

use crate::chooser::address;

/// Skipper's.
const POINTS_A_SERVER: usize = 100;

/// A ring of points in order, searched by halving.
#[derive(Debug)]
pub(crate) struct Ring(Vec<(u64, u32)>);

impl Ring {
    pub(crate) fn new(servers: usize) -> Self {
        let mut points: Vec<(u64, u32)> = (0..servers)
            .flat_map(|server| {
                let address = address(server);
                (0..POINTS_A_SERVER)
                    .map(move |i| (digest(0, format!("{address}_{i}").as_bytes()), server as u32))
            })
            .collect();
        points.sort_unstable();
        Self(points)
    }

    pub(crate) fn server(&self, hash: u64) -> usize {
        let at = self.0.partition_point(|(point, _)| *point < hash);
        self.0.get(at).or(self.0.first()).map_or(0, |(_, server)| *server as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_search_point_by_point_finds() {
        let ring = Ring::new(7);
        for i in 0..2_000_u64 {
            let hash = digest(5, &i.to_le_bytes());
            let found = ring.0.iter().find(|(point, _)| *point >= hash).unwrap_or(&ring.0[0]);
            assert_eq!(ring.server(hash), found.1 as usize);
        }
    }
}
