//! Servers and the ordered list of them that a plan is made for.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::hash::digest;

/// Servers a plan can hold: their indices fit `u16`, and one value is kept free to mean "none".
pub const MAX_SERVERS: usize = 5_000;

/// The largest weight a server may carry.
pub const MAX_WEIGHT: u32 = 1_000_000;

/// The index of a server in the [`Members`] of one plan. It means nothing in another plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerId(pub u16);

impl ServerId {
    /// The position in the member list.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// From a position; positions never exceed [`MAX_SERVERS`].
    #[inline]
    #[must_use]
    pub fn from_index(index: usize) -> Self {
        debug_assert!(index < MAX_SERVERS);
        Self(index as u16)
    }
}

/// An upstream address, `ip:port`, IPv6 in brackets: the form that Envoy's `override_host` reads.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(Arc<str>);

impl Address {
    /// Reads `ip:port`; host names are refused because `override_host` compares addresses.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let address: SocketAddr = text.parse().ok()?;
        (address.port() != 0).then(|| Self(address.to_string().into()))
    }

    /// The canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One server of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Where it is.
    pub address: Address,
    /// Its configured capacity against the others.
    pub weight: u32,
}

/// The servers of a plan, ordered by address so that every gateway numbers them alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    servers: Vec<Server>,
    digest: u64,
}

impl Members {
    /// Orders the servers. Of two with one address the first stays; beyond [`MAX_SERVERS`] the rest is cut.
    #[must_use]
    pub fn new(mut servers: Vec<Server>) -> Self {
        servers.sort_by(|a, b| a.address.cmp(&b.address));
        servers.dedup_by(|a, b| a.address == b.address);
        servers.truncate(MAX_SERVERS);
        let mut text = Vec::new();
        for server in &servers {
            text.extend_from_slice(server.address.as_str().as_bytes());
            text.extend_from_slice(&server.weight.to_le_bytes());
        }
        let digest = digest(0x6d65_6d62, &text);
        Self { servers, digest }
    }

    /// The servers in order.
    #[must_use]
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.servers.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Equal for equal addresses and weights.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Where an address stands in the list.
    #[must_use]
    pub fn find(&self, address: &Address) -> Option<ServerId> {
        self.servers
            .binary_search_by(|server| server.address.cmp(address))
            .ok()
            .map(ServerId::from_index)
    }
}
