use std::path::Path;
use std::process::Command;

use crate::error::ClusterError;
use crate::locate;

/// Asks Envoy whether a configuration file is right, without starting anything. The path is relative to the root of the
/// repository, and so are the paths in the file.
pub fn validate(config: impl AsRef<Path>) -> Result<(), ClusterError> {
    let config = config.as_ref();
    let root = locate::repository()?;
    let envoy = locate::envoy(&root)?;
    let mut command = Command::new(&envoy);
    command
        .args(["--mode", "validate", "--log-level", "warning", "-c"])
        .arg(config)
        .current_dir(root);
    let output =
        command.output().map_err(|source| ClusterError::Spawn { program: envoy, source })?;
    if output.status.success() {
        return Ok(());
    }
    let log = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(ClusterError::Invalid { path: config.to_owned(), log })
}
