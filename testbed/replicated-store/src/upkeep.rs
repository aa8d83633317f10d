//! Keeps the links to the other servers and finds out who is up.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use crate::link::Link;
use crate::node::Node;
use crate::peers::{PATIENCE, Reach, SELF};
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
                node.peers.change(number, |peer| peer.reach = reach);
                node.peers.place();
                sleep(BETWEEN_TRIES).await;
            }
        }
    }
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
    while !requests.is_closed() && !upkeep.is_closed() {
        let mut pong = std::pin::pin!(requests.call(&[b"PING"]).get());
        while let Err(_late) = timeout(BETWEEN_PINGS, &mut pong).await {
            if node.peers.look(number, |peer| peer.heard.elapsed() > PATIENCE) {
                hear(node, number, Reach::Silent);
            }
        }
        if !requests.is_closed() {
            node.peers.change(number, |peer| peer.heard = Instant::now());
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
        (peer.requests, peer.upkeep) = (None, None);
    });
}

fn hear(node: &Node, number: usize, reach: Reach) {
    if node.peers.change(number, |peer| std::mem::replace(&mut peer.reach, reach)) != reach {
        node.peers.place();
    }
}
