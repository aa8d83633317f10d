use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use pingora_ketama::{Bucket, Continuum};

/// Pingora's ring: 160 points a server, found by binary search.
pub(crate) fn chooser(servers: usize) -> impl FnMut(&[u8]) -> u64 {
    let address = |i: usize| {
        let ip = Ipv4Addr::new(10, (i / 250) as u8, (i % 250) as u8, 1);
        SocketAddr::new(IpAddr::V4(ip), 8080)
    };
    let buckets: Vec<Bucket> = (0..servers).map(|i| Bucket::new(address(i), 1)).collect();
    let continuum = Continuum::new(&buckets);
    move |key| {
        continuum.node(key).map_or(u64::MAX, |address| match address.ip() {
            IpAddr::V4(ip) => u64::from(ip.to_bits()),
            IpAddr::V6(_) => u64::MAX,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_servers_are_chosen() {
        let mut choose = chooser(10);
        let seen: std::collections::BTreeSet<u64> =
            (0..2_000).map(|i| choose(format!("user:{i}").as_bytes())).collect();
        assert_eq!(seen.len(), 10);
    }
}
