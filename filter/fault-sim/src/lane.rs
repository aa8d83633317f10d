//! A thread of its own for a worker, on which it can be held up between any two host calls.
//!
//! Only one thread of a run ever runs: whoever starts or resumes a worker waits until it pauses or is done. So a run
//! repeats from its seed, whatever the machine does.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rudolph_mock_host::{Gate, Hostcall, Pass, Worker};

use crate::job::Ran;

pub(crate) type Errand = Box<dyn FnOnce(&mut Worker) -> Ran + Send>;

/// What a lane tells of its worker.
#[derive(Debug)]
pub(crate) enum Event {
    /// It stands before this host call.
    Paused(Hostcall),
    /// It is back.
    Done(Box<Worker>, Ran),
}

/// How a paused worker goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Resume {
    /// It runs, and pauses before the n-th host call from here on; 0: no more.
    Run(u64),
    /// The host call traps.
    Trap,
}

#[derive(Debug)]
pub(crate) struct Lane {
    pause_after: Arc<AtomicU64>,
    errands: Sender<(Box<Worker>, BoxedErrand)>,
    resumes: Sender<Resume>,
    events: Receiver<Event>,
}

struct BoxedErrand(Errand);

impl std::fmt::Debug for BoxedErrand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BoxedErrand")
    }
}

impl Lane {
    /// A lane for this worker, which gets its gate.
    pub(crate) fn new(worker: &mut Worker) -> Self {
        let (errands, inbox) = channel::<(Box<Worker>, BoxedErrand)>();
        let (resumes, resumed) = channel();
        let (events_out, events) = channel();
        let pause_after = Arc::new(AtomicU64::new(0));
        worker.set_gate(gate(Arc::clone(&pause_after), events_out.clone(), resumed));
        // The thread ends when the lane is dropped, a stalled worker with it.
        thread::spawn(move || {
            for (mut worker, BoxedErrand(errand)) in inbox {
                let ran = errand(&mut worker);
                if events_out.send(Event::Done(worker, ran)).is_err() {
                    return;
                }
            }
        });
        Self { pause_after, errands, resumes, events }
    }

    /// Runs an errand until it pauses or is done. `None`: the thread died of a panic.
    pub(crate) fn run(
        &self,
        worker: Box<Worker>,
        errand: Errand,
        pause_after: u64,
    ) -> Option<Event> {
        self.pause_after.store(pause_after, Relaxed);
        self.errands.send((worker, BoxedErrand(errand))).ok()?;
        self.next_event()
    }

    /// Lets a paused worker go on.
    pub(crate) fn resume(&self, how: Resume) -> Option<Event> {
        if let Resume::Run(pause_after) = how {
            self.pause_after.store(pause_after, Relaxed);
        }
        self.resumes.send(how).ok()?;
        self.next_event()
    }

    /// A pause that was not reached is void: the next job may run on another thread, where nobody would resume it.
    fn next_event(&self) -> Option<Event> {
        let event = self.events.recv().ok()?;
        self.pause_after.store(0, Relaxed);
        Some(event)
    }
}

fn gate(pause_after: Arc<AtomicU64>, events: Sender<Event>, resumed: Receiver<Resume>) -> Gate {
    let resumed = Mutex::new(resumed);
    Arc::new(move |hostcall| {
        let left = pause_after.load(Relaxed);
        if left == 0 {
            return Pass::Proceed;
        }
        pause_after.store(left - 1, Relaxed);
        if left > 1 {
            return Pass::Proceed;
        }
        let resumed = resumed.lock().unwrap_or_else(PoisonError::into_inner);
        if events.send(Event::Paused(hostcall)).is_err() {
            return Pass::Trap;
        }
        match resumed.recv() {
            Ok(Resume::Run(_)) => Pass::Proceed,
            Ok(Resume::Trap) | Err(_) => Pass::Trap,
        }
    })
}
