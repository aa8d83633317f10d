use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rudolph_precise_sleep::PreciseSleep;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

/// How far behind a slot may be and still make up for it. When the machine wakes a request late, its service counts from
/// the moment the slot was due to be free, so that capacity is what was set, not what the machine's timers allow.
const LONGEST_CREDIT: Duration = Duration::from_millis(20);

/// A set number of places to be served in, and one queue before them, first come, first served.
#[derive(Debug)]
pub struct Slots {
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Slot>>,
    waiting: AtomicUsize,
    queue_limit: usize,
}

#[derive(Debug)]
struct Slot {
    free_since: Instant,
    sleep: PreciseSleep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnterError {
    #[error("the queue is full ({limit} requests wait)")]
    QueueFull { limit: usize },
    #[error("the server is closing")]
    Closed,
}

impl Slots {
    /// REQUIRES: a tokio runtime, for the timers.
    #[must_use]
    pub fn new(count: usize, queue_limit: usize) -> Arc<Self> {
        Self::with_sleep(count, queue_limit, PreciseSleep::new)
    }

    fn with_sleep(count: usize, queue_limit: usize, sleep: fn() -> PreciseSleep) -> Arc<Self> {
        let free_since = Instant::now();
        let slot = || Slot { free_since, sleep: sleep() };
        Arc::new(Self {
            permits: Arc::new(Semaphore::new(count)),
            idle: Mutex::new((0..count).map(|_| slot()).collect()),
            waiting: AtomicUsize::new(0),
            queue_limit,
        })
    }

    /// Requests in the queue, not counting those in a slot.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Waits for its turn. Dropping the future leaves the queue; dropping the [`Occupied`] frees the slot.
    pub async fn enter(self: &Arc<Self>) -> Result<Occupied, EnterError> {
        let arrived = Instant::now();
        let permit = match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => self.queue().await?,
        };
        let slot = self.lock_idle().pop().ok_or(EnterError::Closed)?;
        let earliest = Instant::now().checked_sub(LONGEST_CREDIT).unwrap_or(arrived);
        let start = slot.free_since.max(arrived).max(earliest);
        Ok(Occupied { slots: Arc::clone(self), slot: Some(slot), start, _permit: permit })
    }

    async fn queue(&self) -> Result<OwnedSemaphorePermit, EnterError> {
        if self.waiting() >= self.queue_limit {
            return Err(EnterError::QueueFull { limit: self.queue_limit });
        }
        let _place = QueuePlace::take(&self.waiting);
        // Tokio's semaphore is fair: permits are given in the order of asking.
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        permit.map_err(|_| EnterError::Closed)
    }

    fn lock_idle(&self) -> std::sync::MutexGuard<'_, Vec<Slot>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts one waiting request for as long as it lives.
struct QueuePlace<'a>(&'a AtomicUsize);

impl<'a> QueuePlace<'a> {
    fn take(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One request in its slot.
#[derive(Debug)]
pub struct Occupied {
    slots: Arc<Slots>,
    slot: Option<Slot>,
    start: Instant,
    _permit: OwnedSemaphorePermit,
}

impl Occupied {
    /// Holds the slot until `service` after the start of service, or frees it at once if the work has taken longer.
    pub async fn serve_for(mut self, service: Duration) {
        let work_done = Instant::now();
        let end = (self.start + service).max(work_done);
        let Some(slot) = &self.slot else { return };
        if end > work_done {
            slot.sleep.until(end).await;
        }
        self.leave(end);
    }

    fn leave(&mut self, free_since: Instant) {
        if let Some(mut slot) = self.slot.take() {
            slot.free_since = free_since;
            self.slots.lock_idle().push(slot);
        }
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        self.leave(Instant::now()); // does nothing after a whole service
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVICE: Duration = Duration::from_millis(10);

    fn slots(count: usize, queue_limit: usize) -> Arc<Slots> {
        Slots::with_sleep(count, queue_limit, PreciseSleep::coarse)
    }

    #[tokio::test(start_paused = true)]
    async fn first_come_first_served_at_the_set_capacity() {
        let slots = slots(2, 100);
        let done = Arc::new(Mutex::new(Vec::new()));
        let start = Instant::now();
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..10_u32 {
            let (slots, done) = (Arc::clone(&slots), Arc::clone(&done));
            tasks.spawn(async move {
                slots.enter().await.unwrap().serve_for(SERVICE).await;
                done.lock().unwrap().push((number, start.elapsed()));
            });
            tokio::task::yield_now().await; // arrivals in order
        }
        assert_eq!(slots.waiting(), 8);
        tasks.join_all().await;
        let done = done.lock().unwrap();
        for (position, &(number, at)) in done.iter().enumerate() {
            assert_eq!(number, u32::try_from(position).unwrap(), "{done:?}");
            assert_eq!(at.as_millis(), u128::from(number / 2 + 1) * 10, "{done:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_wake_does_not_cost_capacity() {
        let slots = slots(1, 100);
        let first = slots.enter().await.unwrap();
        let queued = tokio::spawn({
            let slots = Arc::clone(&slots);
            async move { slots.enter().await }
        });
        tokio::task::yield_now().await;
        let start = Instant::now();
        first.serve_for(SERVICE).await;
        tokio::time::advance(Duration::from_millis(4)).await; // the machine was busy
        queued.await.unwrap().unwrap().serve_for(SERVICE).await;
        assert_eq!(start.elapsed(), SERVICE * 2);
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_slot_earns_no_credit() {
        let slots = slots(1, 100);
        tokio::time::advance(Duration::from_secs(9)).await;
        let start = Instant::now();
        slots.enter().await.unwrap().serve_for(SERVICE).await;
        assert_eq!(start.elapsed(), SERVICE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_refuses_and_giving_up_makes_room() {
        let slots = slots(1, 1);
        let held = slots.enter().await.unwrap();
        let queued = tokio::spawn({
            let slots = Arc::clone(&slots);
            async move { slots.enter().await.map(drop) }
        });
        tokio::task::yield_now().await;
        assert_eq!(slots.enter().await.unwrap_err(), EnterError::QueueFull { limit: 1 });
        queued.abort();
        assert!(queued.await.unwrap_err().is_cancelled());
        assert_eq!(slots.waiting(), 0);
        drop(held);
        assert!(slots.enter().await.is_ok());
    }
}
