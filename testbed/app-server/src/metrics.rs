use std::{
    fmt::Debug,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

/// What a server counts about itself. Cheap to clone parts of; one of these a server, so that several share a process.
#[derive(Clone, Debug)]
pub struct Metrics {
    pub reads: Counter,
    pub writes: Counter,
    pub hits: Counter,
    pub misses: Counter,
    /// Answered 4xx or turned away by the full queue.
    pub refused: Counter,
    pub database_reads: Counter,
    pub database_writes: Counter,
    pub database_errors: Counter,
    /// Keys that were not in the database and got their derived value.
    pub created: Counter,
    queue_length: Gauge,
    cache_entries: Gauge,
    service_seconds: Histogram,
    queue_seconds: Histogram,
    registry: Arc<RwLock<Registry>>,
}

/// From 50 us to 1.6 s, each double the one before.
fn buckets() -> impl Iterator<Item = f64> {
    (0..16).map(|power| 0.00005 * f64::from(1 << power))
}

impl Metrics {
    #[must_use]
    pub fn new() -> Self {
        let metrics = Self {
            reads: Counter::default(),
            writes: Counter::default(),
            hits: Counter::default(),
            misses: Counter::default(),
            refused: Counter::default(),
            database_reads: Counter::default(),
            database_writes: Counter::default(),
            database_errors: Counter::default(),
            created: Counter::default(),
            queue_length: Gauge::default(),
            cache_entries: Gauge::default(),
            service_seconds: Histogram::new(buckets()),
            queue_seconds: Histogram::new(buckets()),
            registry: Arc::new(RwLock::new(Registry::with_prefix("rudolph_app"))),
        };
        metrics.register();
        metrics
    }

    fn register(&self) {
        let mut registry = self.registry.write().unwrap_or_else(PoisonError::into_inner);
        let counters = [
            ("reads", "GET requests taken", &self.reads),
            ("writes", "PUT requests taken", &self.writes),
            ("hits", "Reads answered from the cache", &self.hits),
            ("misses", "Reads that went to the database", &self.misses),
            ("refused", "Requests answered 4xx, or 503 for a full queue", &self.refused),
            ("database_reads", "Reads of the database", &self.database_reads),
            ("database_writes", "Writes to the database", &self.database_writes),
            ("database_errors", "Failures of the database", &self.database_errors),
            ("created", "Absent keys that got their derived value", &self.created),
        ];
        for (name, help, counter) in counters {
            registry.register(name, help, counter.clone());
        }
        registry.register(
            "queue_length",
            "Requests that wait for a slot",
            self.queue_length.clone(),
        );
        registry.register("cache_entries", "Keys in the cache", self.cache_entries.clone());
        registry.register("service_seconds", "Time in a slot", self.service_seconds.clone());
        registry.register("queue_seconds", "Time in the queue", self.queue_seconds.clone());
    }

    pub(crate) fn observe_service(&self, time: Duration) {
        self.service_seconds.observe(time.as_secs_f64());
    }

    pub(crate) fn observe_queue(&self, time: Duration) {
        self.queue_seconds.observe(time.as_secs_f64());
    }

    /// The text that Prometheus scrapes, with the gauges brought up to date first.
    pub(crate) fn render(
        &self,
        queue_length: usize,
        cache_entries: usize,
    ) -> Result<String, std::fmt::Error> {
        self.queue_length.set(i64::try_from(queue_length).unwrap_or(i64::MAX));
        self.cache_entries.set(i64::try_from(cache_entries).unwrap_or(i64::MAX));
        let mut text = String::new();
        let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
        encode(&mut text, &registry)?;
        Ok(text)
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}
