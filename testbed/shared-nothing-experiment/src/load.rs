use std::path::Path;
use std::process;
use std::time::Instant;

use rudolph_experiments::redis::Command;

use crate::process::{ProcessError, Running};

pub(crate) const PIPELINES: [u32; 2] = [1, 10];
const CLIENTS: u32 = 100;
const LOAD_THREADS: u32 = 2;
const KEYS: u32 = 100_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) rounds: usize,
    pub(crate) tenant_seconds: u64,
    /// Of each run, without pipelines.
    requests: u32,
}

/// What one run of the load measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) cpu_us: f64,
    pub(crate) rps: f64,
    pub(crate) seconds: f64,
}

impl Load {
    pub(crate) fn of(quick: bool) -> Self {
        match quick {
            true => Self { rounds: 1, tenant_seconds: 2, requests: 5_000 },
            false => Self { rounds: 15, tenant_seconds: 20, requests: 33_000 },
        }
    }

    /// One redis-benchmark against one server. Pipelined requests are cheaper, so more of them fill the same time.
    pub(crate) fn run(
        &self,
        redis: &Path,
        server: &Running,
        command: Command,
        pipeline: u32,
    ) -> Result<Figures, ProcessError> {
        let program = redis.join("redis-benchmark");
        let requests = self.requests * pipeline;
        let text = format!(
            "-p {} -c {CLIENTS} --threads {LOAD_THREADS} -P {pipeline} -n {requests} -r {KEYS} -t {command} --csv",
            server.address().port()
        );
        let (before, began) = (server.cpu_us()?, Instant::now());
        let output = process::Command::new(&program).args(text.split(' ')).output();
        let output = output.map_err(|source| ProcessError::Run { program, source })?;
        let seconds = began.elapsed().as_secs_f64();
        let cpu_us = (server.cpu_us()? - before) / f64::from(requests);
        let said = String::from_utf8_lossy(&output.stdout);
        let rps = requests_a_second(&said).filter(|_| output.status.success());
        let rps = rps.ok_or_else(|| ProcessError::Benchmark {
            said: format!("{said}{}", String::from_utf8_lossy(&output.stderr)).trim().to_owned(),
        })?;
        Ok(Figures { cpu_us, rps, seconds })
    }
}

/// The second field of the last line, as `"GET","54644.81",...`.
fn requests_a_second(csv: &str) -> Option<f64> {
    csv.trim().lines().last()?.split(',').nth(1)?.trim_matches('"').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::requests_a_second;

    #[test]
    fn reads_what_redis_benchmark_prints() {
        let csv = "\"test\",\"rps\",\"avg_latency_ms\"\n\"GET\",\"54644.81\",\"0.351\"\n";
        assert_eq!(requests_a_second(csv), Some(54_644.81));
        assert_eq!(requests_a_second("Could not connect"), None);
    }
}
