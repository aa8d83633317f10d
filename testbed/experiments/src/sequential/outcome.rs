//! What the raw figures add up to: rows of medians, expectations, a table and words.

use std::path::Path;

use rudolph_charts::{Emphasis, Row as TableRow, Section, Table, grouped, png};
use serde_json::{Value, json};

use super::{
    Highest, Measured, Place, Placement, Scans, Setting, TITLE, plots,
    raw::{self, rounded},
};
use crate::{
    Spread,
    artefacts::{ArtefactError, remove_plots},
    expectation::Verdict,
    figures::Plot,
    raw::put,
};

const PNG_SCALE: f32 = 2.0;
/// What counts as linear: so many times as much from twice the servers.
const LINEAR: f64 = 1.9;
/// What counts as no growth.
const FLAT: f64 = 1.1;
/// How far real Envoy and the simulator may lie apart: the simulator knows no network and no gateway's own time.
const APART: f64 = 0.15;

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

/// All that the experiment tells.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub setting: Setting,
    pub rows: Vec<Row>,
    pub scans: Vec<Scans>,
    pub verdicts: Vec<Verdict>,
    pub plots: Vec<Plot>,
}

impl Outcome {
    #[must_use]
    pub fn of(setting: Setting, measured: &Measured) -> Self {
        let rows = rows(&measured.highest);
        // A quick run shows that everything works; nothing is expected of its figures.
        let verdicts = if setting.quick { Vec::new() } else { verdicts(&rows, &measured.scans) };
        let plots = plots::plots(&setting.plan, &rows, &measured.scans);
        Self { setting, rows, scans: measured.scans.clone(), verdicts, plots }
    }

    /// Writes summary, table and plots into `folder`, in place of earlier ones.
    pub fn write(&self, folder: &Path) -> Result<(), ArtefactError> {
        let summary = serde_json::to_string_pretty(&self.summary())? + "\n";
        put(folder, "summary.json", summary.as_bytes())?;
        put(folder, "table.md", self.page().as_bytes())?;
        remove_plots(folder)?;
        for plot in &self.plots {
            put(folder, &format!("{}.svg", plot.name), plot.svg.as_bytes())?;
            let drawn = png(&plot.svg, PNG_SCALE)
                .map_err(|source| ArtefactError::Plot { name: plot.name.clone(), source })?;
            put(folder, &format!("{}.png", plot.name), &drawn)?;
        }
        Ok(())
    }

    fn summary(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            json!({
                "strategy": row.strategy, "place": row.place, "servers": row.servers,
                "rps": rounded(row.rps.median), "rps_low": rounded(row.rps.low), "rps_high": rounded(row.rps.high),
                "mean_ms": row.mean_ms, "p99_ms": row.p99_ms, "busiest_percent": row.busiest_percent,
                "growth": row.growth.map(rounded), "void": row.void,
            })
        });
        json!({ "rows": rows.collect::<Vec<_>>(), "scans": self.scans })
    }

    /// For reading beside the raw files.
    #[must_use]
    pub fn page(&self) -> String {
        let mut page = format!("# {TITLE}\n\n{ASKS}\n\n");
        if let Some(notice) = self.notice() {
            page += &format!("**{notice}**\n\n");
        }
        page += &self.writes_table().markdown();
        for paragraph in self.paragraphs() {
            page += &format!("\n{paragraph}\n");
        }
        page += &format!("\n## The price of a range scan\n\n{SCANS}\n\n");
        page += &self.scans_table().markdown();
        page.push('\n');
        for verdict in &self.verdicts {
            page += &format!("- {verdict}\n");
        }
        page + &format!("\n{}\n", self.origin())
    }

    /// For the page of all experiments.
    #[must_use]
    pub fn sections(&self) -> Vec<Section> {
        let figure = |name: &str| {
            let own = self.plots.iter().filter(move |plot| plot.name.starts_with(name));
            own.map(|plot| plot.figure.clone()).collect()
        };
        let notes = self.verdicts.iter().map(ToString::to_string);
        let command = format!("Made by `{}`", self.setting.command);
        let writes = Section {
            id: super::NAME.to_owned(),
            heading: TITLE.to_owned(),
            paragraphs: std::iter::once(ASKS.to_owned()).chain(self.paragraphs()).collect(),
            figures: figure("writes"),
            table: Some(self.writes_table()),
            notes: notes.chain([command]).collect(),
            warning: self.notice(),
        };
        let scans = Section {
            id: format!("{}-scans", super::NAME),
            heading: "Sequential keys: the price of a range scan".to_owned(),
            paragraphs: vec![SCANS.to_owned()],
            figures: figure("scans"),
            table: Some(self.scans_table()),
            warning: self.notice(),
            ..Section::default()
        };
        vec![writes, scans]
    }

    fn notice(&self) -> Option<String> {
        if self.setting.quick {
            return Some(crate::artefacts::QUICK_NOTICE.to_owned());
        }
        let void = self.rows.iter().filter(|row| !row.void.is_empty());
        let void: Vec<String> = void
            .map(|row| {
                format!("{} on {} servers: {}", row.strategy, row.servers, row.void.join(", "))
            })
            .collect();
        (!void.is_empty()).then(|| {
            let reasons = void.join(". ");
            format!("Too low perhaps, because this machine was the limit and not the servers: {reasons}.")
        })
    }

    #[must_use]
    pub fn origin(&self) -> String {
        let Setting { machine, versions, command, .. } = &self.setting;
        format!("{machine}. {versions}. `{command}`")
    }

    #[must_use]
    pub fn writes_table(&self) -> Table {
        let head = [
            "strategy",
            "where",
            "servers",
            "writes/s",
            "lowest",
            "highest",
            "over half the servers",
            "mean ms",
            "p99",
            "busiest server %",
        ];
        let cells = |row: &Row| {
            let cells = TableRow::new([
                row.strategy.to_string(),
                place_word(row.place).to_owned(),
                row.servers.to_string(),
                grouped(row.rps.median, 0),
                grouped(row.rps.low, 0),
                grouped(row.rps.high, 0),
                row.growth.map_or("–".to_owned(), |growth| format!("{growth:.2}")),
                format!("{:.2}", row.mean_ms),
                format!("{:.1}", row.p99_ms),
                format!("{:.0}", row.busiest_percent),
            ]);
            let hero = row.strategy == Placement::Hash10 && row.place == Place::Envoy;
            TableRow { emphasis: if hero { Emphasis::Hero } else { Emphasis::Normal }, ..cells }
        };
        Table {
            head: head.map(str::to_owned).to_vec(),
            rows: self.rows.iter().map(cells).collect(),
        }
    }

    #[must_use]
    pub fn scans_table(&self) -> Table {
        let head = [
            "buckets",
            "keys",
            "scans at a time",
            "requests",
            "servers",
            "slot ms",
            "by the model",
            "mean ms",
            "p99",
            "scans/s",
            "most by the model",
        ];
        let cells = |row: &Scans| {
            TableRow::new([
                row.layout.clone(),
                row.length.to_string(),
                row.scanners.to_string(),
                format!("{:.2}", row.requests_a_scan),
                format!("{:.2}", row.servers_a_scan),
                format!("{:.1}", row.work_ms_a_scan),
                format!("{:.1}", row.model_work_ms),
                format!("{:.1}", row.mean_ms),
                format!("{:.1}", row.p99_ms),
                grouped(row.scans_per_s, 0),
                grouped(row.model_scans_per_s, 0),
            ])
        };
        Table {
            head: head.map(str::to_owned).to_vec(),
            rows: self.scans.iter().map(cells).collect(),
        }
    }

    fn paragraphs(&self) -> Vec<String> {
        let mut paragraphs = Vec::new();
        let rps = |strategy, place, servers| find(&self.rows, strategy, place, servers);
        let largest = self.setting.plan.envoy_servers.iter().copied().max().unwrap_or(0);
        let pair = rps(Placement::Range, Place::Envoy, largest).zip(rps(
            Placement::Hash10,
            Place::Envoy,
            largest,
        ));
        if let Some((range, hash)) = pair {
            paragraphs.push(format!(
                "On {largest} real servers ranges carry {} writes a second, all of them at one server, and ten buckets {}: \
                 {:.1} times as much.",
                grouped(range.rps.median, 0),
                grouped(hash.rps.median, 0),
                hash.rps.median / range.rps.median,
            ));
        }
        paragraphs.push(PUBLISHED.to_owned());
        paragraphs
    }
}

const ASKS: &str = "New keys that count up are written, at random times. What is the highest rate with a mean latency under \
                    10 ms, as servers are added: with keys in ranges, so that all new ones belong to the last server, and with \
                    a hash of the key modulo a number of buckets in front of it?";
const SCANS: &str = "A scan asks for keys that follow each other. In ranges they lie at one server; with buckets every bucket \
                     must be asked, since any may hold some of them, and the client puts them in order. Each request finds its \
                     first key, which takes a write's time, and then takes a time for each key.";
const PUBLISHED: &str = "Published for a range-partitioned database with a hash-sharded index of ten buckets: linear growth \
                         over 5, 10 and 20 nodes. Its buckets split and move as any range does. Here `hash_10` does the same, since \
                         the filter lends a hot bucket as many servers as its load asks for; with one owner a bucket \
                         (`hash_10_one_owner`, by `pin`), ten buckets use ten servers and no more, and `hash_4n_one_owner` has \
                         four a server.";

fn place_word(place: Place) -> &'static str {
    match place {
        Place::Envoy => "Envoy",
        Place::Simulator => "simulator",
    }
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
        row.growth = half.map(|half| row.rps.median / half.rps.median);
    }
    rows
}

fn row((place, strategy, servers): (Place, Placement, usize), highest: &[Highest]) -> Option<Row> {
    let own = || {
        highest
            .iter()
            .filter(move |one| (one.place, one.strategy, one.servers) == (place, strategy, servers))
    };
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
    let out_of_buckets = row.strategy == Placement::Hash10OneOwner
        && row.servers > super::placement::PUBLISHED_BUCKETS as usize;
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
            place_word(row.place),
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

/// Made anew from the raw figures in `folder`.
pub fn again(folder: &Path) -> Result<Outcome, ArtefactError> {
    let (setting, measured) = raw::read(folder)?;
    let outcome = Outcome::of(setting, &measured);
    outcome.write(folder)?;
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn highest(strategy: Placement, servers: usize, repeat: u32, rps: f64) -> Highest {
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
