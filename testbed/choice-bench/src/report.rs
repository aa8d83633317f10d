use std::fmt;
use std::path::Path;

use rudolph_charts::{Axis, Chart, Emphasis, LineChart, Row, Series, Table};
use rudolph_experiments::artefacts::ArtefactError;
use rudolph_experiments::chapter::{Chapter, Part};

use crate::chooser::WAYS;
use crate::measure::Cost;

const PLOT: &str = "choosing";

/// Costs by number of servers.
#[derive(Debug, Default)]
pub(crate) struct Report(Vec<(usize, Vec<Cost>)>);

impl Report {
    pub(crate) fn add(&mut self, servers: usize, costs: Vec<Cost>) {
        self.0.push((servers, costs));
    }

    /// Writes the chapter and its plot into `folder`.
    pub(crate) fn write(
        &self,
        folder: &Path,
        quick: bool,
        origin: String,
    ) -> Result<(), ArtefactError> {
        let plot = (PLOT.to_owned(), self.plot());
        Chapter { parts: self.parts(), quick, origin }.write(folder, &[plot]).map(drop)
    }

    fn parts(&self) -> Vec<Part> {
        let part = |heading: &str, paragraph: &str, table| Part {
            heading: heading.to_owned(),
            paragraphs: vec![paragraph.to_owned()],
            table: Some(table),
            ..Part::default()
        };
        let first = Part {
            plots: vec![PLOT.to_owned()],
            notes: self.verdicts(),
            ..part(
                "Choosing a server",
                "What does it cost to find a key's server, among so many? Nanoseconds, medians over rounds in which all ways \
                 take turns on the same keys. `ours` finds the home, `ours_whole` is all that a request costs in the core, \
                 hot keys and counting included; `array` is a hash modulo the servers, the floor.",
                self.choosing(),
            )
        };
        vec![
            first,
            part("Choosing a server: memory", "KiB kept for it.", self.memory()),
            part(
                "Choosing a server: building anew",
                "Microseconds to build it after a change of the servers.",
                self.rebuilding(),
            ),
        ]
    }

    fn choosing(&self) -> Table {
        self.table("ns, among servers", |cost| format!("{:.1}", cost.choose_ns))
    }

    fn memory(&self) -> Table {
        self.table("KiB", |cost| format!("{:.1}", cost.bytes as f64 / 1024.0))
    }

    fn rebuilding(&self) -> Table {
        self.table("us", |cost| format!("{:.0}", cost.rebuild_us))
    }

    fn table(&self, title: &str, value: impl Fn(&Cost) -> String) -> Table {
        let head = self.0.iter().map(|(servers, _)| servers.to_string());
        let row = |(place, way): (usize, &crate::chooser::Way)| {
            let values = self.0.iter().map(|(_, costs)| value(&costs[place]));
            Row {
                emphasis: if is_ours(way.name) { Emphasis::Hero } else { Emphasis::Normal },
                ..Row::new(std::iter::once(way.name.to_owned()).chain(values))
            }
        };
        Table {
            head: std::iter::once(title.to_owned()).chain(head).collect(),
            rows: WAYS.iter().enumerate().map(row).collect(),
        }
    }

    fn plot(&self) -> String {
        let series = |(place, way): (usize, &crate::chooser::Way)| Series {
            name: way.name.to_owned(),
            points: (self.0.iter())
                .map(|(servers, costs)| (*servers as f64, costs[place].choose_ns))
                .collect(),
            band: Vec::new(),
            emphasis: match way.name {
                "ours" => Emphasis::Hero,
                "array" => Emphasis::Faint,
                _ => Emphasis::Normal,
            },
        };
        LineChart {
            title: "What finding a key's server costs".to_owned(),
            subtitle: "Medians, all ways in one run; ours is flat".to_owned(),
            x: Axis::log("servers"),
            y: Axis::log("ns"),
            series: WAYS.iter().enumerate().map(series).collect(),
            ..LineChart::default()
        }
        .svg()
    }

    /// The rival that was fastest, but for those that look up an array: Maglev's does, as ours does.
    fn fastest_rival(costs: &[Cost]) -> Option<(&'static str, f64)> {
        let rivals = WAYS.iter().zip(costs);
        let rivals = rivals
            .filter(|(way, _)| !["array", "maglev"].contains(&way.name) && !is_ours(way.name));
        let costs = rivals.map(|(way, cost)| (way.name, cost.choose_ns));
        costs.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn verdicts(&self) -> Vec<String> {
        let judged = self.0.iter().filter_map(|(servers, costs)| {
            let (name, rival) = Self::fastest_rival(costs)?;
            let ratio = costs[0].choose_ns / rival;
            let held = if ratio < 1.0 { "held" } else { "missed" };
            Some(format!(
                "{held}: among {servers}, ours takes {ratio:.2} of the time of {name}, the fastest that looks up no array"
            ))
        });
        let flat = self.growth().map(|growth| {
            format!("ours takes {growth:.2} of the time among most of that among fewest")
        });
        judged.chain(flat).collect()
    }

    fn growth(&self) -> Option<f64> {
        let ((_, few), (_, many)) = (self.0.first()?, self.0.last()?);
        Some(many[0].choose_ns / few[0].choose_ns)
    }
}

fn is_ours(name: &str) -> bool {
    name.starts_with("ours")
}

/// For a terminal, and after it a line a figure for scripts.
impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for table in [self.choosing(), self.memory(), self.rebuilding()] {
            writeln!(out, "{}", table.text())?;
        }
        self.verdicts().iter().try_for_each(|verdict| writeln!(out, "{verdict}"))?;
        for (servers, costs) in &self.0 {
            for (way, cost) in WAYS.iter().zip(costs) {
                writeln!(out, "figure choice_ns_{}_{servers} {:.2}", way.name, cost.choose_ns)?;
            }
        }
        match self.growth() {
            Some(growth) => writeln!(out, "figure choice_ours_5000_over_10 {growth:.3}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn report() -> Report {
        let cost = |choose_ns| Cost { choose_ns, bytes: 1, rebuild_us: 1.0 };
        let costs: Vec<Cost> =
            [1.0, 2.0, 3.0, 9.0, 7.0, 8.0, 6.0, 10.0].into_iter().map(cost).collect();
        let mut report = Report::default();
        report.add(10, costs.clone());
        report.add(100, costs);
        report
    }

    #[test]
    fn the_fastest_rival_is_neither_ours_nor_an_array() {
        let report = report();
        assert_eq!(Report::fastest_rival(&report.0[0].1), Some(("ketama", 6.0)));
        let text = report.to_string();
        assert!(text.contains("held: among 10, ours takes 0.17 of the time of ketama"), "{text}");
        assert!(text.contains("figure choice_ns_scoring_10 10.00"), "{text}");
    }

    #[test]
    fn the_page_gets_tables_and_a_plot() {
        let folder = std::env::temp_dir().join(format!("rudolph-choice-{}", std::process::id()));
        report().write(&folder, true, "here".to_owned()).unwrap();
        let text = fs::read_to_string(folder.join("table.md")).unwrap();
        for piece in ["A quick run", "# Choosing a server", "ketama", "memory", "building anew"] {
            assert!(text.contains(piece), "{piece:?} is not in {text}");
        }
        assert!(folder.join("choosing.svg").is_file() && folder.join("chapter.json").is_file());
        fs::remove_dir_all(&folder).unwrap();
    }
}
