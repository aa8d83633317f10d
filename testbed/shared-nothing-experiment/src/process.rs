use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::contender::Contender;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    #[error("{program:?} cannot be run: {source}")]
    Run { program: PathBuf, source: io::Error },
    #[error("there is no program {program:?}")]
    Missing { program: PathBuf },
    #[error("{contender} does not answer at {address}")]
    Silent { contender: Contender, address: SocketAddr },
    #[error("no free port: {0}")]
    Port(io::Error),
    #[error("the processor time of process {pid} cannot be read")]
    Time { pid: u32 },
    #[error("redis-benchmark said: {said}")]
    Benchmark { said: String },
}

impl ProcessError {
    pub(crate) fn run(command: &Command, source: io::Error) -> Self {
        Self::Run { program: command.get_program().into(), source }
    }
}

/// A command for servers and load alike: who is woken waits until whoever runs has done what there is to do, and then
/// finds more to do at once. Else the load cuts in at each reply, or the server at each request, and what a request costs
/// is how often they take the core from each other.
pub(crate) fn under_batch_policy(program: &Path) -> Command {
    let mut command = Command::new("chrt");
    command.args(["--batch", "0"]).arg(program);
    command
}

const PATIENCE: Duration = Duration::from_secs(10);

/// A server, ended when dropped.
#[derive(Debug)]
pub(crate) struct Running {
    process: Child,
    address: SocketAddr,
}

impl Running {
    pub(crate) fn start(
        contender: Contender,
        redis: &Path,
        server: &Path,
    ) -> Result<Self, ProcessError> {
        let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = address.map_err(ProcessError::Port)?;
        let (program, arguments) = match contender {
            Contender::Redis => {
                let port = address.port();
                let text = format!("--port {port} --bind 127.0.0.1 --save  --appendonly no");
                (redis.join("redis-server"), text)
            }
            Contender::SharedNothing { threads } => {
                (server.to_owned(), format!("--redis {address} --threads {threads}"))
            }
            Contender::Mutex { threads } => {
                (server.to_owned(), format!("--redis {address} --threads {threads} --engine mutex"))
            }
        };
        if !program.is_file() {
            return Err(ProcessError::Missing { program });
        }
        let mut command = under_batch_policy(&program);
        command.args(arguments.split(' ')).stdin(Stdio::null()).stdout(Stdio::null());
        let process = command.spawn().map_err(|source| ProcessError::run(&command, source))?;
        let running = Self { process, address };
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            if began.elapsed() > PATIENCE {
                return Err(ProcessError::Silent { contender, address });
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(running)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Of all threads, in user and kernel mode.
    pub(crate) fn cpu_us(&self) -> Result<f64, ProcessError> {
        let pid = self.process.id();
        let time = rudolph_cluster::cpu_time(pid).map_err(|_| ProcessError::Time { pid })?;
        Ok(time.as_secs_f64() * 1e6)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
