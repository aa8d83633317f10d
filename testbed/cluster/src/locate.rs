//! Where the programs and files of the testbed are.

use std::path::{Path, PathBuf};

use crate::error::ClusterError;

const MARK: &str = "envoy/standalone/rudolph.yaml";

/// The root of the repository: the nearest directory over the working directory or this program that holds the shipped
/// configuration, or else the one it was built in.
pub(crate) fn repository() -> Result<PathBuf, ClusterError> {
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let starts = [std::env::current_dir().ok(), std::env::current_exe().ok(), Some(built_in)];
    let looked_at: Vec<PathBuf> = starts.into_iter().flatten().collect();
    let root = looked_at
        .iter()
        .flat_map(|start| start.ancestors())
        .find(|place| place.join(MARK).is_file());
    root.map(Path::to_owned).ok_or(ClusterError::NotFound {
        what: "the repository",
        looked_at,
        hint: "run inside it: the directory that holds envoy/standalone",
    })
}

pub(crate) fn envoy(root: &Path) -> Result<PathBuf, ClusterError> {
    let candidates = from_variable("ENVOY_BIN").unwrap_or_else(|| {
        [Some(root.join(".tools/bin/envoy")), on_path("envoy")].into_iter().flatten().collect()
    });
    first_file(candidates, "envoy", "`make setup` installs it, or set ENVOY_BIN")
}

pub(crate) fn module(root: &Path) -> Result<PathBuf, ClusterError> {
    let candidates =
        from_variable("RUDOLPH_WASM").unwrap_or_else(|| vec![root.join("target/rudolph.wasm")]);
    first_file(candidates, "rudolph.wasm", "`make build` makes it, or set RUDOLPH_WASM")
}

pub(crate) fn app_server(root: &Path) -> Result<PathBuf, ClusterError> {
    let candidates = from_variable("RUDOLPH_APP_SERVER").unwrap_or_else(|| {
        let name = "rudolph-app-server";
        let exe = std::env::current_exe().unwrap_or_default();
        // Beside this program; tests are one directory below programs, and a release build will do for a debug one.
        let near = exe.ancestors().skip(1).take(3);
        let near = near.flat_map(|place| [place.join(name), place.join("release").join(name)]);
        near.chain([root.join("target/release").join(name), root.join("target/debug").join(name)])
            .collect()
    });
    first_file(
        candidates,
        "rudolph-app-server",
        "`cargo build --release -p rudolph-app-server` makes it",
    )
}

/// Whoever sets a variable means that file and no other.
fn from_variable(name: &str) -> Option<Vec<PathBuf>> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(|value| vec![PathBuf::from(value)])
}

pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|place| place.join(program)).find(|file| file.is_file())
}

fn first_file(
    looked_at: Vec<PathBuf>,
    what: &'static str,
    hint: &'static str,
) -> Result<PathBuf, ClusterError> {
    // Absolute, because Envoy resolves relative names against its own working directory.
    match looked_at.iter().find(|file| file.is_file()) {
        Some(file) => {
            std::path::absolute(file).map_err(|error| ClusterError::io("resolve", file, error))
        }
        None => Err(ClusterError::NotFound { what, looked_at, hint }),
    }
}
