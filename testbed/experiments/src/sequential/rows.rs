//! From searches to rows: medians over the repeats, and how they grow.

use super::{Highest, Place, Placement};
use crate::Spread;

/// One placement on so many servers, medians over the repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub strategy: Placement,
    pub place: Place,
    pub servers: usize,
    pub rps: Spread,
    pub mean_ms: f64,
    pub p99_ms: f64,
    pub busiest_percent: f64,
    /// Over half as many servers, where they were measured.
    pub growth: Option<f64>,
    pub void: Vec<String>,
}

/// Envoy's first, each strategy by its sizes.
pub(super) fn rows(highest: &[Highest]) -> Vec<Row> {
    let mut kinds: Vec<(Place, Placement, usize)> =
        highest.iter().map(|one| (one.place, one.strategy, one.servers)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut rows: Vec<Row> = kinds.into_iter().filter_map(|kind| row(kind, highest)).collect();
    let alike = rows.clone();
    for row in &mut rows {
        let half = find(&alike, row.strategy, row.place, row.servers / 2);
        let half = half.filter(|half| 2 * half.servers == row.servers);
        // Where no rate passed there is nothing to compare, and a bound on it does not hold.
        let some = |row: &Row| if row.rps.median > 0.0 { row.rps.median } else { f64::NAN };
        row.growth = half.map(|half| some(row) / some(half));
    }
    rows
}

fn row((place, strategy, servers): (Place, Placement, usize), highest: &[Highest]) -> Option<Row> {
    let of_kind =
        |one: &&Highest| (one.place, one.strategy, one.servers) == (place, strategy, servers);
    // Void ones are left out, unless all are such.
    let sound = highest.iter().filter(of_kind).any(|one| one.void.is_empty());
    let own = || highest.iter().filter(of_kind).filter(move |one| !sound || one.void.is_empty());
    let median = |value: fn(&Highest) -> f64| {
        Spread::of(&own().map(value).collect::<Vec<_>>()).map_or(f64::NAN, |spread| spread.median)
    };
    Some(Row {
        strategy,
        place,
        servers,
        rps: Spread::of(&own().map(|one| one.rps).collect::<Vec<_>>())?,
        mean_ms: median(|one| one.mean_ms),
        p99_ms: median(|one| one.p99_ms),
        busiest_percent: median(|one| one.busiest_percent),
        growth: None,
        void: own().filter(|one| !one.void.is_empty()).map(|one| one.void.clone()).collect(),
    })
}

pub(super) fn find(
    rows: &[Row],
    strategy: Placement,
    place: Place,
    servers: usize,
) -> Option<&Row> {
    rows.iter().find(|row| (row.strategy, row.place, row.servers) == (strategy, place, servers))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::sequential) fn highest(
        strategy: Placement,
        servers: usize,
        repeat: u32,
        rps: f64,
    ) -> Highest {
        Highest {
            strategy,
            place: Place::Simulator,
            servers,
            repeat,
            rps,
            mean_ms: 9.0,
            p99_ms: 20.0,
            busiest_percent: 20.0,
            machine_busy_percent: 0.0,
            probes: 8,
            void: String::new(),
        }
    }

    #[test]
    fn growth_is_of_medians_over_half_the_servers() {
        let all: Vec<Highest> =
            [(5, [90.0, 100.0, 300.0]), (10, [180.0, 210.0, 190.0]), (40, [1.0; 3])]
                .into_iter()
                .flat_map(|(servers, rps)| {
                    (1..)
                        .zip(rps)
                        .map(move |(repeat, rps)| highest(Placement::Keys, servers, repeat, rps))
                })
                .collect();
        let rows = rows(&all);
        let growth: Vec<Option<f64>> = rows.iter().map(|row| row.growth).collect();
        assert_eq!(growth, [None, Some(1.9), None], "there is no 20 to compare 40 with");
        assert_eq!((rows[0].rps.low, rows[0].rps.high), (90.0, 300.0));
    }

    #[test]
    fn void_searches_do_not_count_and_nothing_found_is_no_growth() {
        let void = |one: Highest| Highest { void: "busy".to_owned(), ..one };
        let all = [
            highest(Placement::Keys, 5, 1, 100.0),
            void(highest(Placement::Keys, 5, 2, 1.0)),
            void(highest(Placement::Keys, 10, 1, 0.0)),
        ];
        let rows = rows(&all);
        assert_eq!((rows[0].rps.median, rows[0].void.len()), (100.0, 0));
        assert_eq!(rows[1].void.len(), 1, "all are such");
        assert!(rows[1].growth.unwrap().is_nan());
    }
}
