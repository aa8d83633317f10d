//! Files that Envoy watches.

use std::path::Path;

use serde_json::Value;

use crate::error::ClusterError;

/// Replaces the file in one step: Envoy reads it when it is moved into place, and never half of it.
pub(crate) fn replace(file: &Path, content: &Value) -> Result<(), ClusterError> {
    let next = file.with_extension("next");
    std::fs::write(&next, content.to_string())
        .map_err(|error| ClusterError::io("write", &next, error))?;
    std::fs::rename(&next, file).map_err(|error| ClusterError::io("replace", file, error))
}
