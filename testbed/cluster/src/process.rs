//! A child process that never outlives this one.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::error::ClusterError;
use crate::locate;

const TAIL_LINES: usize = 15;

#[derive(Debug)]
pub(crate) struct Process {
    what: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `program`, its output going to the end of the file `log`.
    pub(crate) fn start(
        what: &str,
        program: &Path,
        arguments: &[String],
        log: &Path,
    ) -> Result<Self, ClusterError> {
        let open = || File::options().create(true).append(true).open(log);
        let output = open().map_err(|error| ClusterError::io("open", log, error))?;
        let errors = open().map_err(|error| ClusterError::io("open", log, error))?;
        let mut command = bound_to_parent(program);
        command.args(arguments).stdin(Stdio::null()).stdout(output).stderr(errors);
        // Ctrl-C in a terminal goes to the whole group: children end when their parent says so, in order.
        command.process_group(0);
        let child = spawn_from_lasting_thread(command)
            .map_err(|source| ClusterError::Spawn { program: program.to_owned(), source })?;
        Ok(Self { what: what.to_owned(), child, log: log.to_owned() })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn log(&self) -> &Path {
        &self.log
    }

    /// The last lines of the log; empty if there is none.
    pub(crate) fn log_tail(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
    }

    pub(crate) fn check_running(&mut self) -> Result<(), ClusterError> {
        match self.child.try_wait() {
            Ok(Some(status)) => Err(self.ended(status)),
            Ok(None) => Ok(()),
            Err(error) => Err(ClusterError::io("watch", &self.log, error)),
        }
    }

    fn ended(&self, status: ExitStatus) -> ClusterError {
        ClusterError::Ended { what: self.what.clone(), status, log: self.log_tail() }
    }

    pub(crate) fn not_ready(&self, missing: &str, waited: Duration) -> ClusterError {
        let what = format!("{} ({missing})", self.what);
        ClusterError::NotReady { what, waited, log: self.log_tail() }
    }

    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        kill_process(Pid::from_child(&self.child), signal).map_err(io::Error::from)
    }

    /// SIGTERM, and SIGKILL if it still runs after `grace`.
    pub(crate) async fn terminate(&mut self, grace: Duration) {
        let deadline = Instant::now() + grace;
        if self.signal(Signal::TERM).is_ok() {
            while Instant::now() < deadline {
                if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        self.kill();
    }

    pub(crate) fn kill(&mut self) {
        // Both fail only if the process is gone and reaped already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// `setpriv` (util-linux) asks the kernel to kill the program when its parent dies and then becomes the program, so
/// the process id stays. Where there is no `setpriv`, only a SIGKILL of the parent leaves children behind.
fn bound_to_parent(program: &Path) -> Command {
    match locate::on_path("setpriv") {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "KILL", "--"]).arg(program);
            command
        }
        None => Command::new(program),
    }
}

type Order = (Command, mpsc::Sender<io::Result<Child>>);

static SPAWNER: Mutex<Option<mpsc::Sender<Order>>> = Mutex::new(None);

/// The kernel takes the death of the *thread* that started a child for the death of the parent, and threads of an
/// async runtime come and go: one thread that lasts as long as the process starts all children.
fn spawn_from_lasting_thread(command: Command) -> io::Result<Child> {
    let (answer, answered) = mpsc::channel();
    let gone = || io::Error::other("the thread that starts processes is gone");
    spawner()?.send((command, answer)).map_err(|_| gone())?;
    answered.recv().map_err(|_| gone())?
}

fn spawner() -> io::Result<mpsc::Sender<Order>> {
    let mut slot = SPAWNER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(orders) = &*slot {
        return Ok(orders.clone());
    }
    let (orders, ordered) = mpsc::channel::<Order>();
    thread::Builder::new().name("spawner".to_owned()).spawn(move || {
        for (mut command, answer) in ordered {
            let _ = answer.send(command.spawn());
        }
    })?;
    *slot = Some(orders.clone());
    Ok(orders)
}
