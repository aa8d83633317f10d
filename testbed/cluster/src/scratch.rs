//! The directory that holds a cluster's rendered configuration, logs and database.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::ClusterError;

const PREFIX: &str = "rudolph-cluster-";

/// Removed with everything in it on drop. The name carries the process id, so that the next start can remove what a
/// process left that was killed and could not clean up.
#[derive(Debug)]
pub(crate) struct Scratch(TempDir);

impl Scratch {
    pub(crate) fn create() -> Result<Self, ClusterError> {
        let parent = std::env::temp_dir();
        remove_orphans(&parent);
        tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .tempdir_in(&parent)
            .map(Self)
            .map_err(|error| ClusterError::io("make a directory in", &parent, error))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Best effort: a directory that cannot be read or removed is none of this cluster's business.
fn remove_orphans(parent: &Path) {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|rest| rest.split('-').next());
        let Some(owner) = owner.and_then(|owner| owner.parse::<i32>().ok()) else {
            continue;
        };
        let dead = rustix::process::Pid::from_raw(owner).is_some_and(|pid| {
            rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
        });
        if dead {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_itself_and_what_a_dead_process_left() {
        let parent = std::env::temp_dir();
        // Linux never gives out an id above 4,194,304.
        let orphan = parent.join(format!("{PREFIX}2147483000-test"));
        std::fs::create_dir_all(&orphan).unwrap();
        let scratch = Scratch::create().unwrap();
        assert!(!orphan.exists());
        let path = scratch.path().to_owned();
        assert!(path.exists());
        drop(scratch);
        assert!(!path.exists());
    }
}
