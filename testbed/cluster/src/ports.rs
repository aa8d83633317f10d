use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::ClusterError;

/// Below the ports that Linux gives to outgoing connections (from 32768): a server that is killed finds its port free
/// when it comes back, and no client of a load test can sit on it in between.
const FIRST: u16 = 15_000;
const LAST: u16 = 31_999;

static HANDED_OUT: AtomicU32 = AtomicU32::new(0);

/// A loopback address that nobody listens on. Processes start their search at different ports, and one process never
/// hands out an address twice.
pub(crate) fn free_address() -> Result<SocketAddr, ClusterError> {
    let ports = u32::from(LAST - FIRST) + 1;
    let start = std::process::id().wrapping_mul(331);
    for _ in 0..ports {
        let step = HANDED_OUT.fetch_add(1, Ordering::Relaxed);
        let offset = start.wrapping_add(step) % ports;
        let port = FIRST + u16::try_from(offset).unwrap_or(0);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return Ok(address);
        }
    }
    Err(ClusterError::NoFreePort { first: FIRST, last: LAST })
}

/// The loopback address of this port, if nobody listens on it.
pub(crate) fn if_free(port: u16) -> Option<SocketAddr> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(address).is_ok().then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_hands_out_an_address_twice_nor_one_in_use() {
        let taken = free_address().unwrap();
        let _listener = TcpListener::bind(taken).unwrap();
        let more: std::collections::BTreeSet<_> =
            (0..50).map(|_| free_address().unwrap()).collect();
        assert_eq!(more.len(), 50);
        assert!(!more.contains(&taken));
    }
}
