//! The other servers as this one sees them, each over two links: one for requests, one for upkeep, so that a page of an
//! index never delays a request.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::link::Link;
use crate::placement::Placement;

/// This server's own number.
pub(crate) const SELF: usize = 0;

/// A server that has not answered for so long is no longer counted on by the others ...
pub(crate) const PATIENCE: Duration = Duration::from_millis(2_000);

/// ... and one that was stopped for half of it no longer trusts what it has; nor does it act alone unless each other has
/// heard from it within that time.
pub(crate) const LONGEST_GAP: Duration = Duration::from_millis(1_000);

/// Replica lists that are kept as they were read.
const MOST_LISTS: usize = 4_096;
/// A list that names more servers is refused.
const MOST_NAMES: usize = 64;
/// Servers that this one ever knows.
const MOST_PEERS: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Not tried yet, or trying again.
    Unknown,
    /// It answers.
    Up,
    /// It is there and does not answer.
    Silent,
    /// Nobody listens: its process has ended.
    Gone,
}

#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    pub(crate) reach: Reach,
    pub(crate) requests: Option<Link>,
    pub(crate) upkeep: Option<Link>,
    /// Drawn at its start: another one is another run.
    pub(crate) run: Option<u64>,
    pub(crate) heard: Instant,
    /// It has heard from this server then or later.
    pub(crate) heard_us: Option<Instant>,
}

/// Why a list of replicas cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no list of replicas; allowed: 1 to {MOST_NAMES} addresses as ip:port, separated by commas"
)]
pub(crate) struct BadList {
    text: String,
}

#[derive(Debug)]
pub(crate) struct Peers {
    peers: RefCell<Vec<Peer>>,
    by_address: RefCell<BTreeMap<SocketAddr, usize>>,
    lists: RefCell<HashMap<Vec<u8>, Rc<[usize]>>>,
    placement: RefCell<Rc<Placement>>,
    replicas: usize,
    /// A server was named that this one did not know.
    pub(crate) met: Notify,
    /// Other servers are up than before.
    pub(crate) changed: Notify,
}

impl Peers {
    pub(crate) fn new(own: SocketAddr, run: u64, replicas: usize) -> Self {
        let by_address = BTreeMap::from([(own, SELF)]);
        let placement = Placement::of(&by_address, replicas);
        let me = Peer { reach: Reach::Up, run: Some(run), ..Peer::new(own) };
        Self {
            peers: RefCell::new(vec![me]),
            by_address: RefCell::new(by_address),
            lists: RefCell::default(),
            placement: RefCell::new(Rc::new(placement)),
            replicas,
            met: Notify::new(),
            changed: Notify::new(),
        }
    }

    pub(crate) fn own_address(&self) -> SocketAddr {
        self.peers.borrow()[SELF].address
    }

    /// The number of this server here.
    pub(crate) fn number(&self, address: SocketAddr) -> usize {
        if let Some(number) = self.by_address.borrow().get(&address) {
            return *number;
        }
        let mut peers = self.peers.borrow_mut();
        let number = peers.len();
        peers.push(Peer::new(address));
        self.by_address.borrow_mut().insert(address, number);
        self.met.notify_one();
        number
    }

    pub(crate) fn len(&self) -> usize {
        self.peers.borrow().len()
    }

    pub(crate) fn look<T>(&self, number: usize, look: impl FnOnce(&Peer) -> T) -> T {
        look(&self.peers.borrow()[number])
    }

    pub(crate) fn change<T>(&self, number: usize, change: impl FnOnce(&mut Peer) -> T) -> T {
        change(&mut self.peers.borrow_mut()[number])
    }

    /// The servers that a header names.
    pub(crate) fn listed(&self, header: &[u8]) -> Result<Rc<[usize]>, BadList> {
        if let Some(list) = self.lists.borrow().get(header) {
            return Ok(Rc::clone(list));
        }
        let text = String::from_utf8_lossy(header);
        let bad = || BadList { text: text.chars().take(80).collect() };
        let addresses: Result<Vec<SocketAddr>, _> = text.split(',').map(str::parse).collect();
        let addresses = addresses.map_err(|_| bad())?;
        if addresses.len() > MOST_NAMES || self.len() + addresses.len() > MOST_PEERS {
            return Err(bad());
        }
        let list: Rc<[usize]> = addresses.into_iter().map(|address| self.number(address)).collect();
        let mut lists = self.lists.borrow_mut();
        if lists.len() >= MOST_LISTS {
            lists.clear();
        }
        lists.insert(header.to_vec(), Rc::clone(&list));
        Ok(list)
    }

    /// Where keys belong among the servers that are up.
    pub(crate) fn placement(&self) -> Rc<Placement> {
        Rc::clone(&self.placement.borrow())
    }

    /// Places keys anew if other servers are up than before.
    pub(crate) fn place(&self) {
        let up: BTreeMap<SocketAddr, usize> = {
            let peers = self.peers.borrow();
            let up = peers.iter().enumerate().filter(|(_, peer)| peer.reach == Reach::Up);
            up.map(|(number, peer)| (peer.address, number)).collect()
        };
        let mut numbers: Vec<usize> = up.values().copied().collect();
        numbers.sort_unstable();
        if numbers != self.placement().peers {
            self.placement.replace(Rc::new(Placement::of(&up, self.replicas)));
            self.changed.notify_one();
        }
    }

    /// The servers among which keys are placed, as one text that is the same at each of them.
    pub(crate) fn placed(&self) -> String {
        let placement = self.placement();
        let mut addresses: Vec<SocketAddr> =
            placement.peers.iter().map(|peer| self.look(*peer, |peer| peer.address)).collect();
        addresses.sort_unstable();
        join(&addresses)
    }

    /// Until when none of these servers can have counted this one out. None of them does within [`PATIENCE`] of hearing it.
    pub(crate) fn counted_on_until(&self, placement: &Placement) -> Option<Instant> {
        let others = placement.peers.iter().filter(|peer| **peer != SELF);
        let mut until = Instant::now() + LONGEST_GAP;
        for peer in others {
            until = until.min(self.look(*peer, |peer| peer.heard_us)? + LONGEST_GAP);
        }
        Some(until)
    }

    /// Whether each other server was found or found gone, so that none that may know more is overlooked.
    pub(crate) fn all_known(&self) -> bool {
        self.peers.borrow().iter().all(|peer| peer.reach != Reach::Unknown)
    }

    /// All that this server ever met, itself among them, as one text.
    pub(crate) fn addresses(&self) -> String {
        let peers = self.peers.borrow();
        join(&peers.iter().map(|peer| peer.address).collect::<Vec<_>>())
    }
}

fn join(addresses: &[SocketAddr]) -> String {
    addresses.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(",")
}

impl Peer {
    fn new(address: SocketAddr) -> Self {
        Self {
            address,
            reach: Reach::Unknown,
            requests: None,
            upkeep: None,
            run: None,
            heard: Instant::now(),
            heard_us: None,
        }
    }
}
