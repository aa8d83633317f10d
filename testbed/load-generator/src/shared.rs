use std::{
    cell::{Cell, RefCell},
    sync::Arc,
    time::Duration,
};

use rudolph_precise_sleep::PreciseSleep;
use rudolph_workload::{KeyId, KeyStream};
use tokio::{sync::watch, time::Instant};

use crate::{
    GeneratorHealth, LoadError, Outcome, PreparedRequest, Snapshot, StopRule,
    bottleneck::SelfWatch,
    recording::{Recorder, SECOND_NS, Totals},
};

pub(crate) type SnapshotSender = watch::Sender<Option<Arc<Snapshot>>>;

/// What every client of a run uses. One thread, so plain cells; no borrow is held across an await.
#[derive(Debug)]
pub(crate) struct Shared {
    start: Instant,
    pub(crate) rule: StopRule,
    stream: RefCell<KeyStream>,
    scratch: RefCell<Vec<u8>>,
    recorder: RefCell<Recorder>,
    pub(crate) self_watch: RefCell<SelfWatch>,
    health: Cell<Option<GeneratorHealth>>,
    started: Cell<u64>,
    snapshots: SnapshotSender,
}

/// How often the generator checks that it wakes on time.
const PROBE_NS: u64 = 10_000_000;

impl Shared {
    pub(crate) fn new(
        rule: StopRule,
        stream: KeyStream,
        snapshots: SnapshotSender,
    ) -> Result<Self, LoadError> {
        Ok(Self {
            start: Instant::now(),
            rule,
            stream: RefCell::new(stream),
            scratch: RefCell::default(),
            recorder: RefCell::new(Recorder::new(rule)?),
            self_watch: RefCell::new(SelfWatch::new()?),
            health: Cell::new(None),
            started: Cell::new(0),
            snapshots,
        })
    }

    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    pub(crate) fn instant(&self, since_start_ns: u64) -> Instant {
        self.start + Duration::from_nanos(since_start_ns)
    }

    pub(crate) fn started(&self) -> u64 {
        self.started.get()
    }

    /// The next request of the stream, as of `start_ns`.
    pub(crate) fn begin_request(&self, start_ns: u64) -> PreparedRequest {
        self.started.set(self.started.get() + 1);
        let mut stream = self.stream.borrow_mut();
        PreparedRequest::draw(&mut stream, start_ns, &mut self.scratch.borrow_mut())
    }

    pub(crate) fn finish_request(&self, intended_ns: u64, key: KeyId, outcome: &Outcome) {
        let now_ns = self.now_ns();
        self.recorder.borrow_mut().record(intended_ns, now_ns, key, outcome);
    }

    /// Ends seconds, publishes them, and watches the generator's own lateness. Never returns.
    pub(crate) async fn keep_time(&self, sleep: PreciseSleep) {
        let mut due_ns = 0;
        let mut published = 0;
        loop {
            sleep.until(self.instant(due_ns)).await;
            let late = Instant::now().saturating_duration_since(self.instant(due_ns));
            let now_ns = self.now_ns();
            self.watch_itself(due_ns, late);
            if now_ns / SECOND_NS > published {
                published = now_ns / SECOND_NS;
                self.publish(now_ns);
            }
            // A late probe does not make the next ones late as well.
            due_ns = (now_ns / PROBE_NS + 1) * PROBE_NS;
        }
    }

    fn watch_itself(&self, due_ns: u64, late: Duration) {
        let mut watch = self.self_watch.borrow_mut();
        if due_ns <= self.rule.warm_up_ns() {
            watch.begin();
        }
        watch.late_by(late);
        if due_ns >= self.rule.end_ns() && due_ns < self.rule.end_ns() + PROBE_NS {
            self.health.set(Some(watch.end(self.window(due_ns))));
        }
    }

    fn publish(&self, now_ns: u64) {
        let mut recorder = self.recorder.borrow_mut();
        if let Some(second) = recorder.close_seconds_before(now_ns) {
            self.snapshots.send_replace(Some(Arc::new(second.clone())));
        }
    }

    /// The part of the measured window that has passed.
    fn window(&self, now_ns: u64) -> Duration {
        let end_ns = now_ns.min(self.rule.end_ns());
        Duration::from_nanos(end_ns.saturating_sub(self.rule.warm_up_ns()))
    }

    /// The end, whether the rule or somebody stopped the run.
    pub(crate) fn into_totals(self) -> (Totals, GeneratorHealth, Duration) {
        let now_ns = self.now_ns();
        self.publish(now_ns);
        let window = self.window(now_ns);
        let health = self.health.take();
        let health = health.unwrap_or_else(|| self.self_watch.borrow().end(window));
        (self.recorder.into_inner().into_totals(), health, window)
    }
}
