//! Keeps the links to the other servers and finds out who is up.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use crate::link::Link;
use crate::node::Node;
use crate::peers::{LONGEST_GAP, PATIENCE, Peer, Reach, SELF};
use crate::resp::Value;

const LONGEST_CONNECT: Duration = Duration::from_millis(500);
const BETWEEN_PINGS: Duration = Duration::from_millis(100);
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// Looks after every server that this one meets.
pub(crate) async fn meet_all(node: Rc<Node>) {
    let mut met = SELF + 1;
    loop {
        while met < node.peers.len() {
            tokio::task::spawn_local(keep(Rc::clone(&node), met));
            met += 1;
        }
        node.peers.met.notified().await;
    }
}

/// Notices in time that this server was stopped, also when nobody asks it anything.
pub(crate) async fn feel_alive(node: Rc<Node>) {
    loop {
        sleep(BETWEEN_PINGS).await;
        node.feel_alive();
    }
}

async fn keep(node: Rc<Node>, number: usize) {
    let address = node.peers.look(number, |peer| peer.address);
    loop {
        match introduce(&node, number, address).await {
            Ok(()) => ping_until_lost(&node, number).await,
            Err(reach) => {
                node.peers.change(number, |peer| peer.reach = patient(peer, reach));
                node.peers.place();
                sleep(BETWEEN_TRIES).await;
            }
        }
    }
}

/// A server that was heard a moment ago is not silent yet: it relies on that.
fn patient(peer: &Peer, reach: Reach) -> Reach {
    if reach == Reach::Silent && peer.heard.elapsed() <= PATIENCE { peer.reach } else { reach }
}

/// Connects; otherwise says how the server is.
async fn introduce(node: &Rc<Node>, number: usize, address: SocketAddr) -> Result<(), Reach> {
    let requests = connect(address).await?;
    let upkeep = connect(address).await.inspect_err(|_| requests.close())?;
    let own = node.peers.own_address().to_string();
    let hello = upkeep.call(&[b"HELLO", own.as_bytes(), &node.run.to_be_bytes()]);
    let answer = timeout(LONGEST_CONNECT, hello.get()).await;
    let Some((run, known)) = answer.ok().and_then(Result::ok).and_then(introduced) else {
        requests.close();
        upkeep.close();
        return Err(Reach::Silent);
    };
    for other in known.split(',').filter_map(|text| text.parse().ok()) {
        node.peers.number(other);
    }
    let before = node.peers.change(number, |peer| {
        peer.requests = Some(requests);
        peer.upkeep = Some(upkeep);
        peer.heard = Instant::now();
        peer.reach = Reach::Up;
        peer.run.replace(run)
    });
    // It lived on while this server had lost it: each may have been left out by the other.
    if before == Some(run) {
        node.doubt();
    }
    node.peers.place();
    Ok(())
}

/// The other server's run, and the servers that it knows.
fn introduced(answer: Value) -> Option<(u64, String)> {
    let Value::Array(parts) = answer else { return None };
    let [Value::Bulk(run), Value::Bulk(known)] = &parts[..] else { return None };
    let run = u64::from_be_bytes(run[..].try_into().ok()?);
    Some((run, String::from_utf8_lossy(known).into_owned()))
}

async fn connect(address: SocketAddr) -> Result<Link, Reach> {
    match timeout(LONGEST_CONNECT, TcpStream::connect(address)).await {
        // A port that nobody listens on may be lent to the very connection that asks for it.
        Ok(Ok(stream)) if stream.local_addr().ok() == Some(address) => Err(Reach::Gone),
        Ok(Ok(stream)) => {
            _ = stream.set_nodelay(true); // only slower without
            Ok(Link::over(stream))
        }
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => Err(Reach::Gone),
        _ => Err(Reach::Silent),
    }
}

async fn ping_until_lost(node: &Rc<Node>, number: usize) {
    let links = node.peers.look(number, |peer| [peer.requests.clone(), peer.upkeep.clone()]);
    let [Some(requests), Some(upkeep)] = links else { return };
    let own = node.peers.own_address().to_string();
    while !requests.is_closed() && !upkeep.is_closed() {
        let asked = Instant::now();
        let mut pong = std::pin::pin!(requests.call(&[b"PING", own.as_bytes()]).get());
        let answer = loop {
            if let Ok(answer) = timeout(BETWEEN_PINGS, &mut pong).await {
                break answer;
            }
            if node.peers.look(number, |peer| peer.heard.elapsed() > PATIENCE) {
                hear(node, number, Reach::Silent);
            }
        };
        if let Ok(answer) = answer {
            let counts_on_us = matches!(answer, Value::Simple(_));
            note_pong(node, number, asked, counts_on_us);
            hear(node, number, Reach::Up);
        }
        tokio::select! {
            () = sleep(BETWEEN_PINGS) => {}
            () = requests.ended() => {}
            () = upkeep.ended() => {}
        }
    }
    requests.close();
    upkeep.close();
    node.peers.change(number, |peer| {
        peer.reach = Reach::Unknown;
        (peer.requests, peer.upkeep, peer.heard_us) = (None, None, None);
    });
}

/// The other server has heard this one since `asked`. It may have counted this one out since it heard it before, if that is
/// long ago or it says so.
fn note_pong(node: &Node, number: usize, asked: Instant, counts_on_us: bool) {
    let before = node.peers.change(number, |peer| {
        peer.heard = Instant::now();
        std::mem::replace(&mut peer.heard_us, counts_on_us.then_some(asked))
    });
    if before.is_some_and(|then| !counts_on_us || asked.duration_since(then) > LONGEST_GAP) {
        node.doubt();
    }
    node.note_heard();
}

fn hear(node: &Node, number: usize, reach: Reach) {
    let before = node.peers.change(number, |peer| std::mem::replace(&mut peer.reach, reach));
    if before != reach {
        node.peers.place();
    }
    // It was silent for this server, so this one may have been for it.
    if (before, reach) == (Reach::Silent, Reach::Up) {
        node.doubt();
    }
}
