//! What Linux says about a process.

use std::path::PathBuf;
use std::time::Duration;

use crate::error::ClusterError;

/// Linux shows user programs 100 ticks a second on every machine, whatever the kernel's own rate is.
const TICKS_PER_SECOND: u64 = 100;

/// CPU time of all threads of the process, in user and kernel mode, to a tick of 10 ms.
pub fn cpu_time(pid: u32) -> Result<Duration, ClusterError> {
    let path = PathBuf::from(format!("/proc/{pid}/stat"));
    let text =
        std::fs::read_to_string(&path).map_err(|error| ClusterError::io("read", &path, error))?;
    parse_cpu_time(&text)
        .ok_or(ClusterError::Config { path, reason: "not the stat line of a process".to_owned() })
}

/// Fields 14 and 15 of the line. Field 2, the name in parentheses, may hold spaces and parentheses itself.
fn parse_cpu_time(line: &str) -> Option<Duration> {
    let (_, after_name) = line.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let kernel: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis((user + kernel) * 1000 / TICKS_PER_SECOND))
}

/// Resident memory of the process in bytes.
pub(crate) fn resident_bytes(pid: u32) -> Result<u64, ClusterError> {
    let path = PathBuf::from(format!("/proc/{pid}/status"));
    let text =
        std::fs::read_to_string(&path).map_err(|error| ClusterError::io("read", &path, error))?;
    parse_resident(&text).ok_or(ClusterError::Config { path, reason: "no line VmRSS".to_owned() })
}

fn parse_resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_cpu_fields_after_an_odd_name() {
        let line = "42 (a) b (c)) S 1 42 42 0 -1 4194560 1 0 0 0 250 75 0 0 20 0 4 0 9 1 1";
        assert_eq!(parse_cpu_time(line), Some(Duration::from_millis(3250)));
        assert_eq!(parse_cpu_time("nothing"), None);
        assert_eq!(parse_cpu_time("1 (short) S 1"), None);
    }

    #[test]
    fn reads_resident_memory() {
        assert_eq!(parse_resident("Name:\tx\nVmRSS:\t  2048 kB\n"), Some(2_097_152));
        assert_eq!(parse_resident("Name:\tx\n"), None);
    }
}
