use std::collections::BTreeMap;

use crate::second::FilterState;

/// Picks the figures of the table out of the filter's own metrics.
pub(crate) fn filter_state(stats: &BTreeMap<String, u64>) -> FilterState {
    let stat = |name: &str| stats.get(&format!("rudolph.{name}")).copied();
    FilterState {
        plan_version: stat("plan_version"),
        rotation: stat("rotation"),
        hot_keys: stat("hot_keys"),
        moved_percent: stat("moved_ppm").map(|ppm| ppm as f64 / 1e4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_that_is_not_there_is_left_open() {
        let stats = BTreeMap::from([
            ("rudolph.plan_version".to_owned(), 7),
            ("rudolph.moved_ppm".to_owned(), 350),
        ]);
        let state = filter_state(&stats);
        assert_eq!(state.plan_version, Some(7));
        assert_eq!(state.hot_keys, None);
        assert_eq!(state.moved_percent, Some(0.035));
    }
}
