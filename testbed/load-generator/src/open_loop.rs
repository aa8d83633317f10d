use std::{cell::RefCell, collections::VecDeque, rc::Rc, time::Duration};

use rudolph_precise_sleep::PreciseSleep;
use tokio::{sync::Notify, task::JoinSet, time::Instant};

use crate::{LoadError, Pacer, Phase, PreparedRequest, SendError, Sending, shared::Shared};

/// More requests than this waiting for a connection end the run: its figures would be about the wait.
const LONGEST_BACKLOG: usize = 1_000_000;
/// Arrivals that are all due at once still let the answers in between.
const DUE_IN_A_ROW: u32 = 32;

/// Requests at their times, whatever the answers do. Latency counts from the intended start: a request that waits for a
/// connection, or for this very loop, waits on the record.
#[derive(Debug)]
pub(crate) struct OpenLoop<S> {
    shared: Rc<Shared>,
    pool: Rc<RefCell<Pool<S>>>,
    /// Told once, when no answer is waited for any more.
    over: Rc<Notify>,
}

#[derive(Debug)]
struct Pool<S> {
    /// First in, first out, so that all connections carry the same load.
    idle: VecDeque<S>,
    backlog: VecDeque<Due>,
}

#[derive(Debug)]
struct Due {
    intended_ns: u64,
    request: PreparedRequest,
}

impl<S: Sending + 'static> OpenLoop<S> {
    pub(crate) fn new(shared: Rc<Shared>, connections: usize, sender: impl Fn() -> S) -> Self {
        let pool =
            Pool { idle: (0..connections).map(|_| sender()).collect(), backlog: VecDeque::new() };
        Self { shared, pool: Rc::new(RefCell::new(pool)), over: Rc::default() }
    }

    /// REQUIRES: a `LocalSet`. After the last arrival, requests under way get `grace` to finish.
    pub(crate) async fn run(
        self,
        pacer: Pacer,
        sleep: PreciseSleep,
        grace: Duration,
    ) -> Result<(), LoadError> {
        let mut tasks = JoinSet::new();
        self.send_all(pacer, &sleep, &mut tasks).await?;
        self.finish(tasks, grace).await;
        Ok(())
    }

    async fn send_all(
        &self,
        mut pacer: Pacer,
        sleep: &PreciseSleep,
        tasks: &mut JoinSet<()>,
    ) -> Result<(), LoadError> {
        let mut due_in_a_row = 0;
        loop {
            let intended_ns = pacer.next_start_ns();
            if self.shared.rule.phase(intended_ns, self.shared.started()) == Phase::Done {
                // By time: the last second is a whole one. By count: there is nothing to wait for.
                let end_ns = intended_ns.min(self.shared.rule.end_ns());
                sleep.until(self.shared.instant(end_ns)).await;
                return Ok(());
            }
            let intended = self.shared.instant(intended_ns);
            if intended > Instant::now() {
                sleep.until(intended).await;
                due_in_a_row = 0;
            }
            due_in_a_row += 1;
            if due_in_a_row > DUE_IN_A_ROW {
                tokio::task::yield_now().await;
                due_in_a_row = 0;
            }
            self.dispatch(intended_ns, tasks)?;
            while tasks.try_join_next().is_some() {}
        }
    }

    fn dispatch(&self, intended_ns: u64, tasks: &mut JoinSet<()>) -> Result<(), LoadError> {
        let request = self.shared.begin_request(intended_ns);
        let due = Due { intended_ns, request };
        let mut pool = self.pool.borrow_mut();
        let mut watch = self.shared.self_watch.borrow_mut();
        if let Some(sender) = pool.idle.pop_front() {
            // A connection was free, so only this loop can have been late.
            watch.late_by(
                Instant::now().saturating_duration_since(self.shared.instant(intended_ns)),
            );
            let (shared, over) = (Rc::clone(&self.shared), Rc::clone(&self.over));
            tasks.spawn_local(serve(shared, Rc::clone(&self.pool), over, sender, due));
            return Ok(());
        }
        pool.backlog.push_back(due);
        watch.waited_for_connection += 1;
        watch.backlog_peak = watch.backlog_peak.max(pool.backlog.len() as u64);
        if pool.backlog.len() > LONGEST_BACKLOG {
            return Err(LoadError::Backlog { limit: LONGEST_BACKLOG });
        }
        Ok(())
    }

    async fn finish(&self, mut tasks: JoinSet<()>, grace: Duration) {
        let all = async { while tasks.join_next().await.is_some() {} };
        let in_time = tokio::time::timeout(grace, all).await;
        if in_time.is_ok() {
            return;
        }
        let waiting = std::mem::take(&mut self.pool.borrow_mut().backlog);
        for due in waiting {
            let outcome = Err(SendError::Unfinished);
            self.shared.finish_request(due.intended_ns, due.request.key, &outcome);
        }
        self.over.notify_waiters();
        while tasks.join_next().await.is_some() {}
    }
}

/// Sends one request, then what waits, then gives the connection back.
async fn serve<S: Sending>(
    shared: Rc<Shared>,
    pool: Rc<RefCell<Pool<S>>>,
    over: Rc<Notify>,
    mut sender: S,
    first: Due,
) {
    let mut due = first;
    loop {
        let outcome = tokio::select! {
            outcome = sender.send(&due.request) => outcome,
            () = over.notified() => Err(SendError::Unfinished),
        };
        shared.finish_request(due.intended_ns, due.request.key, &outcome);
        let mut pool = pool.borrow_mut();
        match pool.backlog.pop_front() {
            Some(next) => due = next,
            None => return pool.idle.push_back(sender),
        }
    }
}

#[cfg(test)]
mod tests {
    use rudolph_workload::WorkloadSpec;
    use tokio::{sync::watch, task::LocalSet};

    use super::*;
    use crate::{Arrivals, Outcome, Reply, StopRule, closed_loop, recording::Totals};

    /// Answers after 1 ms, except that nothing is answered in the stall from 1 s to 1.5 s.
    #[derive(Clone)]
    struct Stalling {
        start: Instant,
    }

    impl Sending for Stalling {
        async fn send(&mut self, _: &PreparedRequest) -> Outcome {
            let done = Instant::now() + Duration::from_millis(1);
            let stall = self.start + Duration::from_millis(1_000);
            let is_stalled = done >= stall && done < stall + Duration::from_millis(500);
            let end = if is_stalled { stall + Duration::from_millis(500) } else { done };
            tokio::time::sleep_until(end).await;
            let (server, cache) = (None, None);
            Ok(Reply { status: 200, server, cache })
        }
    }

    fn shared() -> Rc<Shared> {
        let rule = StopRule::new(Duration::ZERO, Duration::from_secs(2), None);
        let stream = WorkloadSpec::default().build().unwrap();
        Rc::new(Shared::new(rule, stream, watch::channel(None).0).unwrap())
    }

    fn totals(shared: Rc<Shared>) -> Totals {
        Rc::into_inner(shared).unwrap().into_totals().0
    }

    async fn open(connections: usize, grace: Duration) -> Totals {
        let shared = shared();
        let sender = Stalling { start: Instant::now() };
        let pacer = Pacer::new(Arrivals::Constant { rate: 100.0 }, 1).unwrap();
        let open = OpenLoop::new(Rc::clone(&shared), connections, || sender.clone());
        let run = open.run(pacer, PreciseSleep::coarse(), grace);
        LocalSet::new().run_until(run).await.unwrap();
        totals(shared)
    }

    /// A quarter of the arrivals fall into the stall and wait 500 ms to 10 ms: none is omitted, whether each has a
    /// connection or all share one.
    #[tokio::test(start_paused = true)]
    async fn latency_counts_from_the_intended_start() {
        for connections in [200, 1] {
            let totals = open(connections, Duration::from_secs(1)).await;
            assert_eq!(totals.requests, 200, "{connections} connections");
            let latency = totals.latency;
            assert!((latency.p50_ms - 1.0).abs() < 1.1, "{latency:?}");
            assert!((395.0..=460.0).contains(&latency.p95_ms), "{latency:?}");
            assert!((495.0..=510.0).contains(&latency.max_ms), "{latency:?}");
        }
    }

    /// The same stall under a closed loop of one client is one slow request: that is what open loops are for.
    #[tokio::test(start_paused = true)]
    async fn a_closed_loop_sees_the_stall_once() {
        let shared = shared();
        let sender = Stalling { start: Instant::now() };
        let run = closed_loop::run(Rc::clone(&shared), 1, || sender.clone());
        LocalSet::new().run_until(run).await;
        let latency = totals(shared).latency;
        assert!(latency.p99_ms < 3.0 && latency.max_ms > 490.0, "{latency:?}");
    }

    /// Never answers.
    struct Silent;

    impl Sending for Silent {
        async fn send(&mut self, _: &PreparedRequest) -> Outcome {
            std::future::pending().await
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_still_waits_at_the_end_is_counted() {
        let shared = shared();
        let pacer = Pacer::new(Arrivals::Constant { rate: 100.0 }, 1).unwrap();
        let open = OpenLoop::new(Rc::clone(&shared), 10, || Silent);
        let run = open.run(pacer, PreciseSleep::coarse(), Duration::from_secs(1));
        LocalSet::new().run_until(run).await.unwrap();
        assert_eq!(totals(shared).errors["unfinished"], 200);
    }
}
