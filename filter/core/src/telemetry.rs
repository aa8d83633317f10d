//! What a worker tells the outside: counters, gauges, and conditions that are logged when they begin and end.

/// Things that only ever rise. Their numbers index [`Counters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Requests to the one owner of their key.
    RequestsOwner,
    /// Requests to another server of their hot key.
    RequestsSpread,
    /// Requests that left a home in an emergency.
    RequestsSpilled,
    /// Requests without a key.
    RequestsNoKey,
    /// Requests before the first plan.
    RequestsNoPlan,
    /// Requests while no server was usable.
    RequestsNoServer,
    /// Requests, of those looked at, that a later owner answered.
    RetriesToSuccessor,
    /// Requests, of those looked at, that Envoy's fallback policy placed although owners were named.
    Fallback,
    /// Epochs that were planned.
    EpochsPlanned,
    /// Plans that were published.
    PlansPublished,
    /// Plans that this gateway's planners refused to publish or its workers to adopt.
    PlansRefused,
    /// Values of the shared store that were refused.
    SharedRefused,
    /// Compare-and-swaps that another worker won.
    SharedLost,
    /// Calls of the shared store that failed.
    SharedFailed,
    /// Polls of the admin interface that were answered well.
    PollsAnswered,
    /// Polls that failed.
    PollsFailed,
    /// Host calls on a request's path that failed.
    HostFailed,
}

impl Counter {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 17] = [
        Self::RequestsOwner,
        Self::RequestsSpread,
        Self::RequestsSpilled,
        Self::RequestsNoKey,
        Self::RequestsNoPlan,
        Self::RequestsNoServer,
        Self::RetriesToSuccessor,
        Self::Fallback,
        Self::EpochsPlanned,
        Self::PlansPublished,
        Self::PlansRefused,
        Self::SharedRefused,
        Self::SharedLost,
        Self::SharedFailed,
        Self::PollsAnswered,
        Self::PollsFailed,
        Self::HostFailed,
    ];

    /// The metric's name after the prefix.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RequestsOwner => "requests.owner",
            Self::RequestsSpread => "requests.spread",
            Self::RequestsSpilled => "requests.spilled",
            Self::RequestsNoKey => "requests.no_key",
            Self::RequestsNoPlan => "requests.no_plan",
            Self::RequestsNoServer => "requests.no_server",
            Self::RetriesToSuccessor => "retries_to_successor",
            Self::Fallback => "requests.fallback",
            Self::EpochsPlanned => "epochs_planned",
            Self::PlansPublished => "plans_published",
            Self::PlansRefused => "plans_refused",
            Self::SharedRefused => "shared_data.refused",
            Self::SharedLost => "shared_data.races_lost",
            Self::SharedFailed => "shared_data.failed",
            Self::PollsAnswered => "membership.polls_answered",
            Self::PollsFailed => "membership.polls_failed",
            Self::HostFailed => "host_calls_failed",
        }
    }
}

/// Things that rise and fall. Whoever learns a value writes it: each worker on adoption, or the one that planned or
/// polled. Their numbers index [`Gauges`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gauge {
    /// Version of the plan in force.
    PlanVersion,
    /// Its rotation.
    Rotation,
    /// Its hot keys.
    HotKeys,
    /// Its servers.
    Servers,
    /// Servers of the cluster that the plan leaves out: unusable, or of a later priority.
    ServersUnusable,
    /// Key space that its adoption moved, in millionths.
    MovedPpm,
    /// Peak over the mean of the requests sent lately, by weight, in thousandths; 0 without any.
    PeakOverMeanPermille,
    /// Threads that share in the agreement: Envoy's workers, and its main thread, which has a VM too.
    Workers,
}

impl Gauge {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::PlanVersion,
        Self::Rotation,
        Self::HotKeys,
        Self::Servers,
        Self::ServersUnusable,
        Self::MovedPpm,
        Self::PeakOverMeanPermille,
        Self::Workers,
    ];

    /// The metric's name after the prefix.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PlanVersion => "plan_version",
            Self::Rotation => "rotation",
            Self::HotKeys => "hot_keys",
            Self::Servers => "servers",
            Self::ServersUnusable => "servers_unusable",
            Self::MovedPpm => "moved_ppm",
            Self::PeakOverMeanPermille => "peak_over_mean_permille",
            Self::Workers => "workers",
        }
    }
}

/// Values by [`Counter`].
pub type Counters = [u64; Counter::ALL.len()];

/// Values by [`Gauge`]; `None` for those that this worker has nothing new of.
pub type Gauges = [Option<u64>; Gauge::ALL.len()];

/// How a poll of the admin interface ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollEnd {
    /// With the members of the cluster.
    Well,
    /// Without an answer, or with one that is not 200.
    Silent,
    /// With an answer that cannot be read.
    Unreadable,
    /// With an answer that does not know the cluster.
    NoCluster,
}

impl PollEnd {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Well, Self::Silent, Self::Unreadable, Self::NoCluster];

    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Well => "the admin interface answers again",
            Self::Silent => "the admin interface does not answer: members stay as they are",
            Self::Unreadable => "the admin interface's answer is unreadable: members stay",
            Self::NoCluster => "the admin interface knows no such cluster: members stay",
        }
    }
}

/// Something that is wrong for a while in one worker. It is logged when it begins and when it ends, never in a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The shared store fails.
    StoreFails,
    /// No arena or slot is free.
    StoreFull,
    /// A plan broke a guarantee.
    PlanRefused,
}

impl Condition {
    pub(crate) fn began(self) -> &'static str {
        match self {
            Self::StoreFails => "shared data fails: this worker keeps its plan",
            Self::StoreFull => "shared data has no free place for this worker",
            Self::PlanRefused => "a plan broke a guarantee and was refused: the last one stays",
        }
    }

    pub(crate) fn ended(self) -> &'static str {
        match self {
            Self::StoreFails => "shared data works again",
            Self::StoreFull => "shared data has a place for this worker again",
            Self::PlanRefused => "plans are sound again",
        }
    }
}
