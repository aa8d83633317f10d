//! Reads a trace: plain or gzip, from a file or standard input, line by line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use rudolph_core::hash::KeyHash;

use super::KeyOfLine;
use super::advice::HotKey;
use super::intern::Interner;

/// Hottest keys that are kept by name.
const HOTTEST: usize = 20;

/// A longer line is no line of a log.
const MOST_LINE_BYTES: u64 = 1 << 20;

const BUFFER_BYTES: usize = 1 << 20;

/// A trace in memory.
#[derive(Debug)]
pub struct Trace {
    /// Lines that hold no key: skipped.
    pub unparsable: u64,
    /// The hottest keys, hottest first.
    pub hottest: Vec<HotKey>,
    pub(super) keys: Arc<[u32]>,
    pub(super) hashes: Arc<[KeyHash]>,
}

/// Why a trace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    #[error("trace {path:?} cannot be read: {source}")]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error(
        "trace {path:?} holds no key in {lines} lines; allowed: one key a line, or name where the key is with --key"
    )]
    Empty { path: PathBuf, lines: u64 },
    #[error("trace {path:?} holds more than {most} different keys")]
    TooManyKeys { path: PathBuf, most: u32 },
}

impl Trace {
    /// Requests.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.keys.len()
    }

    /// Different keys.
    #[must_use]
    pub fn different_keys(&self) -> usize {
        self.hashes.len()
    }
}

/// Reads a file, or standard input for `-`.
///
/// # Errors
/// It cannot be read, or holds no key.
pub fn read(path: &Path, how: &KeyOfLine) -> Result<Trace, TraceError> {
    let unreadable = |source| TraceError::Unreadable { path: path.into(), source };
    let source = open(path).map_err(unreadable)?;
    let mut collected = Collected::new();
    collected.read(source, how).map_err(unreadable)?;
    if collected.overflow {
        return Err(TraceError::TooManyKeys { path: path.into(), most: u32::MAX - 1 });
    }
    if collected.keys.is_empty() {
        return Err(TraceError::Empty { path: path.into(), lines: collected.unparsable });
    }
    Ok(collected.finish())
}

/// What begins with gzip's magic number is unpacked.
fn open(path: &Path) -> std::io::Result<Box<dyn BufRead>> {
    let raw: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(File::open(path)?)
    };
    let mut plain = BufReader::with_capacity(BUFFER_BYTES, raw);
    if plain.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        let unpacked = MultiGzDecoder::new(plain);
        return Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, unpacked)));
    }
    Ok(Box::new(plain))
}

struct Collected {
    interner: Interner,
    keys: Vec<u32>,
    unparsable: u64,
    overflow: bool,
}

impl Collected {
    fn new() -> Self {
        Self { interner: Interner::new(), keys: Vec::new(), unparsable: 0, overflow: false }
    }

    fn read(&mut self, mut source: Box<dyn BufRead>, how: &KeyOfLine) -> std::io::Result<()> {
        let (mut line, mut scratch) = (Vec::new(), Vec::new());
        loop {
            line.clear();
            let mut limited = (&mut source).take(MOST_LINE_BYTES);
            if limited.read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            if line.last() != Some(&b'\n') && line.len() as u64 == MOST_LINE_BYTES {
                source.skip_until(b'\n')?;
                self.unparsable += 1;
                continue;
            }
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            self.take(how.find(text, &mut scratch));
        }
    }

    fn take(&mut self, key: Option<&[u8]>) {
        match key {
            None => self.unparsable += 1,
            Some(key) => match self.interner.number(key) {
                Some(number) => self.keys.push(number),
                None => self.overflow = true,
            },
        }
    }

    fn finish(self) -> Trace {
        let hottest = self.hottest();
        Trace {
            unparsable: self.unparsable,
            hottest,
            keys: self.keys.into(),
            hashes: self.interner.into_hashes().into(),
        }
    }

    fn hottest(&self) -> Vec<HotKey> {
        let mut counts = vec![0_u32; self.interner.len()];
        self.keys.iter().for_each(|&key| counts[key as usize] += 1);
        let mut order: Vec<u32> = (0..counts.len() as u32).collect();
        let hotter = |key: &u32| (std::cmp::Reverse(counts[*key as usize]), *key);
        let kept = HOTTEST.min(order.len());
        if kept < order.len() {
            order.select_nth_unstable_by_key(kept, hotter);
        }
        order.truncate(kept);
        order.sort_unstable_by_key(hotter);
        let total = self.keys.len() as f64;
        let named = |&key: &u32| HotKey {
            key: String::from_utf8_lossy(self.interner.key(key)).into_owned(),
            share: f64::from(counts[key as usize]) / total,
        };
        order.iter().map(named).collect()
    }
}
