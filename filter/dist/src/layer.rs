//! The image's one layer: a gzipped tar with `plugin.wasm` in it and nothing that depends on when or where.

use std::io;

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use crate::{DistError, digest};

/// The name that Istio and Envoy Gateway look for in a layer.
pub const FILE_NAME: &str = "plugin.wasm";

/// "Unknown" in a gzip header: the byte for the system it was made on.
const NO_SYSTEM: u8 = 255;

/// A layer, and the digest of the tar inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    pub gzipped: Vec<u8>,
    pub tar_digest: String,
}

/// # Errors
/// When the module is too big for a tar, or memory is short.
pub fn pack(module: &[u8]) -> Result<Layer, DistError> {
    let pack = |source| DistError::Pack { source };
    let tar = tar_of(module).map_err(pack)?;
    let tar_digest = digest::hex(&tar);
    Ok(Layer { gzipped: gzip(&tar).map_err(pack)?, tar_digest })
}

fn tar_of(module: &[u8]) -> io::Result<Vec<u8>> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o444);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(module.len() as u64);
    let mut builder = Builder::new(Vec::with_capacity(module.len() + 2048));
    builder.append_data(&mut header, FILE_NAME, module)?;
    builder.into_inner()
}

fn gzip(tar: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzBuilder::new()
        .mtime(0)
        .operating_system(NO_SYSTEM)
        .write(Vec::new(), Compression::best());
    io::Write::write_all(&mut encoder, tar)?;
    encoder.finish()
}
