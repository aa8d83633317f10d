//! One worker, as the harness sees it.

use rudolph_core::servers::Members;
use rudolph_mock_host::{Hostcall, Stream, Worker};

use crate::books::Counts;
use crate::job::Job;
use crate::lane::Lane;

/// A root context of a worker's VM.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) id: u32,
    pub(crate) variant: usize,
    /// When its next tick is due, in nanoseconds of the host's clock.
    pub(crate) due: u64,
    /// The newest plan it is known to follow.
    pub(crate) version: u64,
    /// It has had a plan, with or without servers.
    pub(crate) has_planned: bool,
    /// It ticked while no store of it succeeded, and may have planned for itself; the members that it was told last.
    pub(crate) shut_out: bool,
    pub(crate) taught: Option<Members>,
    /// Counts since its last tick was over.
    pub(crate) unwritten: Counts,
}

impl Root {
    pub(crate) fn new(id: u32, variant: usize, due: u64) -> Self {
        Self {
            id,
            variant,
            due,
            version: 0,
            has_planned: false,
            shut_out: false,
            taught: None,
            unwritten: Counts::default(),
        }
    }
}

/// A worker: of a thread that serves requests, or of the main thread.
#[derive(Debug)]
pub(crate) struct Actor {
    /// Not here while it is stalled.
    pub(crate) worker: Option<Box<Worker>>,
    pub(crate) lane: Option<Lane>,
    /// What it is at, and how many stores there were when it began.
    pub(crate) job: Option<(Job, usize)>,
    pub(crate) generation: u32,
    pub(crate) roots: Vec<Root>,
    /// The configuration it is to have.
    pub(crate) wanted: usize,
    pub(crate) streams: Vec<Stream>,
    pub(crate) is_main: bool,
    pub(crate) is_dead: bool,
    /// The host call that fails in it.
    pub(crate) failing: Option<Hostcall>,
    /// When its polls were first seen, by token.
    pub(crate) asked: Vec<(u32, u64)>,
}

impl Actor {
    pub(crate) fn new(worker: Worker, variant: usize, due: u64, is_main: bool) -> Self {
        let root = Root::new(worker.root(), variant, due);
        Self {
            worker: Some(Box::new(worker)),
            lane: None,
            job: None,
            generation: 0,
            roots: vec![root],
            wanted: variant,
            streams: Vec::new(),
            is_main,
            is_dead: false,
            failing: None,
            asked: Vec::new(),
        }
    }

    pub(crate) fn is_stalled(&self) -> bool {
        self.worker.is_none()
    }

    /// Whether it can begin a job.
    pub(crate) fn is_ready(&self) -> bool {
        !self.is_stalled() && !self.is_dead
    }

    pub(crate) fn root(&mut self, id: u32) -> Option<&mut Root> {
        self.roots.iter_mut().find(|root| root.id == id)
    }

    /// Whether a failing host call can hide what became of a request.
    pub(crate) fn hides_requests(&self) -> bool {
        use Hostcall::{GetHeaderMapValue, RemoveHeaderMapValue, ReplaceHeaderMapValue};
        let hiding = [GetHeaderMapValue, RemoveHeaderMapValue, ReplaceHeaderMapValue];
        self.failing.is_some_and(|hostcall| hiding.contains(&hostcall))
    }
}
