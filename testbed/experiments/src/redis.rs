//! Redis, beside which servers are measured by programs of their own.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

/// What a server is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Command {
    Set,
    Get,
}

impl Command {
    /// What is set first can be got.
    pub const ALL: [Self; 2] = [Self::Set, Self::Get];
}

impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Set => "set",
            Self::Get => "get",
        })
    }
}

/// What `redis-server --version` says, or why the program cannot be run.
pub fn version(programs: &Path) -> Result<String, (PathBuf, io::Error)> {
    let program = programs.join("redis-server");
    let output = process::Command::new(&program).arg("--version").output();
    let output = output.map_err(|source| (program, source))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let version = said.split_whitespace().find_map(|word| word.strip_prefix("v="));
    Ok(version.unwrap_or("unknown").to_owned())
}
