//! What Linux says about a process.

use std::path::PathBuf;
use std::time::Duration;

use crate::error::ClusterError;

/// CPU time of the process's threads that are there, in user and kernel mode, to the nanosecond: the stat line, which also
/// has the threads that ended, counts hundredths of a second.
pub fn cpu_time(pid: u32) -> Result<Duration, ClusterError> {
    let tasks = PathBuf::from(format!("/proc/{pid}/task"));
    let failed = |error| ClusterError::io("read", &tasks, error);
    let mut sum = Duration::ZERO;
    for task in std::fs::read_dir(&tasks).map_err(failed)? {
        let path = task.map_err(failed)?.path().join("schedstat");
        // A thread that ended since the list was made has none.
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let reason = "not the schedstat line of a thread".to_owned();
        sum += parse_run_time(&text).ok_or(ClusterError::Config { path, reason })?;
    }
    Ok(sum)
}

/// The same of this process, with the threads that ended.
#[must_use]
pub fn own_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// The first field of the line: nanoseconds on a CPU.
fn parse_run_time(line: &str) -> Option<Duration> {
    line.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
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
    fn reads_the_time_of_a_thread() {
        assert_eq!(
            parse_run_time("252613507 482343 44\n"),
            Some(Duration::from_nanos(252_613_507))
        );
        assert_eq!(parse_run_time("much 1 2"), None);
        assert_eq!(parse_run_time(""), None);
    }

    #[test]
    fn a_busy_thread_uses_its_time() {
        let own = std::process::id();
        let before = cpu_time(own).unwrap();
        let begin = std::time::Instant::now();
        while begin.elapsed() < Duration::from_millis(50) {
            std::hint::spin_loop();
        }
        assert!(cpu_time(own).unwrap() > before + Duration::from_millis(5));
    }

    #[test]
    fn reads_resident_memory() {
        assert_eq!(parse_resident("Name:\tx\nVmRSS:\t  2048 kB\n"), Some(2_097_152));
        assert_eq!(parse_resident("Name:\tx\n"), None);
    }
}
