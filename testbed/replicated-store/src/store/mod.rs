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
    versions: RefCell<BTreeMap<Bytes, Version>>,
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
        Ok(Self { disk, versions: RefCell::new(versions) })
    }

    /// Of the copy that this server has.
    pub(crate) fn version(&self, key: &[u8]) -> Version {
        self.versions.borrow().get(key).copied().unwrap_or(Version::NONE)
    }

    /// The greatest counter of all copies.
    pub(crate) fn newest(&self) -> u64 {
        self.versions.borrow().values().map(|version| version.counter).max().unwrap_or(0)
    }

    pub(crate) fn keys(&self) -> usize {
        self.versions.borrow().len()
    }

    /// Up to `count` keys after this one, with their versions.
    pub(crate) fn page(&self, after: &[u8], count: usize) -> Vec<(Bytes, Version)> {
        let versions = self.versions.borrow();
        let later = versions.range::<[u8], _>((Bound::Excluded(after), Bound::Unbounded));
        later.take(count).map(|(key, version)| (key.clone(), *version)).collect()
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
            self.versions.borrow_mut().insert(key.clone(), copied.version);
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
            let mut versions = self.versions.borrow_mut();
            // A newer write that came meanwhile answers for itself.
            if versions.get(key) == Some(&writing.version) {
                match found {
                    Some(copied) => _ = versions.insert(key.clone(), copied.version),
                    None => _ = versions.remove(key),
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
