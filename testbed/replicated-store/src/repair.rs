//! Settling: after other servers are up than before, or after this one was away, it fetches what it lacks.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{sleep, timeout};

use crate::link::{Answer, Link};
use crate::node::{Node, count};
use crate::peers::SELF;
use crate::placement::Placement;
use crate::resp::Value;
use crate::version::{Copied, Version};

/// Longer than any request takes, which a fence waits for.
const LONGEST_STEP: Duration = Duration::from_secs(4);
const BETWEEN_TRIES: Duration = Duration::from_millis(20);
/// Copies fetched at a time.
const AT_A_TIME: usize = 32;

/// What kept this server from settling; it tries again.
#[derive(Debug, thiserror::Error)]
enum Unsettled {
    #[error("some servers are not found yet")]
    Unknown,
    #[error("a server was lost or sees others")]
    Lost,
    #[error("the servers changed meanwhile")]
    Changed,
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
}

pub(crate) async fn keep_settled(node: Rc<Node>) {
    loop {
        while settle(&node).await.is_err() {
            sleep(BETWEEN_TRIES).await;
        }
        tokio::select! {
            () = node.peers.changed.notified() => {}
            () = node.unsettled.notified() => {}
        }
    }
}

/// First every server must count on this one, with no request underway from before; then what they have is all there is.
async fn settle(node: &Rc<Node>) -> Result<(), Unsettled> {
    if node.is_settled() {
        return Ok(());
    }
    if !node.peers.all_known() {
        return Err(Unsettled::Unknown);
    }
    let (placement, doubts) = (node.peers.placement(), node.doubts());
    let others = || placement.peers.iter().filter(|peer| **peer != SELF);
    let links: Option<Vec<Link>> =
        others().map(|peer| node.peers.look(*peer, |peer| peer.upkeep.clone())).collect();
    let links = links.ok_or(Unsettled::Lost)?;
    node.fence().await;
    let seen = node.peers.placed();
    let fences: Vec<Answer> =
        links.iter().map(|link| link.call(&[b"FENCE", seen.as_bytes()])).collect();
    for fence in fences {
        let Value::Simple(_) = answered(fence).await? else { return Err(Unsettled::Lost) };
    }
    for link in &links {
        fetch_from(node, &placement, link).await?;
    }
    if !Rc::ptr_eq(&placement, &node.peers.placement()) || doubts != node.doubts() {
        return Err(Unsettled::Changed);
    }
    node.settle(placement);
    Ok(())
}

async fn answered(answer: Answer) -> Result<Value, Unsettled> {
    let answer = timeout(LONGEST_STEP, answer.get()).await.map_err(|_| Unsettled::Lost)?;
    answer.map_err(|_| Unsettled::Lost)
}

/// Walks over another server's index and fetches what is newer there and belongs here.
async fn fetch_from(node: &Node, placement: &Placement, link: &Link) -> Result<(), Unsettled> {
    let mut after = Bytes::new();
    loop {
        let Value::Array(page) = answered(link.call(&[b"INDEX", &after])).await? else {
            return Err(Unsettled::Lost);
        };
        let items: Vec<(Bytes, Version)> = page.chunks(2).filter_map(item).collect();
        let Some((last, _)) = items.last() else {
            return Ok(());
        };
        after = last.clone();
        let wanted: Vec<Bytes> = items
            .into_iter()
            .filter(|(key, version)| node.wants(placement, key, *version))
            .map(|(key, _)| key)
            .collect();
        for keys in wanted.chunks(AT_A_TIME) {
            fetch(node, link, keys).await?;
        }
    }
}

fn item(pair: &[Value]) -> Option<(Bytes, Version)> {
    match pair {
        [Value::Bulk(key), Value::Bulk(version)] => {
            Some((key.clone(), Version::from_bytes(version)?))
        }
        _ => None,
    }
}

async fn fetch(node: &Node, link: &Link, keys: &[Bytes]) -> Result<(), Unsettled> {
    let asked: Vec<Answer> = keys.iter().map(|key| link.call(&[b"FETCH", key])).collect();
    for (key, answer) in keys.iter().zip(asked) {
        let Value::Bulk(bytes) = answered(answer).await? else { return Err(Unsettled::Lost) };
        let copied = Copied::from_bytes(bytes).ok_or(Unsettled::Lost)?;
        let writing = node.store.write(key, &copied);
        node.store.finish(key, writing).await?;
        count(&node.counts.fetched);
    }
    Ok(())
}
