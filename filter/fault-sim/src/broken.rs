//! Promises, as they look when they are broken.

use rudolph_core::config::ConfigError;
use rudolph_core::plan::PlanFault;
use rudolph_core::wire::WireFault;
use rudolph_mock_host::{ModuleError, WorkerError};

/// A promise that did not hold.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The module does not load.
    #[error("the module does not load: {0}")]
    Module(#[from] ModuleError),
    /// The harness wrote a configuration that the core refuses.
    #[error("the harness wrote an unsound configuration: {0}")]
    Config(#[from] ConfigError),
    /// A call into the module failed for a reason that no fault explains.
    #[error("worker {worker}: {error}")]
    Worker {
        /// The worker.
        worker: usize,
        /// What failed.
        error: WorkerError,
    },
    /// A worker's thread panicked: a defect of the harness or of the host.
    #[error("the thread of worker {worker} panicked")]
    Thread {
        /// The worker.
        worker: usize,
    },
    /// An unsound configuration was taken.
    #[error("an unsound configuration was taken")]
    UnsoundTaken,
    /// The module logged what only its panic hook logs.
    #[error("the module logged: {0}")]
    Logged(String),
    /// A worker stored a value that it could not read itself.
    #[error("{key} was stored and cannot be read: {fault:?}")]
    Unreadable {
        /// The key.
        key: String,
        /// Why not.
        fault: WireFault,
    },
    /// A key outside the documented ones.
    #[error("a value was stored under an unknown key: {0}")]
    UnknownKey(String),
    /// A plan that breaks a guarantee was published.
    #[error("plan {version} breaks a guarantee: {fault:?}")]
    UnsoundPlan {
        /// Its version.
        version: u64,
        /// Which.
        fault: PlanFault,
    },
    /// One version, two plans.
    #[error("two plans have version {version}")]
    TwoPlans {
        /// The version.
        version: u64,
    },
    /// A plan was published after a newer one.
    #[error("plan {version} was published after plan {newest}")]
    PublishedBack {
        /// The plan's version.
        version: u64,
        /// The newest before.
        newest: u64,
    },
    /// A plan's members are none that any worker could have seen.
    #[error("plan {version} has members that were not the usable ones: {members}")]
    Members {
        /// Its version.
        version: u64,
        /// Its members.
        members: String,
    },
    /// What is kept for late workers is no published plan.
    #[error("plan {version} was kept for late workers and was never published")]
    NeverPublished {
        /// Its version.
        version: u64,
    },
    /// A roster that no answer taught.
    #[error("worker {worker} published a roster that no answer taught: {members}")]
    Roster {
        /// The worker.
        worker: usize,
        /// The roster.
        members: String,
    },
    /// A slot was taken from a worker whose lease had not ended.
    #[error("{key} was taken {after_ms} ms after its worker's last sign of life")]
    SlotTaken {
        /// The slot's key.
        key: String,
        /// How soon.
        after_ms: u64,
    },
    /// An epoch was claimed twice.
    #[error("{key}: epoch {number} was claimed after epoch {last}")]
    EpochAgain {
        /// The epoch's key.
        key: String,
        /// The number claimed.
        number: u64,
        /// The last number.
        last: u64,
    },
    /// One configuration has two arenas.
    #[error("the directory names one configuration twice")]
    TwoArenas,
    /// More counts were told of a worker's bins than it had requests, or others for an epoch told before.
    #[error("worker {worker} told of {told} requests in its bins and had {had}")]
    CountedTwice {
        /// The worker.
        worker: usize,
        /// Requests told, over all epochs.
        told: u64,
        /// Requests it had.
        had: u64,
    },
    /// A metric does not fit the requests made.
    #[error("{metric} is {value} and should be {least} to {most}")]
    Metric {
        /// The metric.
        metric: String,
        /// Its value.
        value: u64,
        /// What was surely counted.
        least: u64,
        /// What can have been counted.
        most: u64,
    },
    /// A request was left without an owner although there was one.
    #[error("worker {worker}: a request for {key:?} got no owner: {reason}")]
    NoOwner {
        /// The worker.
        worker: usize,
        /// The key.
        key: Option<String>,
        /// The reason given.
        reason: String,
    },
    /// A client's own header went through.
    #[error("worker {worker}: the client's own header went through: {header}")]
    Spoofed {
        /// The worker.
        worker: usize,
        /// The header.
        header: String,
    },
    /// A worker follows a plan that nobody published.
    #[error("worker {worker} follows plan {version}, which nobody published")]
    UnknownPlan {
        /// The worker.
        worker: usize,
        /// The version.
        version: u64,
    },
    /// A worker went back to an older plan.
    #[error("worker {worker} went back from plan {before} to plan {version}")]
    WentBack {
        /// The worker.
        worker: usize,
        /// The plan before.
        before: u64,
        /// The plan now.
        version: u64,
    },
    /// Owners are not those that the plan gives the key.
    #[error(
        "worker {worker}, plan {version}, {reason}: {key} went to {owners}; its plan says {expected}"
    )]
    Owners {
        /// The worker.
        worker: usize,
        /// The plan's version.
        version: u64,
        /// The reason given.
        reason: String,
        /// The key.
        key: String,
        /// The owners written.
        owners: String,
        /// The owners that the plan says.
        expected: String,
    },
    /// A worker did not follow in time.
    #[error(
        "worker {worker} follows plan {version} three ticks after the last fault; plan {due} was due"
    )]
    Late {
        /// The worker.
        worker: usize,
        /// What it follows.
        version: u64,
        /// What it should.
        due: u64,
    },
    /// At rest the workers follow different plans.
    #[error("at rest the workers follow the plans {0:?}")]
    Disagree(Vec<u64>),
    /// Plans are published without end though nothing happens.
    #[error("plans are published at rest, {0} rounds long")]
    NeverQuiet(usize),
    /// At rest the plan has other members than the usable servers.
    #[error("at rest the plan has the members {plan}; usable are {usable}")]
    Stale {
        /// The plan's.
        plan: String,
        /// The usable ones.
        usable: String,
    },
    /// At rest fewer slots are held than workers live.
    #[error("at rest {workers} workers live and {slots} slots are held")]
    Slots {
        /// Live workers.
        workers: usize,
        /// Held slots.
        slots: usize,
    },
    /// Something grew beyond its bound.
    #[error("{what}: {value} is over {bound}")]
    Grown {
        /// What.
        what: String,
        /// How large it is.
        value: usize,
        /// How large it may be.
        bound: usize,
    },
}
