use std::fs;
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

/// What `redis-server --version` says.
pub(crate) fn redis_version(redis: &Path) -> Result<String, ProcessError> {
    let program = redis.join("redis-server");
    let output = Command::new(&program).arg("--version").output();
    let output = output.map_err(|source| ProcessError::Run { program, source })?;
    let said = String::from_utf8_lossy(&output.stdout);
    let version = said.split_whitespace().find_map(|word| word.strip_prefix("v="));
    Ok(version.unwrap_or("unknown").to_owned())
}

/// The machine, as it calls itself.
pub(crate) fn machine() -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{model}, {cores} cores, Linux {}", kernel.trim())
}

/// Linux shows user programs 100 ticks a second on every machine.
const TICK_US: f64 = 10_000.0;
const PATIENCE: Duration = Duration::from_secs(10);

/// A server, ended when dropped.
#[derive(Debug)]
pub(crate) struct Running {
    process: Child,
    address: SocketAddr,
}

impl Running {
    /// At the lowest priority: load goes first, so requests always wait for the server and it never idles between two of
    /// them. Else its cost a request would be how often it falls asleep, which more threads do more often.
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
        let mut command = Command::new("nice");
        command.args(["-n", "19"]).arg(&program).args(arguments.split(' '));
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let process = process.map_err(|source| ProcessError::Run { program, source })?;
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

    /// Of all threads, in user and kernel mode, to a tick.
    pub(crate) fn cpu_us(&self) -> Result<f64, ProcessError> {
        let pid = self.process.id();
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok();
        text.as_deref()
            .and_then(cpu_ticks)
            .map(|ticks| ticks as f64 * TICK_US)
            .ok_or(ProcessError::Time { pid })
    }
}

/// Fields 14 and 15; field 2, a name in parentheses, may hold spaces.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, kernel): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user + kernel)
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::cpu_ticks;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = "7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0";
        assert_eq!(cpu_ticks(stat), Some(300));
        assert_eq!(cpu_ticks("7 (x) S 1"), None);
    }
}
