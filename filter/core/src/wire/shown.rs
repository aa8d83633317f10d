//! The layouts of what workers leave for the status page. Nothing is planned or routed by it.

use super::{Kind, Reader, WireFault, Writer, open, open_own, seal};
use crate::admin::{LeftOut, MAX_LEFT_OUT, Reason};
use crate::hash::KeyHash;
use crate::servers::MAX_SERVERS;
use crate::shown::history::{Column, HEAT_CELLS, History, MAX_COLUMNS, MAX_SAMPLES, Row, Sample};

/// Most keys that a view names.
pub const MAX_NAMES: usize = 32;

/// Somebody may look: when a status page last said that it is there.
#[must_use]
pub fn seal_watch(heartbeat_ms: u64) -> Vec<u8> {
    seal(Kind::Watch, 0, |out| out.u64(heartbeat_ms))
}

pub fn open_watch(sealed: &[u8]) -> Result<u64, WireFault> {
    let (_, mut reader) = open(Kind::Watch, sealed)?;
    let heartbeat_ms = reader.u64()?;
    reader.end()?;
    Ok(heartbeat_ms)
}

/// The text of the configuration that has this digest.
#[must_use]
pub fn seal_text(config: u64, text: &[u8]) -> Vec<u8> {
    seal(Kind::Text, config, |out| out.bytes(text))
}

pub fn open_text(config: u64, sealed: &[u8]) -> Result<Vec<u8>, WireFault> {
    Ok(open_own(Kind::Text, config, sealed)?.rest().to_vec())
}

/// What a worker shows of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Wall time; 0: nobody's.
    pub heartbeat_ms: u64,
    /// The plan that it follows.
    pub plan_version: u64,
    /// The epoch of that plan.
    pub plan_epoch: u64,
    /// The members that the next field is by.
    pub members_digest: u64,
    /// Requests that it has in flight to each server.
    pub in_flight: Vec<u16>,
    /// The beginnings of hot keys, where the configuration lets them be shown.
    pub names: Vec<(KeyHash, Vec<u8>)>,
}

#[must_use]
pub fn seal_view(config: u64, view: &View) -> Vec<u8> {
    seal(Kind::View, config, |out| {
        out.u64(view.heartbeat_ms);
        out.u64(view.plan_version);
        out.u64(view.plan_epoch);
        out.u64(view.members_digest);
        out.list(&view.in_flight, |out, count| out.u16(*count));
        out.list(&view.names, |out, (key, name)| {
            out.u64(key.0);
            out.list(name, |out, byte| out.bytes(&[*byte]));
        });
    })
}

pub fn open_view(config: u64, sealed: &[u8]) -> Result<View, WireFault> {
    let mut reader = open_own(Kind::View, config, sealed)?;
    let view = View {
        heartbeat_ms: reader.u64()?,
        plan_version: reader.u64()?,
        plan_epoch: reader.u64()?,
        members_digest: reader.u64()?,
        in_flight: reader.list(MAX_SERVERS, Reader::u16)?,
        names: reader.list(MAX_NAMES, |reader| {
            Ok((KeyHash(reader.u64()?), reader.list(usize::from(u16::MAX), Reader::byte)?))
        })?,
    };
    reader.end()?;
    Ok(view)
}

#[must_use]
pub fn seal_left_out(config: u64, servers: &[LeftOut]) -> Vec<u8> {
    seal(Kind::LeftOut, config, |out| {
        out.list(servers, |out, server| {
            out.text(&server.address);
            out.u16(server.reason as u16);
        });
    })
}

pub fn open_left_out(config: u64, sealed: &[u8]) -> Result<Vec<LeftOut>, WireFault> {
    let mut reader = open_own(Kind::LeftOut, config, sealed)?;
    let servers = reader.list(MAX_LEFT_OUT, |reader| {
        let address = reader.text()?.to_owned();
        let number = usize::from(reader.u16()?);
        let reason = *Reason::ALL.get(number).ok_or(WireFault::Malformed)?;
        Ok(LeftOut { address, reason })
    })?;
    reader.end()?;
    Ok(servers)
}

#[must_use]
pub fn seal_history(config: u64, history: &History) -> Vec<u8> {
    seal(Kind::History, config, |out| {
        out.list(&history.samples, write_sample);
        out.list(&history.columns, |out, column| {
            out.u64(column.began_ms);
            out.u16(column.samples);
        });
        out.list(&history.rows, |out, row| {
            out.text(&row.address);
            out.list(&row.loads, |out, load| out.u16(*load));
        });
        out.list(&history.heat, |out, load| out.u16(*load));
    })
}

fn write_sample(out: &mut Writer, sample: &Sample) {
    out.u64(sample.at_ms);
    out.u64(sample.version);
    out.u32(sample.rotation);
    out.u16(sample.hot);
    out.u16(sample.peak_permille);
    out.u16(sample.plain_permille);
}

pub fn open_history(config: u64, sealed: &[u8]) -> Result<History, WireFault> {
    let mut reader = open_own(Kind::History, config, sealed)?;
    let samples = reader.list(MAX_SAMPLES, |reader| {
        Ok(Sample {
            at_ms: reader.u64()?,
            version: reader.u64()?,
            rotation: reader.u32()?,
            hot: reader.u16()?,
            peak_permille: reader.u16()?,
            plain_permille: reader.u16()?,
        })
    })?;
    let columns = reader.list(MAX_COLUMNS, |reader| {
        Ok(Column { began_ms: reader.u64()?, samples: reader.u16()? })
    })?;
    let rows = reader.list(MAX_SERVERS, |reader| {
        let address = reader.text()?.to_owned();
        let loads = reader.list(MAX_COLUMNS, Reader::u16)?;
        if loads.len() == columns.len() {
            Ok(Row { address, loads })
        } else {
            Err(WireFault::Malformed)
        }
    })?;
    let heat = reader.list(HEAT_CELLS, Reader::u16)?;
    reader.end()?;
    Ok(History { samples, columns, rows, heat })
}
