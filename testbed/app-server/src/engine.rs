use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use rudolph_workload::derived_value;
use tokio::time::Instant;

use crate::{
    Cache, Database, DatabaseError, EnterError, LruCache, Metrics, Occupied, ServerConfig,
    ServiceTimes, Slots,
    write_marks::{Mark, WriteMarks},
};

/// Reads and writes of one server, whatever protocol they came by.
#[derive(Debug)]
pub struct Engine {
    cache: Mutex<Box<dyn Cache>>,
    database: Arc<dyn Database>,
    slots: Arc<Slots>,
    service: ServiceTimes,
    scan_row: Duration,
    absent_value_bytes: Option<usize>,
    write_marks: WriteMarks,
    metrics: Metrics,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheOutcome {
    Hit,
    Miss,
}

/// The answer to a read; `value` is `None` if there is no such key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub value: Option<Bytes>,
    pub outcome: CacheOutcome,
}

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Enter(#[from] EnterError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl Engine {
    /// REQUIRES: a validated config and a tokio runtime.
    #[must_use]
    pub fn new(config: &ServerConfig, database: Arc<dyn Database>) -> Self {
        Self {
            cache: Mutex::new(Box::new(LruCache::new(config.cache))),
            database,
            slots: Slots::new(config.slots, config.queue_limit),
            service: config.service,
            scan_row: config.scan_row,
            absent_value_bytes: config.absent_value_bytes,
            write_marks: WriteMarks::new(),
            metrics: Metrics::new(),
        }
    }

    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Prometheus text.
    pub fn render_metrics(&self) -> Result<String, std::fmt::Error> {
        let entries = self.cache().len();
        self.metrics.render(self.slots.waiting(), entries)
    }

    pub async fn get(&self, key: &[u8]) -> Result<Found, EngineError> {
        self.metrics.reads.inc();
        let slot = Some(self.enter().await?);
        self.read(slot, key).await
    }

    /// A read at the machine's own speed, past the queue: it fills the cache before anything is measured.
    pub async fn warm(&self, key: &[u8]) -> Result<Found, EngineError> {
        self.metrics.reads.inc();
        self.read(None, key).await
    }

    async fn read(&self, slot: Option<Occupied>, key: &[u8]) -> Result<Found, EngineError> {
        let started = Instant::now();
        let cached = self.cache().get(key);
        let found = match cached {
            Some(value) => self.hit(slot, value).await,
            None => self.miss(slot, key).await?,
        };
        self.metrics.observe_service(started.elapsed());
        Ok(found)
    }

    /// The keys in `from..to`, at most one more than [`crate::LONGEST_SCAN`]. It goes past the cache: a scan holds its slot
    /// for a miss, which finds the first key, and for a set time a key.
    pub async fn scan(&self, from: Vec<u8>, to: Vec<u8>) -> Result<Vec<Vec<u8>>, EngineError> {
        self.metrics.reads.inc();
        let slot = self.enter().await?;
        let started = Instant::now();
        self.metrics.database_reads.inc();
        let keys = self.count_error(self.database.scan(from, to).await)?;
        let rows = u32::try_from(keys.len()).unwrap_or(u32::MAX);
        slot.serve_for(self.service.miss + self.scan_row.saturating_mul(rows)).await;
        self.metrics.observe_service(started.elapsed());
        Ok(keys)
    }

    /// Returns once the database has the value. Run it to its end: dropped half-way, the cache could miss the write.
    pub async fn put(&self, key: &[u8], value: Bytes) -> Result<(), EngineError> {
        self.metrics.writes.inc();
        let slot = self.enter().await?;
        let started = Instant::now();
        self.write_through(key, value).await?;
        slot.serve_for(self.service.miss).await;
        self.metrics.observe_service(started.elapsed());
        Ok(())
    }

    async fn write_through(&self, key: &[u8], value: Bytes) -> Result<(), DatabaseError> {
        self.metrics.database_writes.inc();
        let mark = self.write_marks.begin_write(key);
        let written = self.database.put(key.to_vec(), value.clone()).await;
        let mut cache = self.cache();
        if self.write_marks.end_write(key, mark) && written.is_ok() {
            cache.store(key, value);
        } else {
            cache.forget(key); // which value the database holds is not known here
        }
        drop(cache);
        self.count_error(written)
    }

    async fn enter(&self) -> Result<Occupied, EnterError> {
        let asked = Instant::now();
        let entered = self.slots.enter().await;
        self.metrics.observe_queue(asked.elapsed());
        if entered.is_err() {
            self.metrics.refused.inc();
        }
        entered
    }

    async fn hit(&self, slot: Option<Occupied>, value: Bytes) -> Found {
        self.metrics.hits.inc();
        serve(slot, self.service.hit).await;
        Found { value: Some(value), outcome: CacheOutcome::Hit }
    }

    async fn miss(&self, slot: Option<Occupied>, key: &[u8]) -> Result<Found, EngineError> {
        self.metrics.misses.inc();
        let mark = self.write_marks.begin_read(key);
        let value = self.read_or_create(key).await?;
        serve(slot, self.service.miss).await;
        if let Some(value) = &value {
            self.fill(key, value, mark);
        }
        Ok(Found { value, outcome: CacheOutcome::Miss })
    }

    async fn read_or_create(&self, key: &[u8]) -> Result<Option<Bytes>, DatabaseError> {
        self.metrics.database_reads.inc();
        let read = self.database.get(key.to_vec()).await;
        if let Some(value) = self.count_error(read)? {
            return Ok(Some(value));
        }
        Ok(self.absent_value_bytes.map(|bytes| {
            let value = Bytes::from(derived_value(key, bytes));
            self.metrics.created.inc();
            self.database.keep_if_absent(key.to_vec(), value.clone());
            value
        }))
    }

    /// Keeps a value that was read, unless the key was written meanwhile.
    fn fill(&self, key: &[u8], value: &Bytes, mark: Mark) {
        let mut cache = self.cache();
        if self.write_marks.may_fill(key, mark) {
            cache.store(key, value.clone());
        }
    }

    fn count_error<T>(&self, result: Result<T, DatabaseError>) -> Result<T, DatabaseError> {
        if result.is_err() {
            self.metrics.database_errors.inc();
        }
        result
    }

    fn cache(&self) -> MutexGuard<'_, Box<dyn Cache>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(slot: Option<Occupied>, service: Duration) {
    if let Some(slot) = slot {
        slot.serve_for(service).await;
    }
}
