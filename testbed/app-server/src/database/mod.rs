//! The data that all servers share: one trait, and a file for each thing behind it.

mod postgres;
mod sqlite;

use std::{fmt::Debug, future::Future, path::PathBuf, pin::Pin, sync::Arc};

use bytes::Bytes;

use crate::DatabaseUrl;

/// What a database call returns; boxed so that the trait works behind `dyn`. Only misses and writes pay for the box.
pub type DatabaseFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, DatabaseError>> + Send + 'a>>;

/// A scan that finds more keys than this is refused.
pub const LONGEST_SCAN: usize = 10_000;

pub trait Database: Debug + Send + Sync {
    fn get(&self, key: Vec<u8>) -> DatabaseFuture<'_, Option<Bytes>>;

    /// When this returns, the value survives the death of the process.
    fn put(&self, key: Vec<u8>, value: Bytes) -> DatabaseFuture<'_, ()>;

    /// The keys in `from..to`, in order, at most one more than [`LONGEST_SCAN`].
    fn scan(&self, from: Vec<u8>, to: Vec<u8>) -> DatabaseFuture<'_, Vec<Vec<u8>>> {
        let _ = (from, to);
        Box::pin(async { Err(DatabaseError::NoScans) })
    }

    /// Writes in the background, never over a value that is there. It may be dropped under load: the caller can make the
    /// value again.
    fn keep_if_absent(&self, key: Vec<u8>, value: Bytes);
}

#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("database {path:?}: {source}")]
    Sqlite { path: PathBuf, source: rusqlite::Error },
    #[error("database: a thread of it cannot be started: {0}")]
    Thread(#[from] std::io::Error),
    #[error("database: {}", postgres::one_line(.0))]
    Postgres(#[from] tokio_postgres::Error),
    #[error("database: the write was not committed: {0}")]
    NotCommitted(String),
    #[error("database: it keeps no order of keys, so it cannot scan")]
    NoScans,
    #[error("database: its thread has ended")]
    Ended,
}

/// Opens the database, making its table if there is none. REQUIRES: a tokio runtime.
pub async fn open_database(
    url: &DatabaseUrl,
    readers: usize,
) -> Result<Arc<dyn Database>, DatabaseError> {
    Ok(match url {
        DatabaseUrl::Sqlite(path) => Arc::new(sqlite::Sqlite::open(path, readers)?),
        DatabaseUrl::Postgres(url) => Arc::new(postgres::Postgres::open(url).await?),
    })
}
