use std::{error::Error, sync::Arc};

use bytes::Bytes;
use tokio::sync::{Mutex, Semaphore};
use tokio_postgres::{Client, NoTls, Statement};

use super::{Database, DatabaseError, DatabaseFuture, LONGEST_SCAN};

/// PostgreSQL over one pipelined connection, made again when it breaks.
#[derive(Debug)]
pub(crate) struct Postgres {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    url: String,
    session: Mutex<Arc<Session>>,
    /// Background writes in flight.
    background: Arc<Semaphore>,
}

struct Session {
    client: Client,
    select: Statement,
    upsert: Statement,
    insert: Statement,
    scan: Statement,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Session")
    }
}

const MOST_BACKGROUND_WRITES: usize = 64;

/// The lock is there because two servers that make the table at once fail, even with IF NOT EXISTS.
const CREATE: &str = "BEGIN; SELECT pg_advisory_xact_lock(7237469); \
    CREATE TABLE IF NOT EXISTS rudolph_kv (key BYTEA PRIMARY KEY, value BYTEA NOT NULL); COMMIT";
const SELECT: &str = "SELECT value FROM rudolph_kv WHERE key = $1";
const UPSERT: &str =
    "INSERT INTO rudolph_kv VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = $2";
const INSERT: &str = "INSERT INTO rudolph_kv VALUES ($1, $2) ON CONFLICT (key) DO NOTHING";

const SCAN: &str = "SELECT key FROM rudolph_kv WHERE key >= $1 AND key < $2 ORDER BY key LIMIT $3";

impl Postgres {
    pub(crate) async fn open(url: &str) -> Result<Self, DatabaseError> {
        let session = Session::connect(url).await?;
        session.client.batch_execute(CREATE).await?;
        let session = session.prepare().await?;
        let shared = Shared {
            url: url.to_owned(),
            session: Mutex::new(Arc::new(session)),
            background: Arc::new(Semaphore::new(MOST_BACKGROUND_WRITES)),
        };
        Ok(Self { shared: Arc::new(shared) })
    }
}

/// A connection whose statements are not prepared yet.
struct Connected {
    client: Client,
}

impl Session {
    async fn connect(url: &str) -> Result<Connected, DatabaseError> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        // Its errors reach the requests on it; the next request connects again.
        tokio::spawn(async move { _ = connection.await });
        Ok(Connected { client })
    }
}

impl Connected {
    async fn prepare(self) -> Result<Session, DatabaseError> {
        let client = self.client;
        Ok(Session {
            select: client.prepare(SELECT).await?,
            upsert: client.prepare(UPSERT).await?,
            insert: client.prepare(INSERT).await?,
            scan: client.prepare(SCAN).await?,
            client,
        })
    }
}

impl Shared {
    async fn session(&self) -> Result<Arc<Session>, DatabaseError> {
        let mut session = self.session.lock().await;
        if session.client.is_closed() {
            *session = Arc::new(Session::connect(&self.url).await?.prepare().await?);
        }
        Ok(Arc::clone(&session))
    }

    async fn get(&self, key: &[u8]) -> Result<Option<Bytes>, DatabaseError> {
        let session = self.session().await?;
        let row = session.client.query_opt(&session.select, &[&key]).await?;
        let value = row.map(|row| row.try_get::<_, Vec<u8>>(0)).transpose()?;
        Ok(value.map(Bytes::from))
    }

    async fn scan(&self, from: &[u8], to: &[u8]) -> Result<Vec<Vec<u8>>, DatabaseError> {
        let session = self.session().await?;
        let most = i64::try_from(LONGEST_SCAN + 1).unwrap_or(i64::MAX);
        let rows = session.client.query(&session.scan, &[&from, &to, &most]).await?;
        Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
    }

    async fn put(&self, key: &[u8], value: &[u8]) -> Result<(), DatabaseError> {
        let session = self.session().await?;
        let client = &session.client;
        client.execute(&session.upsert, &[&key, &value]).await?;
        Ok(())
    }

    async fn insert(&self, key: &[u8], value: &[u8]) -> Result<(), DatabaseError> {
        let session = self.session().await?;
        let client = &session.client;
        client.execute(&session.insert, &[&key, &value]).await?;
        Ok(())
    }
}

impl Database for Postgres {
    fn get(&self, key: Vec<u8>) -> DatabaseFuture<'_, Option<Bytes>> {
        Box::pin(async move { self.shared.get(&key).await })
    }

    fn put(&self, key: Vec<u8>, value: Bytes) -> DatabaseFuture<'_, ()> {
        Box::pin(async move { self.shared.put(&key, &value).await })
    }

    fn scan(&self, from: Vec<u8>, to: Vec<u8>) -> DatabaseFuture<'_, Vec<Vec<u8>>> {
        Box::pin(async move { self.shared.scan(&from, &to).await })
    }

    fn keep_if_absent(&self, key: Vec<u8>, value: Bytes) {
        let Ok(permit) = Arc::clone(&self.shared.background).try_acquire_owned() else {
            return;
        };
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            _ = shared.insert(&key, &value).await; // the value can be made again
            drop(permit);
        });
    }
}

/// The library's message hides the cause ("db error"): join the chain.
pub(super) fn one_line(error: &tokio_postgres::Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        message = format!("{message}: {inner}");
        cause = inner.source();
    }
    message.replace('\n', " ")
}
