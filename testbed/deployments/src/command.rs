use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

const LIMIT: Duration = Duration::from_secs(60);
const TAIL_LINES: usize = 12;

/// A command that may not take longer than its limit, a minute unless told.
#[derive(Debug, Clone)]
pub struct Cmd {
    program: OsString,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    input: Vec<u8>,
    limit: Duration,
}

/// What a command that succeeded wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    pub stdout: String,
    pub stderr: String,
}

#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("`{command}` cannot be run: {source}")]
    Spawn { command: String, source: std::io::Error },
    #[error("`{command}` took longer than {} s", .limit.as_secs())]
    TooLong { command: String, limit: Duration },
    #[error("`{command}` ended with {status}{}", shown(.stderr))]
    Failed { command: String, status: ExitStatus, stderr: String },
}

impl Cmd {
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            variables: Vec::new(),
            folder: None,
            input: Vec::new(),
            limit: LIMIT,
        }
    }

    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Where it runs.
    #[must_use]
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// What it reads; nothing unless told.
    #[must_use]
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Waits for its end. It is killed when its time is over, and when this future is dropped.
    pub async fn run(&self) -> Result<Output, CommandError> {
        let spawn = |source| CommandError::Spawn { command: self.to_string(), source };
        let child = self.command().spawn().map_err(spawn)?;
        let output = tokio::time::timeout(self.limit, talk(child, &self.input)).await;
        let output = output
            .map_err(|_| CommandError::TooLong { command: self.to_string(), limit: self.limit })?
            .map_err(spawn)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let stderr = text(&output.stderr);
        if output.status.success() {
            return Ok(Output { stdout: text(&output.stdout), stderr });
        }
        let said = if stderr.trim().is_empty() { text(&output.stdout) } else { stderr };
        Err(CommandError::Failed {
            command: self.to_string(),
            status: output.status,
            stderr: tail(&said),
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(self.variables.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C reaches the test, which then takes down in order: not the commands that do so.
        command.process_group(0).kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }
}

/// Writes while it reads, so that neither side waits for the other.
async fn talk(mut child: Child, input: &[u8]) -> std::io::Result<std::process::Output> {
    let stdin = child.stdin.take();
    let write = async {
        if let Some(mut stdin) = stdin {
            _ = stdin.write_all(input).await; // a command need not read its input
        }
    };
    let ((), output) = tokio::join!(write, child.wait_with_output());
    output
}

impl std::fmt::Display for Cmd {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.program.to_string_lossy())?;
        self.arguments.iter().try_for_each(|part| write!(out, " {}", part.to_string_lossy()))
    }
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

fn shown(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(": {stderr}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn returns_what_was_written() {
        let output = Cmd::new("sh").args(["-c", "cat; echo b >&2"]).input("a\n").run().await;
        let output = output.unwrap();
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("a\n", "b\n"));
    }

    #[tokio::test]
    async fn says_how_it_failed() {
        let error = Cmd::new("sh").args(["-c", "echo why >&2; exit 3"]).run().await.unwrap_err();
        assert!(matches!(error, CommandError::Failed { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("exit status: 3") && text.ends_with("why"), "{text}");
        let error = Cmd::new("/no/such/program").run().await.unwrap_err();
        assert!(matches!(error, CommandError::Spawn { .. }), "{error}");
    }

    #[tokio::test]
    async fn ends_what_takes_too_long() {
        let slow = Cmd::new("sleep").args(["60"]).limit(Duration::from_millis(50));
        let error = slow.run().await.unwrap_err();
        assert!(matches!(error, CommandError::TooLong { .. }), "{error}");
    }
}
