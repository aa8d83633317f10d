//! What is expected, held against what was found.

use super::{Place, Placement, Row, Scans, placement::PUBLISHED_BUCKETS, rows::find};
use crate::expectation::Verdict;

/// What counts as linear: so many times as much from twice the servers.
const LINEAR: f64 = 1.9;
/// What counts as no growth.
const FLAT: f64 = 1.1;
/// How far real Envoy and the simulator may lie apart: the simulator knows no network and no gateway's own time.
const APART: f64 = 0.15;

/// Sizes up to here are those of the published figure.
const PUBLISHED_SERVERS: usize = 20;

pub(super) fn verdicts(rows: &[Row], scans: &[Scans]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for row in rows.iter().filter(|row| row.servers <= PUBLISHED_SERVERS) {
        verdicts.extend(growth_verdict(row));
    }
    for row in rows.iter().filter(|row| row.place == Place::Simulator) {
        let Some(real) = find(rows, row.strategy, Place::Envoy, row.servers) else { continue };
        let ratio = real.rps.median / row.rps.median;
        verdicts.push(Verdict {
            expected: format!(
                "{} on {} servers: real Envoy within {:.0} % of the simulator",
                row.strategy,
                row.servers,
                100.0 * APART
            ),
            found: format!("{ratio:.2} of it"),
            held: (ratio - 1.0).abs() <= APART,
        });
    }
    verdicts.extend(scans.iter().filter(|row| row.scanners == 1).filter_map(scan_verdict));
    verdicts
}

fn growth_verdict(row: &Row) -> Option<Verdict> {
    let growth = row.growth?;
    let out_of_buckets =
        row.strategy == Placement::Hash10OneOwner && row.servers > PUBLISHED_BUCKETS as usize;
    let flat = row.strategy == Placement::Range || out_of_buckets;
    let (bound, held) = if flat {
        (format!("at most {FLAT} times"), growth <= FLAT)
    } else {
        (format!("at least {LINEAR} times"), growth >= LINEAR)
    };
    Some(Verdict {
        expected: format!(
            "{} in {}: {} servers carry {bound} what {} do",
            row.strategy,
            row.place.word(),
            row.servers,
            row.servers / 2
        ),
        found: format!("{growth:.2}"),
        held,
    })
}

/// A scan visits every bucket, and costs what the model says.
fn scan_verdict(row: &Scans) -> Option<Verdict> {
    if row.buckets == 0 {
        return None;
    }
    let visits = (row.requests_a_scan - f64::from(row.buckets)).abs() < 1e-9;
    let ratio = row.work_ms_a_scan / row.model_work_ms;
    Some(Verdict {
        expected: format!(
            "a scan of {} keys visits each of {} buckets, and takes within {:.0} % of the model's {:.1} ms of slots",
            row.length,
            row.buckets,
            100.0 * APART,
            row.model_work_ms
        ),
        found: format!("{:.0} requests, {:.1} ms", row.requests_a_scan, row.work_ms_a_scan),
        held: visits && (ratio - 1.0).abs() <= APART,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequential::rows::{rows, tests::highest};

    #[test]
    fn ranges_must_not_grow_and_buckets_must() {
        let of = |strategy, low: f64, high: f64| {
            let servers = if strategy == Placement::Hash10OneOwner { [10, 20] } else { [5, 10] };
            let all =
                [highest(strategy, servers[0], 1, low), highest(strategy, servers[1], 1, high)];
            let verdicts = verdicts(&rows(&all), &[]);
            assert_eq!(verdicts.len(), 1, "{verdicts:?}");
            verdicts[0].held
        };
        assert!(of(Placement::Range, 100.0, 105.0) && !of(Placement::Range, 100.0, 120.0));
        assert!(of(Placement::Hash10, 100.0, 195.0) && !of(Placement::Hash10, 100.0, 185.0));
        assert!(of(Placement::Hash10OneOwner, 100.0, 101.0), "ten buckets, ten servers");
        assert!(!of(Placement::Hash10OneOwner, 100.0, 200.0));
    }
}
