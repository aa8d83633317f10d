//! What a gateway's worker would name as replicas, by the servers that it believes in.

use std::net::SocketAddr;

use rudolph_core::hash::KeyHash;
use rudolph_core::rendezvous::{BINS, Contender, race};
use rudolph_core::servers::{Address, Members, Server};

#[derive(Debug)]
pub struct View {
    members: Members,
    rows: Vec<u16>,
    width: usize,
}

impl View {
    pub fn of(servers: &[SocketAddr]) -> Self {
        let server = |address: &SocketAddr| Server {
            address: Address::parse(&address.to_string()).unwrap(),
            weight: 1,
        };
        let members = Members::new(servers.iter().map(server).collect());
        let contenders: Vec<Contender> =
            members.servers().iter().map(|server| Contender::new(&server.address, 1.0)).collect();
        let (rows, width) = race(&contenders, 2);
        Self { members, rows, width }
    }

    pub fn replicas(&self, key: &str) -> Vec<&str> {
        let bin = (KeyHash::of(key.as_bytes()).0 & u64::from(BINS - 1)) as usize;
        let row = &self.rows[bin * self.width..(bin + 1) * self.width];
        let servers = self.members.servers();
        row.iter().map(|server| servers[usize::from(*server)].address.as_str()).collect()
    }

    /// As the header says it.
    pub fn list(&self, key: &str) -> String {
        self.replicas(key).join(",")
    }
}

/// What workers may believe of the same servers at one time: all of them, or one less.
pub fn views(servers: &[SocketAddr]) -> Vec<View> {
    let less = (0..servers.len()).map(|out| {
        let others = servers.iter().enumerate().filter(|(i, _)| *i != out);
        others.map(|(_, server)| *server).collect::<Vec<_>>()
    });
    std::iter::once(servers.to_vec()).chain(less).map(|servers| View::of(&servers)).collect()
}
