use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, params};

use super::StoreError;
use crate::version::{Copied, VERSION_BYTES, Version};

/// An SQLite file. A killed server keeps what it acknowledged; against the loss of power there are the other replicas.
#[derive(Debug)]
pub(super) struct Embedded {
    connection: Connection,
    folder: PathBuf,
}

const SETTINGS: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
    CREATE TABLE IF NOT EXISTS copies (key BLOB PRIMARY KEY, copied BLOB NOT NULL) WITHOUT ROWID;";
const SELECT: &str = "SELECT copied FROM copies WHERE key = ?1";
const UPSERT: &str =
    "INSERT INTO copies (key, copied) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET copied = ?2";
const VERSIONS: &str = "SELECT key, substr(copied, 1, 16) FROM copies";

impl Embedded {
    pub(super) fn open(folder: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Embedded { path: folder.into(), source };
        let connection = Connection::open(folder.join("store.sqlite")).map_err(failed)?;
        connection.execute_batch(SETTINGS).map_err(failed)?;
        Ok(Self { connection, folder: folder.into() })
    }

    fn failed(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Embedded { path: self.folder.clone(), source }
    }

    pub(super) fn versions(&self) -> Result<BTreeMap<Bytes, Version>, StoreError> {
        let read = || -> rusqlite::Result<_> {
            let mut statement = self.connection.prepare(VERSIONS)?;
            let rows = statement.query_map([], |row| {
                let (key, version): (Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?);
                debug_assert_eq!(version.len(), VERSION_BYTES);
                Ok((Bytes::from(key), Version::from_bytes(&version).unwrap_or_default()))
            })?;
            rows.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    pub(super) fn read(&self, key: &[u8]) -> Result<Option<Copied>, StoreError> {
        let read = || -> rusqlite::Result<Option<Vec<u8>>> {
            self.connection
                .prepare_cached(SELECT)?
                .query_row(params![key], |row| row.get(0))
                .optional()
        };
        let found = read().map_err(|source| self.failed(source))?;
        Ok(found.and_then(|bytes| Copied::from_bytes(bytes.into())))
    }

    pub(super) fn write(&self, key: &[u8], copied: &Copied) -> Result<(), StoreError> {
        let write = || {
            self.connection.prepare_cached(UPSERT)?.execute(params![key, &copied.to_bytes()[..]])
        };
        write().map(drop).map_err(|source| self.failed(source))
    }
}
