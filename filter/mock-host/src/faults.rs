//! Faults a test injects into one worker: a death at a host call, and host calls that refuse.

use std::fmt;

use crate::abi::{Hostcall, Status};
use crate::worker::Worker;

/// The trap a test asked for.
#[derive(Debug)]
pub(crate) struct InjectedTrap;

impl fmt::Display for InjectedTrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("trap injected by the test")
    }
}

impl std::error::Error for InjectedTrap {}

#[derive(Debug)]
struct Refusals {
    hostcall: Hostcall,
    status: Status,
    left: u64,
}

/// What to do at the next host calls.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    calls_to_trap: u64,
    refusals: Vec<Refusals>,
}

/// What a host call meets before it does anything.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Proceed,
    Refuse(Status),
    Trap,
}

impl Faults {
    pub(crate) fn trap_at(&mut self, calls: u64) {
        self.calls_to_trap = calls;
    }

    pub(crate) fn refuse(&mut self, hostcall: Hostcall, status: Status, times: u64) {
        self.refusals.retain(|refusals| refusals.hostcall != hostcall);
        if times > 0 {
            self.refusals.push(Refusals { hostcall, status, left: times });
        }
    }

    /// Counts one host call and says what happens to it; a trap leaves it without effect.
    pub(crate) fn meet(&mut self, hostcall: Hostcall) -> Verdict {
        if self.calls_to_trap > 0 {
            self.calls_to_trap -= 1;
            if self.calls_to_trap == 0 {
                return Verdict::Trap;
            }
        }
        if self.refusals.is_empty() { Verdict::Proceed } else { self.refused(hostcall) }
    }

    fn refused(&mut self, hostcall: Hostcall) -> Verdict {
        let Some(at) = self.refusals.iter().position(|refusals| refusals.hostcall == hostcall)
        else {
            return Verdict::Proceed;
        };
        let refusals = &mut self.refusals[at];
        let status = refusals.status;
        refusals.left -= 1;
        if refusals.left == 0 {
            self.refusals.swap_remove(at);
        }
        Verdict::Refuse(status)
    }
}

impl Worker {
    /// The n-th host call from now (1 is the next) traps before it has any effect, in whichever
    /// callback it comes. 0 takes the order back.
    pub fn trap_after_hostcalls(&mut self, n: u64) {
        self.instance.state().faults.trap_at(n);
    }

    /// The next `times` calls of one host call do nothing and answer `status`. 0 takes the order back.
    pub fn fail_hostcalls(&mut self, hostcall: Hostcall, status: Status, times: u64) {
        self.instance.state().faults.refuse(hostcall, status, times);
    }
}
