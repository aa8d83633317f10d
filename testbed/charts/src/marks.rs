//! Reference lines: moments across a plot and levels along it.

use crate::frame::Frame;
use crate::heading::{EDGE, TICK_SIZE};
use crate::labels::{push_apart, rows};
use crate::palette::Ink;
use crate::pen::{Font, Stroke};
use crate::svg::Svg;
use crate::text::{self, Weight};

/// A vertical line at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub at: f64,
    pub label: String,
}

/// A reference line at a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    pub at: f64,
    pub label: String,
}

const EVENT_ROW: f64 = 16.0;
/// Marks whose labels would need more rows are left out.
pub(crate) const MOST_ROWS: usize = 8;

impl Frame {
    /// Horizontal reference lines.
    pub(crate) fn draw_levels(&self, svg: &mut Svg, levels: &[Level]) {
        for at in levels.iter().filter_map(|level| self.up(level.at)) {
            svg.line(Ink::Muted, (self.left, at), (self.right, at), Stroke::dashed());
        }
    }

    /// The labels of the reference lines, above them, at the left.
    pub(crate) fn draw_level_labels(&self, svg: &mut Svg, levels: &[Level]) {
        let seen: Vec<(f64, &Level)> =
            levels.iter().filter_map(|level| Some((self.up(level.at)?, level))).collect();
        let wanted: Vec<f64> = seen.iter().map(|(at, _)| at - 5.0).collect();
        let baselines = push_apart(&wanted, 15.0, self.top + 8.0, self.bottom - 4.0);
        let room = self.right - self.left - 8.0;
        for ((_, level), baseline) in seen.into_iter().zip(baselines) {
            let label = text::fit(&level.label, TICK_SIZE, Weight::Regular, room);
            let font = Font::regular(TICK_SIZE).over_lines();
            svg.text(Ink::Muted, (self.left + 4.0, baseline), font, &label);
        }
    }

    /// Vertical lines with their labels above the plot, in rows.
    pub(crate) fn draw_events(&self, svg: &mut Svg, events: &[Event]) {
        let labels = self.event_labels(events);
        for label in &labels {
            let baseline = self.top - 5.0 - EVENT_ROW * label.row as f64;
            svg.line(
                Ink::Text,
                (label.at, baseline - 9.0),
                (label.at, self.bottom),
                Stroke::dashed(),
            );
        }
        for label in &labels {
            let baseline = self.top - 5.0 - EVENT_ROW * label.row as f64;
            let font = Font::regular(TICK_SIZE).over_lines();
            svg.text(Ink::Text, (label.from, baseline), font, &label.text);
        }
    }

    /// How much room the events' labels take above the plot.
    pub(crate) fn events_height(&self, events: &[Event]) -> f64 {
        let labels = self.event_labels(events);
        labels.iter().map(|label| (label.row + 1) as f64 * EVENT_ROW).fold(0.0, f64::max)
    }

    fn event_labels(&self, events: &[Event]) -> Vec<EventLabel> {
        let mut labels: Vec<EventLabel> = events
            .iter()
            .filter_map(|event| {
                let at = self.across(event.at)?;
                let text =
                    text::fit(&event.label, TICK_SIZE, Weight::Regular, self.width - 2.0 * EDGE);
                let width = text::width(&text, TICK_SIZE, Weight::Regular);
                let after = at + 5.0;
                let from =
                    if after + width <= self.width - EDGE { after } else { at - 5.0 - width };
                Some(EventLabel { at, from: from.max(EDGE), width, text, row: 0 })
            })
            .collect();
        labels.sort_by(|one, other| one.at.total_cmp(&other.at));
        // A label takes up its line's place too, as that crosses the rows below it.
        let intervals: Vec<(f64, f64)> = labels
            .iter()
            .rev()
            .map(|label| (label.from.min(label.at), (label.from + label.width).max(label.at)))
            .collect();
        // From the right, so that a label which reaches over a later line is above that line's end.
        for (label, row) in labels.iter_mut().rev().zip(rows(&intervals, 6.0)) {
            label.row = row;
        }
        labels.retain(|label| label.row < MOST_ROWS);
        labels
    }
}

struct EventLabel {
    at: f64,
    from: f64,
    width: f64,
    text: String,
    row: usize,
}
