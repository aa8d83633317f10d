//! What a scan should cost, from the service times alone.

use rudolph_workload::bucket_of;

use super::{Layout, Plan, placement::SPAN};

/// Every request of a scan finds its first key (a miss's time) and then takes a time for each key that it finds.
#[derive(Debug, Clone)]
pub(super) struct ScanModel {
    layout: Layout,
    seek_ms: f64,
    row_ms: f64,
    /// Slots of all servers.
    slots: f64,
    table: u64,
}

/// Means over all places where a scan of that length can begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    pub(super) requests: f64,
    /// Time in slots, all requests together.
    pub(super) work_ms: f64,
    /// With nobody else there: its requests go at once to slots that are free, so the longest one decides. One server
    /// may get several of them, which this leaves out.
    pub(super) alone_ms: f64,
    /// With all slots busy all the time.
    pub(super) most_per_s: f64,
}

impl ScanModel {
    pub(super) fn of(plan: &Plan, layout: &Layout) -> Self {
        Self {
            layout: layout.clone(),
            seek_ms: plan.service_ms,
            row_ms: plan.scans.row_us / 1e3,
            slots: plan.scans.servers as f64 * f64::from(plan.slots),
            table: plan.scans.table,
        }
    }

    pub(super) fn scan(&self, length: u64) -> Cost {
        let first = match self.layout {
            Layout::Ranges(_) => 0,
            Layout::Buckets(_) => SPAN,
        };
        let starts = self.table.saturating_sub(length) + 1;
        let (mut requests, mut longest) = (0.0, 0.0);
        for from in first..first + starts {
            let (pieces, most) = self.pieces(from, from + length);
            requests += pieces as f64;
            longest += most as f64;
        }
        let (requests, longest) = (requests / starts as f64, longest / starts as f64);
        let work_ms = requests * self.seek_ms + length as f64 * self.row_ms;
        Cost {
            requests,
            work_ms,
            alone_ms: self.seek_ms + longest * self.row_ms,
            most_per_s: self.slots * 1e3 / work_ms,
        }
    }

    /// How many requests, and how many keys the longest of them finds.
    fn pieces(&self, from: u64, to: u64) -> (usize, u64) {
        match &self.layout {
            Layout::Ranges(ranges) => {
                let pieces = ranges.pieces(from, to);
                let longest = pieces.iter().map(|(_, from, to)| to - from).max();
                (pieces.len(), longest.unwrap_or(0))
            }
            Layout::Buckets(buckets) => {
                let mut found = vec![0_u64; *buckets as usize];
                for number in from..to {
                    found[bucket_of(number, *buckets) as usize] += 1;
                }
                (found.len(), found.into_iter().max().unwrap_or(0))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rudolph_workload::Ranges;

    use super::*;

    fn cost(layout: &Layout, length: u64) -> Cost {
        ScanModel::of(&Plan::full(), layout).scan(length)
    }

    #[test]
    fn one_bucket_is_one_range_and_every_other_a_seek_more() {
        let whole = cost(&Layout::Ranges(Ranges::even(2_000, 1)), 100);
        assert_eq!(whole, cost(&Layout::Buckets(1), 100));
        assert!((whole.work_ms - 9.0).abs() < 1e-9 && (whole.alone_ms - 9.0).abs() < 1e-9);
        assert!((whole.most_per_s - 10_000.0 / 9.0).abs() < 1e-6, "{whole:?}");
        for buckets in [2, 5, 10, 20] {
            let cost = cost(&Layout::Buckets(buckets), 100);
            assert!((cost.work_ms - (5.0 + 4.0 * f64::from(buckets))).abs() < 1e-9, "{cost:?}");
            assert!((cost.requests - f64::from(buckets)).abs() < 1e-9);
            // Its keys lie in several buckets, so alone a long scan is over sooner, but no sooner than an even share is.
            let even = 4.0 + 5.0 / f64::from(buckets);
            assert!(cost.alone_ms < whole.alone_ms && cost.alone_ms >= even, "{cost:?}");
        }
    }

    #[test]
    fn a_scan_meets_a_second_range_as_often_as_it_crosses_a_border() {
        // Nine borders; a scan of 100 keys crosses one from 99 of its places.
        let cost = cost(&Layout::Ranges(Ranges::even(2_000, 10)), 100);
        let expected = 1.0 + 9.0 * 99.0 / 1_901.0;
        assert!((cost.requests - expected).abs() < 1e-9, "{cost:?}");
    }
}
