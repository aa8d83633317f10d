use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::{Database, DatabaseError, DatabaseFuture, LONGEST_SCAN};

/// An SQLite file that several processes may have open. Reads and writes run on threads of their own, so that a slow
/// disk never holds the server's thread.
#[derive(Debug)]
pub(crate) struct Sqlite {
    readers: Vec<mpsc::Sender<Read>>,
    next_reader: AtomicUsize,
    writer: mpsc::Sender<Write>,
}

#[derive(Debug)]
enum Read {
    One { key: Vec<u8>, answer: Answer<Option<Bytes>> },
    Scan { from: Vec<u8>, to: Vec<u8>, answer: Answer<Vec<Vec<u8>>> },
}

type Answer<T> = oneshot::Sender<Result<T, DatabaseError>>;

#[derive(Debug)]
struct Write {
    key: Vec<u8>,
    value: Bytes,
    /// `None`: only if absent, and nobody waits.
    answer: Option<oneshot::Sender<Result<(), DatabaseError>>>,
}

const QUEUE: usize = 1024;
/// Writes that arrive while one is being committed share the next commit.
const LARGEST_COMMIT: usize = 256;
/// Other servers write too; this is how long one waits for them.
const LONGEST_WAIT_FOR_LOCK: Duration = Duration::from_secs(5);
const LOCK_STEP: Duration = Duration::from_micros(500);

const CREATE: &str =
    "CREATE TABLE IF NOT EXISTS kv (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID";
const SELECT: &str = "SELECT value FROM kv WHERE key = ?1";
const SCAN: &str = "SELECT key FROM kv WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3";
const UPSERT: &str =
    "INSERT INTO kv (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2";
const INSERT: &str = "INSERT INTO kv (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO NOTHING";

impl Sqlite {
    pub(crate) fn open(path: &Path, readers: usize) -> Result<Self, DatabaseError> {
        let writer = connect(path)?;
        let (write_sender, writes) = mpsc::channel(QUEUE);
        let writer_path = path.to_owned();
        spawn("sqlite-write", move || write_all(writer, writes, &writer_path))?;
        let mut senders = Vec::with_capacity(readers);
        for _ in 0..readers.max(1) {
            let reader = connect(path)?;
            let (sender, reads) = mpsc::channel(QUEUE);
            let reader_path = path.to_owned();
            spawn("sqlite-read", move || read_all(&reader, reads, &reader_path))?;
            senders.push(sender);
        }
        Ok(Self { readers: senders, next_reader: AtomicUsize::new(0), writer: write_sender })
    }

    /// What a reader answers, the readers in turn.
    async fn read<T>(&self, read: impl FnOnce(Answer<T>) -> Read) -> Result<T, DatabaseError> {
        let turn = self.next_reader.fetch_add(1, Ordering::Relaxed) % self.readers.len();
        let (answer, answered) = oneshot::channel();
        let sent = self.readers[turn].send(read(answer)).await;
        sent.map_err(|_| DatabaseError::Ended)?;
        answered.await.map_err(|_| DatabaseError::Ended)?
    }
}

impl Database for Sqlite {
    fn get(&self, key: Vec<u8>) -> DatabaseFuture<'_, Option<Bytes>> {
        Box::pin(self.read(|answer| Read::One { key, answer }))
    }

    fn scan(&self, from: Vec<u8>, to: Vec<u8>) -> DatabaseFuture<'_, Vec<Vec<u8>>> {
        Box::pin(self.read(|answer| Read::Scan { from, to, answer }))
    }

    fn put(&self, key: Vec<u8>, value: Bytes) -> DatabaseFuture<'_, ()> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let answer = Some(answer);
            let sent = self.writer.send(Write { key, value, answer }).await;
            sent.map_err(|_| DatabaseError::Ended)?;
            answered.await.map_err(|_| DatabaseError::Ended)?
        })
    }

    fn keep_if_absent(&self, key: Vec<u8>, value: Bytes) {
        // A full queue means a busy disk: the value can be made again.
        let answer = None;
        _ = self.writer.try_send(Write { key, value, answer });
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), std::io::Error> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(|_| ())
}

fn connect(path: &Path) -> Result<Connection, DatabaseError> {
    let open = || {
        let connection = Connection::open(path)?;
        connection.busy_handler(Some(wait_a_little))?;
        wait_for_lock(|| prepare_file(&connection))?;
        Ok(connection)
    };
    open().map_err(|source| failure(path, source))
}

/// WAL lets readers go on while one writes. NORMAL: a commit survives the death of the process (not of the machine).
fn prepare_file(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.execute_batch(CREATE)
}

/// SQLite's own waiting grows to 100 ms a step, which would be the tail of every write; commits here take far less.
fn wait_a_little(tries: i32) -> bool {
    thread::sleep(LOCK_STEP);
    LOCK_STEP.saturating_mul(tries.unsigned_abs()) < LONGEST_WAIT_FOR_LOCK
}

/// SQLite does not wait by itself when several processes turn a new file to WAL at once.
fn wait_for_lock(attempt: impl Fn() -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    let deadline = Instant::now() + LONGEST_WAIT_FOR_LOCK;
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && Instant::now() < deadline => {
                thread::sleep(LOCK_STEP);
            }
            done => return done,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn failure(path: &Path, source: rusqlite::Error) -> DatabaseError {
    let path = PathBuf::from(path);
    DatabaseError::Sqlite { path, source }
}

/// Ends when the last sender is dropped.
fn read_all(connection: &Connection, mut reads: mpsc::Receiver<Read>, path: &Path) {
    // Whoever asked may have gone.
    while let Some(read) = reads.blocking_recv() {
        match read {
            Read::One { key, answer } => {
                let read = read_one(connection, &key).map_err(|source| failure(path, source));
                _ = answer.send(read);
            }
            Read::Scan { from, to, answer } => {
                let read = scan(connection, &from, &to).map_err(|source| failure(path, source));
                _ = answer.send(read);
            }
        }
    }
}

fn read_one(connection: &Connection, key: &[u8]) -> rusqlite::Result<Option<Bytes>> {
    let mut select = connection.prepare_cached(SELECT)?;
    let value = select.query_row([key], |row| row.get::<_, Vec<u8>>(0));
    Ok(value.optional()?.map(Bytes::from))
}

fn scan(connection: &Connection, from: &[u8], to: &[u8]) -> rusqlite::Result<Vec<Vec<u8>>> {
    let mut select = connection.prepare_cached(SCAN)?;
    let most = i64::try_from(LONGEST_SCAN + 1).unwrap_or(i64::MAX);
    let keys = select.query_map((from, to, most), |row| row.get(0))?;
    keys.collect()
}

fn write_all(mut connection: Connection, mut writes: mpsc::Receiver<Write>, path: &Path) {
    let mut batch = Vec::with_capacity(LARGEST_COMMIT);
    while let Some(first) = writes.blocking_recv() {
        batch.push(first);
        while batch.len() < LARGEST_COMMIT
            && let Ok(write) = writes.try_recv()
        {
            batch.push(write);
        }
        let committed = commit(&mut connection, &batch).map_err(|source| failure(path, source));
        answer_all(&mut batch, &committed);
    }
}

fn commit(connection: &mut Connection, batch: &[Write]) -> rusqlite::Result<()> {
    // Immediate: the write lock is waited for at the start, where waiting is safe.
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    for write in batch {
        let sql = if write.answer.is_some() { UPSERT } else { INSERT };
        let mut statement = transaction.prepare_cached(sql)?;
        statement.execute((write.key.as_slice(), write.value.as_ref()))?;
    }
    transaction.commit()
}

fn answer_all(batch: &mut Vec<Write>, committed: &Result<(), DatabaseError>) {
    for answer in batch.drain(..).filter_map(|write| write.answer) {
        let result = match committed {
            Ok(()) => Ok(()),
            Err(error) => Err(DatabaseError::NotCommitted(error.to_string())),
        };
        _ = answer.send(result); // the asker may have gone
    }
}
