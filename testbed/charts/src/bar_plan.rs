//! Where the bars of a chart and its reference lines are.

use crate::axis::Ruler;
use crate::bar::Bar;
use crate::heading::{EDGE, TICK_SIZE};
use crate::labels::rows;
use crate::marks::{Level, MOST_ROWS};
use crate::palette::Ink;
use crate::pen::{Font, Stroke};
use crate::svg::Svg;
use crate::text::{self, Weight};

const LEVEL_ROW: f64 = 15.0;

/// Where the bars are.
pub(crate) struct Plan {
    pub(crate) width: f64,
    pub(crate) label_width: f64,
    pub(crate) ruler: Ruler,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) row: f64,
    pub(crate) decimals: usize,
}

impl Plan {
    pub(crate) fn across(&self, value: f64) -> Option<f64> {
        self.ruler.share(value).map(|share| self.left + share * (self.right - self.left))
    }

    pub(crate) fn zero(&self) -> f64 {
        self.across(0.0).unwrap_or(self.left)
    }

    /// Both ends of the spread, if it can be seen.
    pub(crate) fn whisker(&self, bar: &Bar) -> Option<(f64, f64)> {
        let (low, high) = (self.across(bar.low)?, self.across(bar.high)?);
        ((high - low).abs() > 0.5).then(|| (low.min(high), low.max(high)))
    }

    /// The right end of all that is drawn for the bar.
    pub(crate) fn end(&self, bar: &Bar) -> f64 {
        let value = self.across(bar.value).unwrap_or(self.left);
        let high = self.whisker(bar).map_or(self.left, |(_, high)| high);
        self.zero().max(value).max(high)
    }

    /// The labels of reference lines, above the bars, in rows.
    pub(crate) fn level_labels(&self, levels: &[Level]) -> Vec<LevelLabel> {
        let mut labels: Vec<LevelLabel> = levels
            .iter()
            .filter_map(|level| {
                let at = self.across(level.at)?;
                let text = text::fit(&level.label, TICK_SIZE, Weight::Regular, self.width / 2.0);
                let width = text::width(&text, TICK_SIZE, Weight::Regular);
                let from = (at - width / 2.0).min(self.width - EDGE - width).max(EDGE);
                Some(LevelLabel { at, from, width, text, row: 0 })
            })
            .collect();
        labels.sort_by(|one, other| one.at.total_cmp(&other.at));
        let intervals: Vec<(f64, f64)> =
            labels.iter().map(|label| (label.from, label.from + label.width)).collect();
        for (label, row) in labels.iter_mut().zip(rows(&intervals, 6.0)) {
            label.row = row;
        }
        labels.retain(|label| label.row < MOST_ROWS);
        labels
    }
}

/// The label of a reference line.
pub(crate) struct LevelLabel {
    at: f64,
    from: f64,
    width: f64,
    text: String,
    row: usize,
}

/// How much room the labels take above the bars.
pub(crate) fn levels_height(labels: &[LevelLabel]) -> f64 {
    labels.iter().map(|label| (label.row + 1) as f64 * LEVEL_ROW).fold(0.0, f64::max)
}

pub(crate) fn draw_levels(svg: &mut Svg, plan: &Plan, labels: &[LevelLabel], bottom: f64) {
    let baseline = |label: &LevelLabel| plan.top - 6.0 - LEVEL_ROW * label.row as f64;
    for label in labels {
        let top = baseline(label) + 3.0;
        svg.line(Ink::Text, (label.at, top), (label.at, bottom), Stroke::dashed());
    }
    for label in labels {
        let font = Font::regular(TICK_SIZE).over_lines();
        svg.text(Ink::Text, (label.from, baseline(label)), font, &label.text);
    }
}
