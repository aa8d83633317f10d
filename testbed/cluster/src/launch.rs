//! How Envoy is started, and started again.

use std::fs;
use std::path::PathBuf;

use crate::error::ClusterError;
use crate::process::Process;

/// How long an Envoy that was followed by another finishes what it has.
const DRAIN_SECONDS: &str = "2";
const PARENT_SECONDS: &str = "3";

/// Everything that starts this cluster's Envoy.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) log: PathBuf,
    /// Where Envoy writes the id by which the next one finds it; `None` without hot restart.
    pub(crate) base_id_file: Option<PathBuf>,
    pub(crate) epoch: u32,
}

impl Launch {
    /// An Envoy that knows of none before it.
    pub(crate) fn first(&mut self) -> Result<Process, ClusterError> {
        self.forget_shared_memory();
        self.epoch = 0;
        let own = match &self.base_id_file {
            // Without hot restart Envoy claims no shared memory, so that any number runs side by side and leaves nothing.
            None => vec!["--disable-hot-restart".to_owned()],
            Some(file) => {
                let file = file.display().to_string();
                vec!["--use-dynamic-base-id".to_owned(), "--base-id-path".to_owned(), file]
            }
        };
        self.start(own)
    }

    /// An Envoy that takes over from the one that runs.
    pub(crate) fn next(&mut self) -> Result<Process, ClusterError> {
        let base_id = self.base_id().ok_or(ClusterError::NoHotRestart)?;
        self.epoch += 1;
        let epoch = self.epoch.to_string();
        self.start(["--base-id", &base_id, "--restart-epoch", &epoch].map(str::to_owned).to_vec())
    }

    fn start(&self, own: Vec<String>) -> Result<Process, ClusterError> {
        let mut arguments = self.arguments.clone();
        if self.base_id_file.is_some() {
            let times =
                ["--drain-time-s", DRAIN_SECONDS, "--parent-shutdown-time-s", PARENT_SECONDS];
            arguments.extend(times.map(str::to_owned));
        }
        arguments.extend(own);
        Process::start("Envoy", &self.program, &arguments, &self.log)
    }

    fn base_id(&self) -> Option<String> {
        let text = fs::read_to_string(self.base_id_file.as_ref()?).ok()?;
        Some(text.trim().to_owned())
    }

    /// Envoy leaves its shared memory behind. The kernel's name has the id times ten.
    fn forget_shared_memory(&self) {
        if let Some(base_id) = self.base_id() {
            // Best effort: it may never have been made.
            let _ = fs::remove_file(format!("/dev/shm/envoy_shared_memory_{base_id}0"));
        }
    }
}

impl Drop for Launch {
    fn drop(&mut self) {
        self.forget_shared_memory();
    }
}
