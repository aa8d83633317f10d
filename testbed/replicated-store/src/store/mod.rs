//! What a server owns: its copies on disk, in a Redis of its own or in an embedded store, and in memory the version of
//! each. The server is the only one that writes there, so the versions in memory are those on disk.

mod embedded;
mod redis;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::link::Answer;
use crate::resp::Value;
use crate::version::{Copied, Version};
use embedded::Embedded;
use redis::Redis;

/// Why a copy could not be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder cannot be used.
    #[error("data folder {path:?}: {source}")]
    Folder {
        /// Where it should be.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// SQLite refused.
    #[error("embedded store in {path:?}: {source}")]
    Embedded {
        /// The data folder.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// Redis cannot be run.
    #[error("{program:?} cannot be run: {source}")]
    Program {
        /// What was to be run.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Redis did not come up.
    #[error("Redis in {path:?} does not answer: {log}")]
    Silent {
        /// The data folder.
        path: PathBuf,
        /// The end of its log.
        log: String,
    },
    /// Redis said no, such as when its disk is full.
    #[error("Redis: {0}")]
    Refused(String),
    /// Redis ended.
    #[error("Redis has ended")]
    Ended,
}

#[derive(Debug)]
enum Disk {
    Embedded(Embedded),
    Redis(Redis),
}

#[derive(Debug)]
pub(crate) struct Store {
    disk: Disk,
    held: RefCell<BTreeMap<Bytes, Held>>,
}

/// What is known of a copy without looking at the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    version: Version,
    /// Whether all replicas are known to have it, or a newer one.
    everywhere: bool,
}

impl Held {
    fn only_here(version: Version) -> Self {
        Self { version, everywhere: false }
    }
}

impl Store {
    /// With `redis`, the folder of `redis-server`, a Redis is started for it.
    pub(crate) async fn open(folder: &Path, redis: Option<&Path>) -> Result<Self, StoreError> {
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::read_dir(folder).map(drop))
            .map_err(|source| StoreError::Folder { path: folder.into(), source })?;
        let disk = match redis {
            Some(programs) => Disk::Redis(Redis::start(programs, folder).await?),
            None => Disk::Embedded(Embedded::open(folder)?),
        };
        let versions = match &disk {
            Disk::Redis(redis) => redis.versions().await?,
            Disk::Embedded(embedded) => embedded.versions()?,
        };
        let held = versions.into_iter().map(|(key, version)| (key, Held::only_here(version)));
        Ok(Self { disk, held: RefCell::new(held.collect()) })
    }

    /// Of the copy that this server has.
    pub(crate) fn version(&self, key: &[u8]) -> Version {
        self.held.borrow().get(key).map_or(Version::NONE, |held| held.version)
    }

    /// Whether all replicas are known to have the copy that this server has.
    pub(crate) fn is_everywhere(&self, key: &[u8]) -> bool {
        self.held.borrow().get(key).is_some_and(|held| held.everywhere)
    }

    /// All replicas have this version, or a newer one.
    pub(crate) fn note_everywhere(&self, key: &[u8], version: Version) {
        if let Some(held) = self.held.borrow_mut().get_mut(key)
            && held.version == version
        {
            held.everywhere = true;
        }
    }

    /// The greatest counter of all copies.
    pub(crate) fn newest(&self) -> u64 {
        self.held.borrow().values().map(|held| held.version.counter).max().unwrap_or(0)
    }

    pub(crate) fn keys(&self) -> usize {
        self.held.borrow().len()
    }

    /// Up to `count` keys after this one, with their versions.
    pub(crate) fn page(&self, after: &[u8], count: usize) -> Vec<(Bytes, Version)> {
        let held = self.held.borrow();
        let later = held.range::<[u8], _>((Bound::Excluded(after), Bound::Unbounded));
        later.take(count).map(|(key, held)| (key.clone(), held.version)).collect()
    }

    /// Reads the copy whose version [`Self::version`] tells at this moment, even if another is written meanwhile.
    pub(crate) fn read(&self, key: &[u8]) -> Reading {
        match &self.disk {
            Disk::Embedded(embedded) => Reading::Done(embedded.read(key)),
            Disk::Redis(redis) => Reading::Waiting(redis.read(key)),
        }
    }

    /// Keeps the copy unless there is one as new. Until the answer, readers may see the version and not yet the value.
    pub(crate) fn write(&self, key: &Bytes, copied: &Copied) -> Writing {
        let state = if self.version(key) >= copied.version {
            State::Done(Ok(()))
        } else {
            self.held.borrow_mut().insert(key.clone(), Held::only_here(copied.version));
            match &self.disk {
                Disk::Embedded(embedded) => State::Done(embedded.write(key, copied)),
                Disk::Redis(redis) => State::Waiting(redis.write(key, copied)),
            }
        };
        Writing { version: copied.version, state }
    }

    /// Ends a write. What the disk refused is not there: the version goes back to what the disk has.
    pub(crate) async fn finish(&self, key: &Bytes, writing: Writing) -> Result<(), StoreError> {
        let written = match writing.state {
            State::Done(written) => written,
            State::Waiting(answer) => match answer.get().await {
                Ok(Value::Error(text)) => Err(StoreError::Refused(text)),
                Ok(_) => Ok(()),
                Err(_) => Err(StoreError::Ended),
            },
        };
        if written.is_err() {
            let found = self.read(key).get().await.ok().flatten();
            let mut held = self.held.borrow_mut();
            // A newer write that came meanwhile answers for itself.
            if held.get(key).is_some_and(|held| held.version == writing.version) {
                match found {
                    Some(copied) => {
                        _ = held.insert(key.clone(), Held::only_here(copied.version));
                    }
                    None => _ = held.remove(key),
                }
            }
        }
        written
    }
}

/// A copy on its way from the disk.
#[derive(Debug)]
pub(crate) enum Reading {
    Done(Result<Option<Copied>, StoreError>),
    Waiting(Answer),
}

impl Reading {
    pub(crate) async fn get(self) -> Result<Option<Copied>, StoreError> {
        let answer = match self {
            Self::Done(read) => return read,
            Self::Waiting(answer) => answer,
        };
        match answer.get().await {
            Ok(Value::Bulk(bytes)) => Ok(Copied::from_bytes(bytes)),
            Ok(Value::Error(text)) => Err(StoreError::Refused(text)),
            Ok(_) => Ok(None),
            Err(_) => Err(StoreError::Ended),
        }
    }
}

/// A copy on its way to the disk.
#[derive(Debug)]
#[must_use]
pub(crate) struct Writing {
    version: Version,
    state: State,
}

#[derive(Debug)]
enum State {
    Done(Result<(), StoreError>),
    Waiting(Answer),
}
