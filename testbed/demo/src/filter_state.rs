use std::collections::BTreeMap;

use crate::second::FilterState;

/// Where requests go that the filter names a server for.
const AT_HOME: [&str; 1] = ["requests.owner"];
const AWAY: [&str; 2] = ["requests.spread", "requests.spilled"];

/// Picks the figures of the table out of the filter's own metrics, and remembers what was counted before.
#[derive(Debug, Default)]
pub(crate) struct FilterWatch {
    home: u64,
    away: u64,
}

impl FilterWatch {
    pub(crate) fn state(&mut self, stats: &BTreeMap<String, u64>) -> FilterState {
        let stat = |name: &str| stats.get(&format!("rudolph.{name}")).copied();
        let sum = |names: &[&str]| names.iter().filter_map(|name| stat(name)).sum::<u64>();
        let (home, away) = (sum(&AT_HOME), sum(&AWAY));
        let more_home = home.saturating_sub(self.home);
        let more_away = away.saturating_sub(self.away);
        (self.home, self.away) = (home, away);
        let more = more_home + more_away;
        FilterState {
            plan_version: stat("plan_version"),
            rotation: stat("rotation"),
            hot_keys: stat("hot_keys"),
            moved_percent: stat("moved_ppm").map(|ppm| ppm as f64 / 1e4),
            away_percent: (more > 0).then(|| 100.0 * more_away as f64 / more as f64),
        }
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
        let state = FilterWatch::default().state(&stats);
        assert_eq!(state.plan_version, Some(7));
        assert_eq!(state.hot_keys, None);
        assert_eq!(state.moved_percent, Some(0.035));
        assert_eq!(state.away_percent, None);
    }

    #[test]
    fn requests_away_from_home_are_those_since_the_last_look() {
        let stats = |owner, spread, spilled| {
            let names = ["owner", "spread", "spilled"];
            let name = |name| format!("rudolph.requests.{name}");
            names.map(name).into_iter().zip([owner, spread, spilled]).collect()
        };
        let mut watch = FilterWatch::default();
        assert_eq!(watch.state(&stats(100, 0, 0)).away_percent, Some(0.0));
        assert_eq!(watch.state(&stats(170, 20, 10)).away_percent, Some(30.0));
        assert_eq!(watch.state(&stats(170, 20, 10)).away_percent, None);
    }
}
