//! Who should hold a key among these servers: the order that the filter finds too, since it follows from addresses alone.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use rudolph_core::hash::KeyHash;
use rudolph_core::rendezvous::{BINS, Contender, race};
use rudolph_core::servers::{Address, Members, Server};

/// The first replicas of every bin, for one set of servers.
#[derive(Debug)]
pub(crate) struct Placement {
    /// Sorted.
    pub(crate) peers: Vec<usize>,
    /// Peers by their place among the members, which are sorted by address.
    members: Vec<usize>,
    rows: Vec<u16>,
    width: usize,
}

impl Placement {
    /// `peers` are the numbers by which this server knows these servers.
    pub(crate) fn of(peers: &BTreeMap<SocketAddr, usize>, replicas: usize) -> Self {
        let address = |socket: &SocketAddr| Address::parse(&socket.to_string());
        let by_address: BTreeMap<Address, usize> =
            peers.iter().filter_map(|(socket, peer)| Some((address(socket)?, *peer))).collect();
        let server = |address: &Address| Server { address: address.clone(), weight: 1 };
        let members = Members::new(by_address.keys().map(server).collect());
        let contenders: Vec<Contender> =
            members.servers().iter().map(|server| Contender::new(&server.address, 1.0)).collect();
        let (rows, width) = race(&contenders, replicas);
        let mut peers: Vec<usize> = peers.values().copied().collect();
        peers.sort_unstable();
        Self { peers, members: by_address.into_values().collect(), rows, width }
    }

    pub(crate) fn owners(&self, key: &[u8]) -> impl Iterator<Item = usize> {
        let bin = (KeyHash::of(key).0 & u64::from(BINS - 1)) as usize;
        let row = &self.rows[bin * self.width..(bin + 1) * self.width];
        row.iter().map(|member| self.members[usize::from(*member)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rudolph_core::config::Config;
    use rudolph_core::plan::Plan;
    use rudolph_core::planner::{self, Request, merge::merge};
    use rudolph_core::table::Table;

    fn peers(count: u16) -> BTreeMap<SocketAddr, usize> {
        let address =
            |i: u16| (SocketAddr::from(([127, 0, 0, 1], 9_000 + i * 137)), usize::from(i));
        (0..count).map(address).collect()
    }

    /// The plan that a filter's worker would make first.
    fn table(peers: &BTreeMap<SocketAddr, usize>) -> (Plan, Table) {
        let servers: Vec<String> =
            peers.keys().map(|address| format!(r#"{{"address":"{address}"}}"#)).collect();
        let text = format!(
            r#"{{"key":["path"],"replicas":{{"count":2}},"membership":{{"source":"static","servers":[{}]}}}}"#,
            servers.join(",")
        );
        let config = Config::from_json(text.as_bytes()).unwrap();
        let rudolph_core::config::Membership::Static(members) = &config.membership else {
            panic!("static")
        };
        let request = Request {
            config: &config,
            members,
            previous: None,
            loads: &merge(&config, members, 1, &[]),
            epoch: 1,
            version: 1,
            now_ms: 1,
        };
        let mut homes = |plan: &Plan| std::sync::Arc::new(Table::of(plan, &config));
        let plan = planner::plan(&request, &mut homes).unwrap().plan;
        let table = Table::of(&plan, &config);
        (plan, table)
    }

    #[test]
    fn owners_are_those_that_the_filter_names() {
        for count in [1, 2, 3, 7] {
            let peers = peers(count);
            let (plan, table) = table(&peers);
            let placement = Placement::of(&peers, 2);
            for number in 0..2_000 {
                let key = format!("key-{number}");
                let row = &table.row(table.bin(KeyHash::of(key.as_bytes())))[..2.min(count.into())];
                let named: Vec<usize> = row
                    .iter()
                    .map(|server| {
                        let address = &plan.members.servers()[usize::from(*server)].address;
                        peers[&address.as_str().parse::<SocketAddr>().unwrap()]
                    })
                    .collect();
                assert_eq!(placement.owners(key.as_bytes()).collect::<Vec<_>>(), named, "{key}");
            }
        }
    }
}
