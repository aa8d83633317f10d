use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Contender {
    Maglev,
    Spread,
    SpreadWithoutPage,
    Rotation,
}

impl Contender {
    pub(crate) const ALL: [Self; 4] =
        [Self::Maglev, Self::Spread, Self::SpreadWithoutPage, Self::Rotation];

    fn name(self) -> &'static str {
        match self {
            Self::Maglev => "maglev",
            Self::Spread => "spread",
            Self::SpreadWithoutPage => "spread, no page",
            Self::Rotation => "rotation",
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// CPU microseconds a request, a value a round, in the order of the rounds.
#[derive(Debug, Default)]
pub(crate) struct Figures(BTreeMap<Contender, Vec<f64>>);

impl Figures {
    pub(crate) fn add(&mut self, contender: Contender, micros: f64) {
        self.0.entry(contender).or_default().push(micros);
    }

    fn of(&self, contender: Contender) -> &[f64] {
        self.0.get(&contender).map_or(&[], Vec::as_slice)
    }

    /// Each round against the other in the same round.
    fn ratios(&self, contender: Contender, to: Contender) -> Vec<f64> {
        let baseline = self.of(to);
        self.of(contender).iter().zip(baseline).map(|(micros, base)| micros / base).collect()
    }
}

/// A table, and after it a line a figure for scripts.
impl fmt::Display for Figures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{:<16} {:>14} {:>14} {:>18}",
            "", "us a request", "over maglev", "lowest to highest"
        )?;
        for contender in Contender::ALL {
            let (micros, ratios) =
                (median(self.of(contender)), self.ratios(contender, Contender::Maglev));
            let (low, high) = extremes(&ratios);
            let span = format!("{low:.3} to {high:.3}");
            writeln!(out, "{contender:<16} {micros:>14.2} {:>14.3} {span:>18}", median(&ratios))?;
        }
        writeln!(out, "figure cpu_us_maglev {:.2}", median(self.of(Contender::Maglev)))?;
        for (name, contender, to) in [
            ("spread_over_maglev", Contender::Spread, Contender::Maglev),
            ("page_over_no_page", Contender::Spread, Contender::SpreadWithoutPage),
            ("rotation_over_maglev", Contender::Rotation, Contender::Maglev),
        ] {
            writeln!(out, "figure cpu_{name} {:.3}", median(&self.ratios(contender, to)))?;
        }
        Ok(())
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

fn extremes(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_compared_within_themselves() {
        let mut figures = Figures::default();
        // The machine is twice as slow in the second round: ratios do not see it.
        for (maglev, spread, without, rotation) in
            [(10.0, 11.0, 10.0, 10.5), (20.0, 22.0, 20.0, 21.0), (10.0, 12.0, 12.0, 10.5)]
        {
            figures.add(Contender::Maglev, maglev);
            figures.add(Contender::Spread, spread);
            figures.add(Contender::SpreadWithoutPage, without);
            figures.add(Contender::Rotation, rotation);
        }
        let text = figures.to_string();
        let figures: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("figure cpu_")).collect();
        let expected = [
            "us_maglev 10.00",
            "spread_over_maglev 1.100",
            "page_over_no_page 1.100",
            "rotation_over_maglev 1.050",
        ];
        assert_eq!(figures, expected);
        assert!(text.contains("1.100 to 1.200"), "{text}");
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }
}
