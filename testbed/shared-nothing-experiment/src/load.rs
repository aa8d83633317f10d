use std::path::Path;
use std::time::Instant;

use crate::demand::Demand;
use crate::process::{ProcessError, Running, under_batch_policy};

const CLIENTS: u32 = 100;
const LOAD_THREADS: u32 = 2;
const KEYS: u32 = 100_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) rounds: usize,
    pub(crate) tenant_seconds: u64,
    /// Of a run of the simplest ones; of others there are as many as take about as long.
    requests: u32,
}

/// What one run of the load measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) cpu_us: f64,
    pub(crate) seconds: f64,
}

impl Load {
    pub(crate) fn of(quick: bool) -> Self {
        match quick {
            true => Self { rounds: 1, tenant_seconds: 2, requests: 5_000 },
            false => Self { rounds: 31, tenant_seconds: 20, requests: 16_000 },
        }
    }

    /// One redis-benchmark against one server.
    pub(crate) fn run(
        &self,
        redis: &Path,
        server: &Running,
        demand: Demand,
    ) -> Result<Figures, ProcessError> {
        let (requests, pipeline) = (demand.requests(self.requests), demand.pipeline());
        let text = format!(
            "-p {} -c {CLIENTS} --threads {LOAD_THREADS} -P {pipeline} -n {requests} -r {KEYS} --csv",
            server.address().port()
        );
        let (before, began) = (server.cpu_us()?, Instant::now());
        let mut benchmark = under_batch_policy(&redis.join("redis-benchmark"));
        let output = benchmark.args(text.split(' ')).args(demand.words()).output();
        let output = output.map_err(|source| ProcessError::run(&benchmark, source))?;
        let seconds = began.elapsed().as_secs_f64();
        let cpu_us = (server.cpu_us()? - before) / f64::from(requests);
        if !output.status.success() || !has_measured(&String::from_utf8_lossy(&output.stdout)) {
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said).trim().to_owned();
            return Err(ProcessError::Benchmark { said });
        }
        Ok(Figures { cpu_us, seconds })
    }
}

/// Does the last line read as `"GET","54644.81",...`? Its rate is not used: it is as coarse as the program's clock.
fn has_measured(csv: &str) -> bool {
    let rate = csv.trim().lines().last().and_then(|line| line.split(',').nth(1));
    rate.is_some_and(|rate| rate.trim_matches('"').parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::has_measured;

    #[test]
    fn knows_a_result_of_redis_benchmark() {
        assert!(has_measured(
            "\"test\",\"rps\",\"avg_latency_ms\"\n\"GET\",\"54644.81\",\"0.351\"\n"
        ));
        assert!(has_measured("\"mget key:__rand_int__ key:__rand_int__\",\"8312.15\",\"5.301\"\n"));
        assert!(!has_measured("\"test\",\"rps\",\"avg_latency_ms\"\n"));
        assert!(!has_measured("Could not connect"));
        assert!(!has_measured(""));
    }
}
