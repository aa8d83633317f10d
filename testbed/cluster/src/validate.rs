use std::path::Path;
use std::process::Command;

use crate::error::ClusterError;
use crate::locate;

/// What the Envoy that clusters run calls itself, such as `Envoy 1.40.0`.
pub fn envoy_version() -> Result<String, ClusterError> {
    let program = locate::envoy(&locate::repository()?)?;
    let output = Command::new(&program).arg("--version").output();
    let output = output.map_err(|source| ClusterError::Spawn { program, source })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = version_in(&text).unwrap_or("of an unknown version");
    Ok(format!("Envoy {version}"))
}

/// `envoy  version: COMMIT/VERSION/...`
fn version_in(text: &str) -> Option<&str> {
    text.split_once("version: ")?.1.split('/').nth(1)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_stands_after_the_commit() {
        assert_eq!(
            version_in("\nenvoy  version: 0abc/1.40.0/Clean/RELEASE/BoringSSL\n"),
            Some("1.40.0")
        );
        assert_eq!(version_in("1.40"), None);
    }
}
