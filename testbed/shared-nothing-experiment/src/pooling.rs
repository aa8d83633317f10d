//! Pooling: n servers of their own each need room for their own peaks, n * 2s; one server for all needs 2s * sqrt(n), since
//! peaks of independent loads seldom meet. Here n tenants load one server, each at random times of its own, and what
//! each got answered in each window is counted.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rudolph_workload::SplitMix64;

pub(crate) const TENANTS: usize = 9;
const WINDOW: Duration = Duration::from_millis(100);
const REQUESTS_A_SECOND: f64 = 200.0;
const SEED: u64 = 9;

/// Requests answered, by tenant and window.
pub(crate) type Loads = Vec<Vec<f64>>;

pub(crate) fn measure(server: SocketAddr, seconds: u64) -> io::Result<Loads> {
    let windows = (Duration::from_secs(seconds).as_millis() / WINDOW.as_millis()) as usize;
    let began = Instant::now();
    std::thread::scope(|scope| {
        let tenants: Vec<_> = (0..TENANTS)
            .map(|tenant| scope.spawn(move || one_tenant(tenant as u64, server, began, windows)))
            .collect();
        let failed = |_| io::Error::other("a tenant panicked");
        tenants.into_iter().map(|tenant| tenant.join().map_err(failed)?).collect()
    })
}

fn one_tenant(
    tenant: u64,
    server: SocketAddr,
    began: Instant,
    windows: usize,
) -> io::Result<Vec<f64>> {
    let mut random = SplitMix64::for_purpose(SEED, tenant);
    let mut stream = TcpStream::connect(server)?;
    stream.set_nodelay(true)?;
    let mut counts = vec![0.0; windows];
    let mut due = 0.0;
    let mut answer = [0; 5];
    loop {
        due -= (1.0 - random.next_unit()).ln() / REQUESTS_A_SECOND;
        let wait = Duration::from_secs_f64(due).saturating_sub(began.elapsed());
        std::thread::sleep(wait);
        stream.write_all(b"*3\r\n$3\r\nSET\r\n$6\r\ntenant\r\n$1\r\nx\r\n")?;
        stream.read_exact(&mut answer)?;
        let window = (began.elapsed().as_micros() / WINDOW.as_micros()) as usize;
        match counts.get_mut(window) {
            Some(count) => *count += 1.0,
            None => return Ok(counts),
        }
    }
}

/// What n servers and one server need above the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Margin {
    pub(crate) tenants: usize,
    /// The sum of each tenant's 2s.
    pub(crate) apart: f64,
    /// 2s of the sum, as measured.
    pub(crate) pooled: f64,
    /// 2s * sqrt(n), s the tenants' own, as the law says.
    pub(crate) law: f64,
}

pub(crate) fn margins(loads: &Loads) -> Vec<Margin> {
    [1, 2, 4, 9]
        .into_iter()
        .filter(|tenants| *tenants <= loads.len())
        .map(|tenants| {
            let some = &loads[..tenants];
            let windows = some.first().map_or(0, Vec::len);
            let sums: Vec<f64> =
                (0..windows).map(|window| some.iter().map(|load| load[window]).sum()).collect();
            let apart: f64 = some.iter().map(|load| 2.0 * deviation(load)).sum();
            let law = apart / (tenants as f64).sqrt();
            Margin { tenants, apart, pooled: 2.0 * deviation(&sums), law }
        })
        .collect()
}

fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_that_peak_together_gain_nothing_and_opposite_ones_all() {
        let up = vec![1.0, 3.0, 1.0, 3.0];
        let down = vec![3.0, 1.0, 3.0, 1.0];
        let together = margins(&vec![up.clone(), up.clone()])[1];
        assert!((together.pooled - together.apart).abs() < 1e-9);
        assert!(margins(&vec![up, down])[1].pooled < 1e-9);
    }

    #[test]
    fn independent_loads_follow_the_law() {
        let loads: Loads = (0..9)
            .map(|tenant| {
                let mut random = SplitMix64::for_purpose(1, tenant);
                (0..2_000).map(|_| random.next_unit()).collect()
            })
            .collect();
        let nine = margins(&loads)[3];
        assert!((nine.apart / nine.law - 3.0).abs() < 1e-9);
        assert!((nine.pooled / nine.law - 1.0).abs() < 0.1, "seed 1: {nine:?}");
    }
}
