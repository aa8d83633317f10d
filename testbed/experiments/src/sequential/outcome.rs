//! What the raw figures add up to: rows of medians, expectations, a table and words.

use std::path::Path;

use rudolph_charts::{Emphasis, Row as TableRow, Section, Table, grouped};
use serde_json::{Value, json};

use super::{
    Measured, Place, Placement, Row, Scans, Setting, TITLE, plots,
    raw::{self, rounded},
    rows::{find, rows},
    verdicts::verdicts,
};
use crate::{
    artefacts::{ArtefactError, write_plots},
    expectation::Verdict,
    figures::Plot,
    raw::put,
};

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
        write_plots(folder, self.plots.iter().map(|plot| (&*plot.name, &*plot.svg)))
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
                row.place.word().to_owned(),
                row.servers.to_string(),
                grouped(row.rps.median, 0),
                grouped(row.rps.low, 0),
                grouped(row.rps.high, 0),
                row.growth
                    .filter(|growth| growth.is_finite())
                    .map_or("–".to_owned(), |growth| format!("{growth:.2}")),
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
        if let Some((range, hash)) = pair.filter(|(range, _)| range.rps.median > 0.0) {
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

/// Made anew from the raw figures in `folder`.
pub fn again(folder: &Path) -> Result<Outcome, ArtefactError> {
    let (setting, measured) = raw::read(folder)?;
    let outcome = Outcome::of(setting, &measured);
    outcome.write(folder)?;
    Ok(outcome)
}
