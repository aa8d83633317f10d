//! The bytes that workers leave for each other in Envoy's shared data.
//!
//! Every value is sealed: a magic number, a format, a kind, a checksum and the digest of the configuration that wrote
//! it. A value that is torn, cut, of another program or of another format is refused by [`open`] with a reason, and
//! whoever may replace it does.

mod bytes;
pub mod records;
pub mod shown;

pub use bytes::{Reader, Writer};

use crate::hash::digest;

/// Changes with any change of a layout; it is also part of every key's name, so that old and new modules
/// that meet in one process do not read each other.
pub const FORMAT: u8 = 1;

const MAGIC: [u8; 4] = *b"RDLF";
const HEADER_BYTES: usize = 24;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Which configuration uses which arena.
    Directory = 1,
    /// The number of the epoch and when it began.
    Epoch = 2,
    /// The plan.
    Plan = 3,
    /// The members that the last poll found.
    Roster = 4,
    /// One worker's contribution.
    Slot = 5,
    /// When the admin interface was last asked.
    Poll = 6,
    /// That somebody may look at the status page.
    Watch = 7,
    /// The text of a configuration.
    Text = 8,
    /// The last minutes of an arena.
    History = 9,
    /// What a worker shows of itself.
    View = 10,
    /// Servers that the last poll left out.
    LeftOut = 11,
}

/// Why a value was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFault {
    /// It ends too early.
    Truncated,
    /// It was not written by this program.
    Foreign,
    /// It has another format.
    Format(u8),
    /// It is of another kind.
    Kind(u8),
    /// Its checksum does not fit its bytes.
    Checksum,
    /// Its checksum fits and its content does not.
    Malformed,
    /// It belongs to another configuration.
    Config,
}

/// Seals a payload.
#[must_use]
pub fn seal(kind: Kind, config: u64, fill: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.bytes(&MAGIC);
    writer.bytes(&[FORMAT, kind as u8, 0, 0]);
    writer.u64(0);
    writer.u64(config);
    fill(&mut writer);
    let mut sealed = writer.finish();
    let checksum = digest(kind as u64, &sealed[16..]);
    sealed[8..16].copy_from_slice(&checksum.to_le_bytes());
    sealed
}

/// Opens a sealed value: the configuration's digest and the payload.
///
/// # Errors
/// Why the value is refused.
pub fn open(kind: Kind, sealed: &[u8]) -> Result<(u64, Reader<'_>), WireFault> {
    let header = sealed.get(..HEADER_BYTES).ok_or(WireFault::Truncated)?;
    if header[..4] != MAGIC {
        return Err(WireFault::Foreign);
    }
    if header[4] != FORMAT {
        return Err(WireFault::Format(header[4]));
    }
    if header[5] != kind as u8 {
        return Err(WireFault::Kind(header[5]));
    }
    if header[6..8] != [0, 0] {
        return Err(WireFault::Foreign);
    }
    let mut reader = Reader::new(&sealed[8..]);
    let checksum = reader.u64()?;
    if checksum != digest(kind as u64, &sealed[16..]) {
        return Err(WireFault::Checksum);
    }
    let config = reader.u64()?;
    Ok((config, reader))
}

/// Opens a value of this configuration.
///
/// # Errors
/// Why the value is refused.
pub fn open_own(kind: Kind, config: u64, sealed: &[u8]) -> Result<Reader<'_>, WireFault> {
    let (owner, reader) = open(kind, sealed)?;
    if owner != config {
        return Err(WireFault::Config);
    }
    Ok(reader)
}
