//! The pods' processes, which are in this test's own process namespace.

use std::fs;
use std::path::PathBuf;

/// The number of a process that was started with this argument.
pub(crate) fn with_argument(wanted: &str) -> Option<String> {
    let process = folders().find(|folder| {
        let arguments = fs::read(folder.join("cmdline")).unwrap_or_default();
        arguments.split(|&byte| byte == 0).any(|argument| argument == wanted.as_bytes())
    });
    Some(process?.file_name()?.to_string_lossy().into_owned())
}

/// The most memory that a process of this name has; 0 if there is none.
pub(crate) fn resident_mib(name: &str) -> u64 {
    let named = folders().filter(|folder| {
        let found = fs::read_to_string(folder.join("comm")).unwrap_or_default();
        found.trim_end() == name
    });
    let sizes = named.filter_map(|folder| fs::read_to_string(folder.join("status")).ok());
    sizes.filter_map(|status| resident_kib(&status)).max().unwrap_or_default() / 1024
}

/// `VmRSS:   111780 kB`
fn resident_kib(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn folders() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.join("cmdline").exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_itself() {
        let own = fs::read_to_string("/proc/self/comm").unwrap();
        assert!(resident_mib(own.trim_end()) > 0);
        assert_eq!(resident_mib("no such process"), 0);
        assert_eq!(with_argument("--name=no-such-pod"), None);
        assert_eq!(resident_kib("Name:\tx\nVmRSS:\t   2048 kB\n"), Some(2048));
    }
}
