//! A PostgreSQL of the test's own: a new database on loopback, gone with the test.

#![allow(clippy::expect_used)] // a missing PostgreSQL fails the test with a hint

use std::{
    io::ErrorKind,
    net::{SocketAddr, TcpListener},
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// PostgreSQL refuses to run as root; then it runs as this user, who owns nothing.
const NOBODY: u32 = 65_534;
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Postgres {
    process: Child,
    folder: tempfile::TempDir,
    address: SocketAddr,
}

impl Postgres {
    pub(crate) fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("rudolph-postgres-").tempdir().unwrap();
        let as_root = rustix::process::geteuid().is_root();
        let programs = installed();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        if as_root {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            chown(&data, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let made = command(&programs.join("initdb"), as_root)
            .args(["--username=test", "--auth=trust", "--no-sync", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let process = command(&programs.join("postgres"), as_root)
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(folder.path())
            .args(["-h", "127.0.0.1", "-p", &address.port().to_string(), "-F"])
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(folder.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut postgres = Self { process, folder, address };
        postgres.wait_until_ready();
        postgres
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://test@{}/postgres", self.address)
    }

    /// It listens before it answers.
    fn wait_until_ready(&mut self) {
        let started = Instant::now();
        loop {
            let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap();
            if log.contains("database system is ready to accept connections") {
                return;
            }
            let ended = self.process.try_wait().unwrap();
            assert!(ended.is_none() && started.elapsed() < PATIENCE, "{ended:?}: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Ends with the thread that starts it, where `setpriv` is there to see to that. Nobody may read the programs all the
/// same, though the project may lie in root's own folder.
fn command(program: &Path, as_root: bool) -> Command {
    let has_setpriv = match Command::new("setpriv").arg("--version").output() {
        Ok(output) => output.status.success(),
        Err(error) => error.kind() != ErrorKind::NotFound,
    };
    if !has_setpriv {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]);
    if as_root {
        let user = NOBODY.to_string();
        command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]);
        command.args(["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]);
    }
    command.arg("--").arg(program);
    command
}

/// The programs that `make setup` got, or those of the system.
fn installed() -> PathBuf {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/bin/postgresql/bin");
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let candidates = std::iter::once(tools).chain(debian.map(|entry| entry.path().join("bin")));
    let mut found = candidates.filter(|place| place.join("initdb").is_file());
    found.next().expect("no PostgreSQL: `make setup` installs it, or the system's packages do")
}
