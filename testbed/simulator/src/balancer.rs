//! What the engine asks of whatever routes: the filter's core ([`crate::core_driver`]) or a rival ([`crate::rivals`]).

use rudolph_core::hash::KeyHash;

/// Who asks: a worker, numbered through all gateways.
pub(crate) type WorkerId = u32;

/// A server of the scenario.
pub(crate) type ServerNumber = u32;

/// Wakes that a balancer asks for: when, and what it wants to be told then.
pub(crate) type Wakes = Vec<(u64, u32)>;

/// The proxies' side of the simulation.
pub(crate) trait Balancer {
    /// What a request carries until it is over.
    type Ticket: Copy + Default;

    /// The run begins.
    fn begin(&mut self, wakes: &mut Wakes);

    /// The time of a wake has come.
    fn wake(&mut self, now_ns: u64, token: u32, wakes: &mut Wakes);

    /// Which servers there are has become known.
    fn hear(&mut self, alive: &[bool]);

    /// Where a request goes, and what [`Balancer::finish`] wants back.
    fn choose(
        &mut self,
        now_ns: u64,
        worker: WorkerId,
        key: KeyHash,
    ) -> Option<(ServerNumber, Self::Ticket)>;

    /// The server that was just chosen refused the connection: the next, the `attempt`-th from 1.
    fn retry(&mut self, worker: WorkerId, attempt: u32) -> Option<ServerNumber>;

    /// A request is over.
    fn finish(&mut self, worker: WorkerId, ticket: Self::Ticket);

    /// The one server that each key belongs to, [`u32::MAX`] for none; `false` where keys belong to none.
    fn homes(&mut self, keys: &[KeyHash], homes: &mut Vec<ServerNumber>) -> bool;
}
