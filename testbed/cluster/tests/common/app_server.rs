//! The program that tests start as a server.

use std::path::Path;
use std::process::Command;
use std::sync::Once;

const NAME: &str = "rudolph-app-server";

/// `cargo test --workspace` builds it; a run of one package does not, and then it is built here, into the same place.
pub(crate) fn is_built() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let exe = std::env::current_exe().unwrap_or_default();
        // target/PROFILE/deps/this
        let profile = exe.parent().and_then(Path::parent);
        if let Some(profile) = profile
            && !profile.join(NAME).is_file()
        {
            build(profile);
        }
    });
}

fn build(profile: &Path) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", NAME]);
    if let Some(target) = profile.parent() {
        cargo.arg("--target-dir").arg(target);
    }
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let built = cargo.status().is_ok_and(|status| status.success());
    assert!(built, "{cargo:?} failed");
}
