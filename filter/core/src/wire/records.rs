//! The layouts of the sealed values.

use super::{Kind, Reader, WireFault, Writer, open, open_own, seal};
use crate::hash::KeyHash;
use crate::hot::{HotKey, MAX_HOT_KEYS};
use crate::plan::{Placement, Plan};
use crate::planner::merge::Contribution;
use crate::servers::{Address, MAX_SERVERS, MAX_WEIGHT, Members, Server};
use crate::sketch::{CAPACITY, Tracked};
use crate::telemetry::PollEnd;

/// Most bins of any table: the most servers with the most bins each.
const MAX_BINS: usize = MAX_SERVERS * 256;

/// Most configurations that share one process's data.
pub const MAX_ARENAS: usize = 64;

/// The configuration that uses an arena and when one of its workers last said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Its configuration's digest.
    pub config: u64,
    /// Wall time.
    pub heartbeat_ms: u64,
}

/// The tenants of all arenas, by arena.
#[must_use]
pub fn seal_directory(tenants: &[Tenant]) -> Vec<u8> {
    seal(Kind::Directory, 0, |out| {
        out.list(tenants, |out, tenant| {
            out.u64(tenant.config);
            out.u64(tenant.heartbeat_ms);
        });
    })
}

pub fn open_directory(sealed: &[u8]) -> Result<Vec<Tenant>, WireFault> {
    let (_, mut reader) = open(Kind::Directory, sealed)?;
    let tenants = reader.list(MAX_ARENAS, |reader| {
        Ok(Tenant { config: reader.u64()?, heartbeat_ms: reader.u64()? })
    })?;
    reader.end()?;
    Ok(tenants)
}

/// An epoch: its number, and when it was claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// Counts up by one.
    pub number: u64,
    /// Wall time.
    pub began_ms: u64,
}

#[must_use]
pub fn seal_epoch(config: u64, epoch: Epoch) -> Vec<u8> {
    seal(Kind::Epoch, config, |out| {
        out.u64(epoch.number);
        out.u64(epoch.began_ms);
    })
}

pub fn open_epoch(config: u64, sealed: &[u8]) -> Result<Epoch, WireFault> {
    let mut reader = open_own(Kind::Epoch, config, sealed)?;
    let epoch = Epoch { number: reader.u64()?, began_ms: reader.u64()? };
    reader.end()?;
    Ok(epoch)
}

/// The last poll of the admin interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poll {
    /// When it was asked, by wall time.
    pub asked_ms: u64,
    /// What became of the poll before. It is here so that a change is logged once and not by each worker.
    pub ended: PollEnd,
}

#[must_use]
pub fn seal_poll(config: u64, poll: Poll) -> Vec<u8> {
    seal(Kind::Poll, config, |out| {
        out.u64(poll.asked_ms);
        out.u16(poll.ended as u16);
    })
}

pub fn open_poll(config: u64, sealed: &[u8]) -> Result<Poll, WireFault> {
    let mut reader = open_own(Kind::Poll, config, sealed)?;
    let asked_ms = reader.u64()?;
    let number = reader.u16()?;
    let ended = PollEnd::ALL.into_iter().find(|end| *end as u16 == number);
    let poll = Poll { asked_ms, ended: ended.ok_or(WireFault::Malformed)? };
    reader.end()?;
    Ok(poll)
}

fn write_members(out: &mut Writer, members: &Members) {
    out.list(members.servers(), |out, server| {
        out.text(server.address.as_str());
        out.u32(server.weight);
    });
}

fn read_members(reader: &mut Reader<'_>) -> Result<Members, WireFault> {
    let servers = reader.list(MAX_SERVERS, |reader| {
        let address = Address::parse(reader.text()?).ok_or(WireFault::Malformed)?;
        let weight = reader.u32()?;
        if !(1..=MAX_WEIGHT).contains(&weight) {
            return Err(WireFault::Malformed);
        }
        Ok(Server { address, weight })
    })?;
    let count = servers.len();
    let members = Members::new(servers);
    if members.len() != count {
        return Err(WireFault::Malformed);
    }
    Ok(members)
}

/// The members that a poll found.
#[must_use]
pub fn seal_roster(config: u64, members: &Members) -> Vec<u8> {
    seal(Kind::Roster, config, |out| write_members(out, members))
}

pub fn open_roster(config: u64, sealed: &[u8]) -> Result<Members, WireFault> {
    let mut reader = open_own(Kind::Roster, config, sealed)?;
    let members = read_members(&mut reader)?;
    reader.end()?;
    Ok(members)
}

#[must_use]
pub fn seal_plan(config: u64, plan: &Plan) -> Vec<u8> {
    seal(Kind::Plan, config, |out| {
        out.u64(plan.version);
        out.u64(plan.epoch);
        out.u64(plan.activate_at_ms);
        out.u64(plan.learned_at_ms);
        write_members(out, &plan.members);
        out.list(&plan.learned, |out, factor| out.u16(*factor));
        match &plan.placement {
            Placement::Rendezvous => out.u16(0),
            Placement::Turned { rotation } => {
                out.u16(1);
                out.u32(*rotation);
            }
            Placement::Dealt { owners } => {
                out.u16(2);
                out.list(owners, |out, owner| out.u16(*owner));
            }
        }
        out.list(&plan.hot, |out, hot| {
            out.u64(hot.key.0);
            out.u16(hot.value);
        });
    })
}

pub fn open_plan(config: u64, sealed: &[u8]) -> Result<Plan, WireFault> {
    let mut reader = open_own(Kind::Plan, config, sealed)?;
    let plan = Plan {
        version: reader.u64()?,
        epoch: reader.u64()?,
        activate_at_ms: reader.u64()?,
        learned_at_ms: reader.u64()?,
        members: read_members(&mut reader)?,
        learned: reader.list(MAX_SERVERS, Reader::u16)?,
        placement: read_placement(&mut reader)?,
        hot: reader.list(MAX_HOT_KEYS, |reader| {
            Ok(HotKey { key: KeyHash(reader.u64()?), value: reader.u16()? })
        })?,
    };
    reader.end()?;
    Ok(plan)
}

fn read_placement(reader: &mut Reader<'_>) -> Result<Placement, WireFault> {
    Ok(match reader.u16()? {
        0 => Placement::Rendezvous,
        1 => Placement::Turned { rotation: reader.u32()? },
        2 => Placement::Dealt { owners: reader.list(MAX_BINS, Reader::u16)? },
        _ => return Err(WireFault::Malformed),
    })
}

/// The version of a plan of whichever configuration: a new one goes on counting from there.
pub fn peek_plan_version(sealed: &[u8]) -> Result<u64, WireFault> {
    let (_, mut reader) = open(Kind::Plan, sealed)?;
    reader.u64()
}

/// A worker's slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slot {
    /// Wall time of the last publication; 0: released.
    pub heartbeat_ms: u64,
    /// The newest plan that the worker, or one that had the slot before it, follows or waits for.
    pub plan_version: u64,
    /// What it counted.
    pub contribution: Contribution,
}

#[must_use]
pub fn seal_slot(config: u64, slot: &Slot) -> Vec<u8> {
    seal(Kind::Slot, config, |out| {
        out.u64(slot.heartbeat_ms);
        out.u64(slot.plan_version);
        let it = &slot.contribution;
        out.u64(it.members_digest);
        for by_server in [&it.sent, &it.homes, &it.in_flight] {
            out.list(by_server, |out, value| out.f32(*value));
        }
        out.f32(it.total);
        out.list(&it.keys, |out, tracked| {
            out.u64(tracked.key.0);
            out.f32(tracked.count);
            out.f32(tracked.error);
        });
        out.u64(it.closed_epoch);
        out.list(&it.bins, |out, count| out.u32(*count));
    })
}

/// What a slot says first, whichever configuration's it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotHead {
    /// Its configuration's digest.
    pub config: u64,
    /// See [`Slot`].
    pub heartbeat_ms: u64,
    /// See [`Slot`].
    pub plan_version: u64,
}

pub fn peek_slot(sealed: &[u8]) -> Result<SlotHead, WireFault> {
    let (config, mut reader) = open(Kind::Slot, sealed)?;
    Ok(SlotHead { config, heartbeat_ms: reader.u64()?, plan_version: reader.u64()? })
}

pub fn open_slot(config: u64, sealed: &[u8]) -> Result<Slot, WireFault> {
    let mut reader = open_own(Kind::Slot, config, sealed)?;
    let by_server = |reader: &mut Reader<'_>| reader.list(MAX_SERVERS, Reader::f32);
    let slot = Slot {
        heartbeat_ms: reader.u64()?,
        plan_version: reader.u64()?,
        contribution: Contribution {
            members_digest: reader.u64()?,
            sent: by_server(&mut reader)?,
            homes: by_server(&mut reader)?,
            in_flight: by_server(&mut reader)?,
            total: reader.f32()?,
            keys: reader.list(CAPACITY, |reader| {
                Ok(Tracked {
                    key: KeyHash(reader.u64()?),
                    count: reader.f32()?,
                    error: reader.f32()?,
                })
            })?,
            closed_epoch: reader.u64()?,
            bins: reader.list(MAX_BINS, Reader::u32)?,
        },
    };
    reader.end()?;
    Ok(slot)
}
