use std::fmt;

use crate::chooser::WAYS;
use crate::measure::Cost;

/// Costs by number of servers.
#[derive(Debug, Default)]
pub(crate) struct Report(Vec<(usize, Vec<Cost>)>);

impl Report {
    pub(crate) fn add(&mut self, servers: usize, costs: Vec<Cost>) {
        self.0.push((servers, costs));
    }

    fn table(
        &self,
        out: &mut fmt::Formatter<'_>,
        title: &str,
        value: impl Fn(&Cost) -> f64,
        decimals: usize,
    ) -> fmt::Result {
        write!(out, "\n{title:<28}")?;
        self.0.iter().try_for_each(|(servers, _)| write!(out, "{servers:>10}"))?;
        writeln!(out)?;
        for (place, way) in WAYS.iter().enumerate() {
            write!(out, "{:<28}", way.name)?;
            for (_, costs) in &self.0 {
                write!(out, "{:>10.decimals$}", value(&costs[place]))?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// The rival that was fastest, but for those that look up an array: Maglev's does, as ours does.
    fn fastest_rival(costs: &[Cost]) -> Option<(&'static str, f64)> {
        let rivals = WAYS.iter().zip(costs);
        let rivals = rivals.filter(|(way, _)| {
            !["array", "maglev"].contains(&way.name) && !way.name.starts_with("ours")
        });
        let costs = rivals.map(|(way, cost)| (way.name, cost.choose_ns));
        costs.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table(out, "choosing, ns, among servers", |cost| cost.choose_ns, 1)?;
        self.table(out, "memory, KiB", |cost| cost.bytes as f64 / 1024.0, 1)?;
        self.table(out, "rebuild, us", |cost| cost.rebuild_us, 0)?;
        writeln!(out)?;
        for (servers, costs) in &self.0 {
            if let Some((name, rival)) = Self::fastest_rival(costs) {
                let ratio = costs[0].choose_ns / rival;
                writeln!(
                    out,
                    "among {servers}: ours takes {ratio:.2} of the time of {name}, the fastest that looks up no array"
                )?;
            }
        }
        for (servers, costs) in &self.0 {
            for (way, cost) in WAYS.iter().zip(costs) {
                writeln!(out, "figure choice_ns_{}_{servers} {:.2}", way.name, cost.choose_ns)?;
            }
        }
        if let (Some((_, few)), Some((_, many))) = (self.0.first(), self.0.last()) {
            let growth = many[0].choose_ns / few[0].choose_ns;
            writeln!(out, "figure choice_ours_5000_over_10 {growth:.3}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_rival_is_neither_ours_nor_an_array() {
        let cost = |choose_ns| Cost { choose_ns, bytes: 1, rebuild_us: 1.0 };
        let costs: Vec<Cost> =
            [1.0, 2.0, 3.0, 9.0, 7.0, 8.0, 6.0, 10.0].into_iter().map(cost).collect();
        assert_eq!(Report::fastest_rival(&costs), Some(("ketama", 6.0)));
        let mut report = Report::default();
        report.add(10, costs);
        let text = report.to_string();
        assert!(
            text.contains("among 10: ours takes 0.17 of the time of ketama, the fastest"),
            "{text}"
        );
        assert!(text.contains("figure choice_ns_scoring_10 10.00"), "{text}");
    }
}
