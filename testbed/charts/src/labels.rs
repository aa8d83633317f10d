//! Labels that do not overlap: pushed apart along one line, or in rows.

/// Moves centres apart so that neighbours are at least `gap` from one another and all stay within `low..=high`,
/// each as near to where it wanted to be as that allows. The order is kept.
///
/// If there is not room for all, the gaps shrink evenly.
pub(crate) fn push_apart(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&one, &other| wanted[one].total_cmp(&wanted[other]).then(one.cmp(&other)));
    let room = (high - low) / wanted.len().saturating_sub(1).max(1) as f64;
    let gap = gap.min(room.max(0.0));

    // Runs of labels that touch move as one, to the mean of what they want.
    let mut runs: Vec<Run> = Vec::new();
    for &index in &order {
        let mut run = Run { count: 1, first_wanted_sum: wanted[index] };
        while let Some(before) = runs.last() {
            if before.last(gap, low, high) + gap <= run.first(gap, low, high) {
                break;
            }
            run = before.joined(&run, gap);
            runs.pop();
        }
        runs.push(run);
    }
    let mut placed = vec![0.0; wanted.len()];
    let mut indices = order.into_iter();
    for run in &runs {
        let first = run.first(gap, low, high);
        for (step, index) in (0..run.count).zip(indices.by_ref()) {
            placed[index] = first + gap * step as f64;
        }
    }
    placed
}

struct Run {
    count: usize,
    /// Where the run's first label would be for each label to be where it wants, added up.
    first_wanted_sum: f64,
}

impl Run {
    fn first(&self, gap: f64, low: f64, high: f64) -> f64 {
        let length = gap * (self.count - 1) as f64;
        (self.first_wanted_sum / self.count as f64).min(high - length).max(low)
    }

    fn last(&self, gap: f64, low: f64, high: f64) -> f64 {
        self.first(gap, low, high) + gap * (self.count - 1) as f64
    }

    fn joined(&self, next: &Run, gap: f64) -> Run {
        let shifted = next.first_wanted_sum - gap * (self.count * next.count) as f64;
        Run { count: self.count + next.count, first_wanted_sum: self.first_wanted_sum + shifted }
    }
}

/// The lowest row for each interval in which it touches no other, intervals taken in their order.
pub(crate) fn rows(intervals: &[(f64, f64)], gap: f64) -> Vec<usize> {
    let mut placed: Vec<(usize, (f64, f64))> = Vec::new();
    for &(from, to) in intervals {
        let meets = |row: usize| {
            placed
                .iter()
                .any(|&(other, (low, high))| other == row && from < high + gap && low < to + gap)
        };
        let row = (0..intervals.len()).find(|&row| !meets(row)).unwrap_or(0);
        placed.push((row, (from, to)));
    }
    placed.into_iter().map(|(row, _)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::random;

    #[test]
    fn labels_with_room_stay() {
        assert_eq!(push_apart(&[10.0, 50.0, 30.0], 15.0, 0.0, 100.0), [10.0, 50.0, 30.0]);
        assert!(push_apart(&[], 15.0, 0.0, 100.0).is_empty());
    }

    #[test]
    fn equal_labels_part_evenly() {
        assert_eq!(push_apart(&[50.0, 50.0, 50.0], 10.0, 0.0, 100.0), [40.0, 50.0, 60.0]);
        assert_eq!(push_apart(&[0.0, 0.0], 10.0, 0.0, 100.0), [0.0, 10.0]);
        assert_eq!(push_apart(&[100.0, 99.0], 10.0, 0.0, 100.0), [100.0, 90.0]);
    }

    #[test]
    fn pushed_labels_never_overlap_nor_leave() {
        for seed in 0..300 {
            let mut state = seed;
            let count = 1 + (random(&mut state) * 24.0) as usize;
            let wanted: Vec<f64> = (0..count).map(|_| random(&mut state) * 420.0 - 10.0).collect();
            let placed = push_apart(&wanted, 15.0, 0.0, 400.0);
            let mut sorted = placed.clone();
            sorted.sort_by(f64::total_cmp);
            assert!(sorted.windows(2).all(|two| two[1] - two[0] >= 15.0 - 1e-6), "seed {seed}");
            assert!(sorted.iter().all(|at| (-1e-6..=400.0 + 1e-6).contains(at)), "seed {seed}");
        }
    }

    #[test]
    fn too_many_labels_share_the_room() {
        let placed = push_apart(&[5.0; 11], 15.0, 0.0, 100.0);
        assert_eq!(placed.iter().copied().fold(0.0, f64::max), 100.0);
    }

    #[test]
    fn intervals_that_meet_get_rows_of_their_own() {
        assert_eq!(rows(&[(0.0, 10.0), (5.0, 15.0), (20.0, 30.0)], 2.0), [0, 1, 0]);
    }
}
