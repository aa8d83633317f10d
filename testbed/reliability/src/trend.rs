//! Whether a series grows, judged so that a few odd samples decide nothing.

use serde::Serialize;

/// How much a figure may grow in the second half of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Allowance {
    /// Growth an hour that nobody would mind.
    pub an_hour: f64,
    /// Growth that says nothing, however short the run: the figure's own unrest.
    pub at_least: f64,
}

/// What the second half of a series did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Trend {
    /// Median of the second half.
    pub level: f64,
    pub slope_an_hour: f64,
    /// Along the slope, from the middle of the run to its end.
    pub growth: f64,
    pub allowed: f64,
}

impl Trend {
    #[must_use]
    pub fn drifts(&self) -> bool {
        self.growth > self.allowed
    }
}

const HOUR_S: f64 = 3600.0;
/// Fewer samples in the second half give no slope worth the name.
const FEWEST: usize = 4;

/// Judges the second half, by time, of `points` (seconds and values); `None` if there is too little of it.
#[must_use]
pub fn judge(points: &[(f64, f64)], allowance: Allowance) -> Option<Trend> {
    let (first, last) = (points.first()?.0, points.last()?.0);
    let middle = f64::midpoint(first, last);
    let half: Vec<(f64, f64)> = points.iter().copied().filter(|(at, _)| *at >= middle).collect();
    if half.len() < FEWEST {
        return None;
    }
    let slope_an_hour = slope(&half)? * HOUR_S;
    let hours = (last - middle) / HOUR_S;
    Some(Trend {
        level: median(half.iter().map(|(_, value)| *value).collect())?,
        slope_an_hour,
        growth: slope_an_hour * hours,
        allowed: allowance.at_least.max(allowance.an_hour * hours),
    })
}

/// Theil and Sen: the median of the slopes between all pairs, which a quarter of wild samples cannot turn.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let pairs = points.iter().enumerate().flat_map(|(index, (at, value))| {
        points[index + 1..].iter().filter_map(move |(later, then)| {
            let apart = later - at;
            (apart > 0.0).then(|| (then - value) / apart)
        })
    });
    median(pairs.collect())
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(upper, *values.get(values.len() / 2 - 1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1_048_576.0;
    const ALLOWANCE: Allowance = Allowance { an_hour: 4.0 * MIB, at_least: MIB };

    /// An hour of memory as Envoy shows it, a sample each 10 s: it settles in the first minutes, saws as VMs come and
    /// go, jumps now and then, and grows by `leak` an hour.
    fn hour(leak: f64) -> Vec<(f64, f64)> {
        let sample = |number: u32| {
            let at = f64::from(number) * 10.0;
            let settling = 10.0 * MIB * (1.0 - (-at / 200.0).exp());
            let saw = f64::from(number % 12) * 0.2 * MIB;
            let jump = if number.is_multiple_of(17) { 20.0 * MIB } else { 0.0 };
            (at, 100.0 * MIB + settling + saw + jump + leak * at / HOUR_S)
        };
        (0..=360).map(sample).collect()
    }

    #[test]
    fn what_settles_saws_and_jumps_does_not_drift() {
        let trend = judge(&hour(0.0), ALLOWANCE).unwrap();
        assert!(!trend.drifts(), "{trend:?}");
        assert!(trend.growth.abs() < 0.2 * MIB, "{trend:?}");
    }

    #[test]
    fn a_planted_leak_is_found_under_the_same_noise() {
        // 1.5 KiB a second: 5.3 MiB an hour, a quarter of what a jump adds.
        let trend = judge(&hour(1536.0 * HOUR_S), ALLOWANCE).unwrap();
        assert!(trend.drifts(), "{trend:?}");
        assert!((trend.slope_an_hour / MIB - 5.27).abs() < 0.5, "{trend:?}");
    }

    #[test]
    fn one_more_of_something_that_never_grows_is_found() {
        let exact = Allowance { an_hour: 0.0, at_least: 0.5 };
        let flat: Vec<(f64, f64)> = (0..100).map(|at| (f64::from(at), 1131.0)).collect();
        assert!(!judge(&flat, exact).unwrap().drifts());
        let growing = |(at, value): &(f64, f64)| (*at, value + (at / 10.0).floor());
        let growing: Vec<(f64, f64)> = flat.iter().map(growing).collect();
        assert!(judge(&growing, exact).unwrap().drifts());
    }

    #[test]
    fn too_little_is_not_judged() {
        assert_eq!(judge(&[], ALLOWANCE), None);
        assert_eq!(judge(&[(0.0, 1.0), (10.0, 2.0), (20.0, 3.0)], ALLOWANCE), None);
        assert_eq!(judge(&[(1.0, 1.0); 9], ALLOWANCE), None);
    }
}
