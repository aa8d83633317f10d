use std::{path::Path, sync::Arc};

use crate::{MAX_KEY_BYTES, SpecError};

/// The keys of a file, one a line (any bytes but the line feed; a carriage return at the end and empty lines are dropped).
#[derive(Clone, Debug)]
pub(crate) struct ReplayFile {
    keys: Arc<[Box<[u8]>]>,
}

impl ReplayFile {
    pub(crate) fn read(path: &Path) -> Result<Self, SpecError> {
        let bytes = std::fs::read(path)
            .map_err(|source| SpecError::ReplayUnreadable { path: path.into(), source })?;
        let mut keys: Vec<Box<[u8]>> = Vec::new();
        for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
            let key = line.strip_suffix(b"\r").unwrap_or(line);
            if key.len() > MAX_KEY_BYTES {
                return Err(SpecError::ReplayKeyTooLong {
                    path: path.into(),
                    line: index + 1,
                    bytes: key.len(),
                });
            }
            if !key.is_empty() {
                keys.push(key.into());
            }
        }
        if keys.is_empty() {
            return Err(SpecError::ReplayEmpty { path: path.into() });
        }
        Ok(Self { keys: keys.into() })
    }

    pub(crate) fn len(&self) -> u64 {
        self.keys.len() as u64
    }

    pub(crate) fn key(&self, number: u64) -> Option<&[u8]> {
        let index = usize::try_from(number).ok()?;
        self.keys.get(index).map(AsRef::as_ref)
    }
}
