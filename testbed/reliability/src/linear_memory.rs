//! The linear memory of each Wasm VM in a process, which Envoy has no statistic for.
//!
//! V8 keeps each memory in an address range of 8 GiB of its own, so that no access needs a check of its bounds: what the
//! module has grown to is readable and writable, and all above it is reserved without access. So the memories are the
//! writable ranges that end where a huge reserved one begins.

use std::fs;
use std::path::PathBuf;

use crate::ReliabilityError;

const RESERVED: u64 = 4 << 30;

/// Bytes of each VM's memory, in the order of their addresses.
pub fn of_process(pid: u32) -> Result<Vec<u64>, ReliabilityError> {
    let path = PathBuf::from(format!("/proc/{pid}/maps"));
    let maps = fs::read_to_string(&path)
        .map_err(|source| ReliabilityError::file("read", &path, source))?;
    Ok(parse(&maps))
}

struct Range {
    start: u64,
    end: u64,
    writable: bool,
    reserved: bool,
}

fn parse(maps: &str) -> Vec<u64> {
    let ranges: Vec<Range> = maps.lines().filter_map(range).collect();
    let neighbours = ranges.windows(2).filter_map(|pair| match pair {
        [memory, guard] => Some((memory, guard)),
        _ => None,
    });
    neighbours
        .filter(|(memory, guard)| {
            let is_guard = guard.reserved && guard.end - guard.start >= RESERVED;
            memory.writable && is_guard && memory.end == guard.start
        })
        .map(|(memory, _)| memory.end - memory.start)
        .collect()
}

fn range(line: &str) -> Option<Range> {
    let (addresses, rest) = line.split_once(' ')?;
    let (start, end) = addresses.split_once('-')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    let (start, end) = (address(start)?, address(end)?);
    Some(Range {
        start,
        end: end.max(start),
        writable: rest.starts_with("rw-p"),
        reserved: rest.starts_with("---p"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_lies_before_a_huge_reservation() {
        let maps = "\
7faef0000000-7faef0200000 rw-p 00000000 00:00 0
7faf002c0000-7faf003e0000 rw-p 00000000 00:00 0
7faf003e0000-7fb1002c0000 ---p 00000000 00:00 0
7fb1302d0000-7fb130ad0000 rw-p 00000000 00:00 0
7fb130ad0000-7fb130ae0000 ---p 00000000 00:00 0
7fb5932c0000-7fb5932d0000 r--p 00000000 00:00 0
7fb5932d0000-7fb7932e4000 ---p 00000000 00:00 0
nonsense
";
        assert_eq!(parse(maps), [0x12_0000]);
    }
}
