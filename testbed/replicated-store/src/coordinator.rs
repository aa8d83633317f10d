//! What the server that gets a request does with it.
//!
//! A server that all others count on for a key has its newest version, and answers at once if all have it too. Otherwise:
//! a write asks all replicas for their versions, takes a greater one, and is done when all have it. A read asks all,
//! takes the greatest, and brings it to those that have less before it answers. All: those that the gateway named and
//! those that this server itself finds by the servers that it sees, but for those whose process is gone; and one of
//! them must be sure of the key.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use rudolph_cache::Cache;
use tokio::time::{Instant, sleep, timeout};

use crate::link::Answer;
use crate::node::{Node, count};
use crate::peers::{Reach, SELF};
use crate::resp::Value;
use crate::store::{Reading, StoreError, Writing};
use crate::version::{Copied, VERSION_BYTES, Version};

/// A server that does not answer for so long does not answer this attempt.
const LONGEST_CALL: Duration = Duration::from_millis(500);
/// Tried again and again until then: long enough for a silent server to be counted out.
const LONGEST_REQUEST: Duration = Duration::from_millis(3_000);
const PAUSE: Duration = Duration::from_millis(5);

/// Why a request was not carried out, or not known to be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("no answer from replica {0}")]
    Unreachable(String),
    #[error("nobody is sure of this key's newest value yet")]
    Unsure,
    #[error("replica {replica}: {text}")]
    Replica { replica: String, text: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What one replica says of a key.
#[derive(Clone, Copy, Debug)]
struct Known {
    peer: usize,
    version: Version,
    sure: bool,
}

/// A copy of this server's own on its way.
struct Own {
    reading: Reading,
    is_cached: bool,
}

impl Node {
    /// `named` are the replicas that the gateway named; none if it named none.
    pub(crate) async fn get(
        self: &Rc<Self>,
        key: &Bytes,
        named: &[usize],
    ) -> Result<Option<Bytes>, RequestError> {
        let deadline = Instant::now() + LONGEST_REQUEST;
        loop {
            let attempt = self.try_get(key, named).await;
            match attempt {
                Err(RequestError::Unreachable(_) | RequestError::Unsure)
                    if Instant::now() < deadline => {}
                done => return done,
            }
            sleep(PAUSE).await;
        }
    }

    pub(crate) async fn put(
        self: &Rc<Self>,
        key: &Bytes,
        named: &[usize],
        value: Bytes,
    ) -> Result<(), RequestError> {
        let deadline = Instant::now() + LONGEST_REQUEST;
        let again = |error: RequestError| match error {
            RequestError::Unreachable(_) | RequestError::Unsure if Instant::now() < deadline => {
                Ok(())
            }
            other => Err(other),
        };
        let newest = loop {
            let _underway = self.begin();
            if self.is_counted_on(key) {
                break self.store.version(key);
            }
            match self.ask(key, &self.targets(key, named)).await {
                Ok(known) => break newest(&known),
                Err(error) => again(error)?,
            }
            sleep(PAUSE).await;
        };
        // One version for all attempts: a second would bring the value back after a write that came between.
        let copied = Copied { version: self.next_version(newest), value };
        loop {
            let _underway = self.begin();
            match self.spread(key, &copied, &self.targets(key, named)).await {
                Ok(()) => {
                    self.store.note_everywhere(key, copied.version);
                    self.remember(key, &copied);
                    return Ok(());
                }
                Err(error) => again(error)?,
            }
            sleep(PAUSE).await;
        }
    }

    async fn try_get(&self, key: &Bytes, named: &[usize]) -> Result<Option<Bytes>, RequestError> {
        let _underway = self.begin();
        if self.store.is_everywhere(key) && self.is_counted_on(key) {
            let version = self.store.version(key);
            let Own { reading, is_cached } = self.own(key);
            if let Some(copied) = reading.get().await?.filter(|own| own.version == version) {
                if !is_cached {
                    self.remember(key, &copied);
                }
                return Ok(Some(copied.value));
            }
        }
        let targets = self.targets(key, named);
        // Asked for at the moment at which the version is looked at, and in case that it is the newest.
        let Own { reading, is_cached } = self.own(key);
        let known = self.ask(key, &targets).await?;
        let newest = newest(&known);
        if newest == Version::NONE {
            return Ok(None);
        }
        let mut copied = reading.get().await?.filter(|copied| copied.version == newest);
        let is_cached = is_cached && copied.is_some();
        if copied.is_none() {
            copied = self.fetch(key, &known, newest).await?;
            count(&self.counts.forwarded);
        }
        // It was there a moment ago: it is gone only where the disk refused it.
        let Some(copied) = copied else {
            return Err(RequestError::Unsure);
        };
        let behind = known.iter().filter(|known| known.version < copied.version);
        let behind: Vec<usize> = behind.map(|known| known.peer).collect();
        if !behind.is_empty() {
            self.spread(key, &copied, &behind).await?;
            count(&self.counts.mended);
        }
        if targets.contains(&SELF) {
            self.store.note_everywhere(key, copied.version);
        }
        if !is_cached {
            self.remember(key, &copied);
        }
        Ok(Some(copied.value))
    }

    /// Whose answers count. In quiet times the servers that the gateway named, and no other.
    fn targets(&self, key: &[u8], named: &[usize]) -> BTreeSet<usize> {
        let placement = self.peers.placement();
        let mut all: BTreeSet<usize> = placement.owners(key).collect();
        let living = |peer: &&usize| self.peers.look(**peer, |peer| peer.reach != Reach::Gone);
        all.extend(named.iter().filter(living));
        all
    }

    /// The copy that this server has, from memory if that is it.
    fn own(&self, key: &Bytes) -> Own {
        let version = self.store.version(key);
        let cached = self.cache.borrow_mut().get(key).and_then(Copied::from_bytes);
        match cached {
            // Without a copy on disk this server is no replica, and what it has is as new as the others say.
            Some(copied) if version == Version::NONE || version == copied.version => {
                Own { reading: Reading::Done(Ok(Some(copied))), is_cached: true }
            }
            _ => Own { reading: self.store.read(key), is_cached: false },
        }
    }

    fn remember(&self, key: &[u8], copied: &Copied) {
        self.cache.borrow_mut().store(key, copied.to_bytes());
    }

    /// The versions of all targets, of which one at least is sure.
    async fn ask(
        &self,
        key: &Bytes,
        targets: &BTreeSet<usize>,
    ) -> Result<Vec<Known>, RequestError> {
        if self.is_in_doubt() {
            return Err(RequestError::Unsure);
        }
        let mut known = Vec::with_capacity(targets.len());
        let others = targets.iter().copied().filter(|peer| *peer != SELF);
        let asked: Vec<(usize, Option<Answer>)> =
            others.map(|peer| (peer, self.call(peer, &[b"VERSION", key]))).collect();
        if targets.contains(&SELF) {
            let (version, sure) = (self.store.version(key), self.is_sure(key));
            known.push(Known { peer: SELF, version, sure });
        }
        for (peer, answer) in asked {
            match self.answered(peer, answer).await? {
                Value::Bulk(bytes) if bytes.len() == VERSION_BYTES + 1 => {
                    let version = Version::from_bytes(&bytes[..VERSION_BYTES]).unwrap_or_default();
                    known.push(Known { peer, version, sure: bytes[VERSION_BYTES] == 1 });
                }
                other => return Err(self.odd(peer, &other)),
            }
        }
        if known.iter().any(|known| known.sure) { Ok(known) } else { Err(RequestError::Unsure) }
    }

    /// Brings a copy to these servers; done when all have it or a newer one.
    async fn spread<'t>(
        &self,
        key: &Bytes,
        copied: &Copied,
        targets: impl IntoIterator<Item = &'t usize>,
    ) -> Result<(), RequestError> {
        if self.is_in_doubt() {
            return Err(RequestError::Unsure);
        }
        let bytes = copied.to_bytes();
        let mut own: Option<Writing> = None;
        let mut asked = Vec::new();
        for &peer in targets {
            match peer {
                SELF => own = Some(self.store.write(key, copied)),
                peer => asked.push((peer, self.call(peer, &[b"STORE", key, &bytes]))),
            }
        }
        let written = match own {
            Some(writing) => self.store.finish(key, writing).await,
            None => Ok(()),
        };
        for (peer, answer) in asked {
            match self.answered(peer, answer).await? {
                Value::Simple(_) => {}
                other => return Err(self.odd(peer, &other)),
            }
        }
        Ok(written?)
    }

    async fn fetch(
        &self,
        key: &Bytes,
        known: &[Known],
        newest: Version,
    ) -> Result<Option<Copied>, RequestError> {
        let Some(holder) = known.iter().find(|known| known.version == newest) else {
            return Ok(None);
        };
        if holder.peer == SELF {
            return Ok(self.store.read(key).get().await?);
        }
        let answer = self.call(holder.peer, &[b"FETCH", key]);
        match self.answered(holder.peer, answer).await? {
            Value::Bulk(bytes) => Ok(Copied::from_bytes(bytes)),
            Value::Nil => Ok(None),
            other => Err(self.odd(holder.peer, &other)),
        }
    }

    fn call(&self, peer: usize, parts: &[&[u8]]) -> Option<Answer> {
        self.peers.look(peer, |peer| peer.requests.as_ref().map(|link| link.call(parts)))
    }

    async fn answered(&self, peer: usize, answer: Option<Answer>) -> Result<Value, RequestError> {
        let lost = || RequestError::Unreachable(self.name(peer));
        let answer = answer.ok_or_else(lost)?;
        timeout(LONGEST_CALL, answer.get()).await.map_err(|_| lost())?.map_err(|_| lost())
    }

    fn odd(&self, peer: usize, value: &Value) -> RequestError {
        let text = match value {
            Value::Error(text) => text.clone(),
            other => format!("unexpected answer {other:?}"),
        };
        RequestError::Replica { replica: self.name(peer), text }
    }

    fn name(&self, peer: usize) -> String {
        self.peers.look(peer, |peer| peer.address.to_string())
    }
}

fn newest(known: &[Known]) -> Version {
    known.iter().map(|known| known.version).max().unwrap_or(Version::NONE)
}
