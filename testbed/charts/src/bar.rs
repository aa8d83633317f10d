//! Horizontal bars with their values, for a comparison of one figure.

use crate::axis::{Axis, Ruler};
use crate::bar_plan::{Plan, draw_levels, levels_height};
use crate::chart::Chart;
use crate::heading::{EDGE, Emphasis, Heading, LABEL_SIZE, NO_DATA, SUBTITLE_SIZE, TICK_SIZE};
use crate::marks::Level;
use crate::number::{NO_VALUE, common_decimals, grouped_or_small};
use crate::palette::{ACCENT, Ink};
use crate::pen::{Anchor, Font, Stroke};
use crate::svg::{NOTE_DISTANCE, Svg};
use crate::text::{self, Weight};
use crate::ticks::Ends;

/// One bar of a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    pub label: String,
    pub value: f64,
    /// The least over repeats. `NaN`, or equal to `high`: nothing is drawn.
    pub low: f64,
    /// The most over repeats.
    pub high: f64,
    pub emphasis: Emphasis,
    /// Printed after the value. May be empty.
    pub note: String,
}

impl Bar {
    /// A plain bar without a spread.
    #[must_use]
    pub fn new(label: impl Into<String>, value: f64) -> Self {
        Bar { label: label.into(), value, low: f64::NAN, high: f64::NAN, ..Bar::default() }
    }
}

/// Horizontal bars from zero, each with its value at its end, in the order given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarChart {
    pub title: String,
    pub subtitle: String,
    /// What the bars measure and in which unit.
    pub axis: String,
    pub bars: Vec<Bar>,
    /// Values to compare with, marked by vertical lines.
    pub levels: Vec<Level>,
    pub lower_is_better: bool,
}

/// Shares of the picture.
const WIDEST_LABEL: f64 = 0.36;
const WIDEST_NOTE: f64 = 0.28;
const VALUE_DISTANCE: f64 = 7.0;

impl Chart for BarChart {
    fn svg_of_width(&self, width: f64) -> String {
        let heading = Heading::new(&self.title, &self.subtitle, width);
        let mut plan = self.plan(&heading);
        let labels = plan.level_labels(&self.levels);
        plan.top += levels_height(&labels);
        let bottom = plan.top + plan.row * self.bars.len().max(1) as f64 + 4.0;

        let mut svg = Svg::new(heading.width, bottom + 40.0 + EDGE, &self.title);
        heading.draw(&mut svg);
        self.draw_axis(&mut svg, &plan, bottom);
        let middle = |index: usize| plan.top + plan.row * (index as f64 + 0.5);
        for (index, bar) in self.bars.iter().enumerate() {
            draw_bar(&mut svg, &plan, bar, middle(index));
        }
        draw_levels(&mut svg, &plan, &labels, bottom);
        for (index, bar) in self.bars.iter().enumerate() {
            draw_words(&mut svg, &plan, bar, middle(index));
        }
        if self.bars.is_empty() {
            let place = (plan.left, middle(0) + 4.5);
            svg.text(Ink::Muted, place, Font::regular(LABEL_SIZE), NO_DATA);
        }
        svg.finish()
    }
}

impl BarChart {
    fn plan(&self, heading: &Heading) -> Plan {
        let axis = Axis::from_zero("");
        let spread = self.bars.iter().flat_map(|bar| [bar.value, bar.low, bar.high]);
        let values = spread.chain(self.levels.iter().map(|level| level.at));
        let ticks = if heading.width < 500.0 { 3 } else { 5 };
        let ruler = Ruler::new(&axis, values, Ends::AtValues, ticks);
        let decimals = common_decimals(self.bars.iter().map(|bar| bar.value));
        let label_width =
            widest(self.bars.iter().map(label_width)).min(heading.width * WIDEST_LABEL);
        let value_width = widest(self.bars.iter().map(|bar| {
            let note = text::width(&note_text(bar, heading.width), TICK_SIZE, Weight::Regular);
            text::width(&value_text(bar, decimals), LABEL_SIZE, Weight::Bold) + NOTE_DISTANCE + note
        }));
        Plan {
            width: heading.width,
            label_width,
            ruler,
            left: EDGE + label_width + 10.0,
            right: heading.width - EDGE - value_width - VALUE_DISTANCE,
            top: heading.bottom() + 12.0,
            row: if self.bars.len() > 15 { 22.0 } else { 27.0 },
            decimals,
        }
    }

    fn draw_axis(&self, svg: &mut Svg, plan: &Plan, bottom: f64) {
        let mut free_from = f64::NEG_INFINITY;
        for tick in &plan.ruler.ticks {
            let Some(at) = plan.across(tick.at) else { continue };
            svg.line(Ink::Grid, (at, plan.top), (at, bottom), Stroke::thin());
            let half = text::width(&tick.label, TICK_SIZE, Weight::Regular) / 2.0;
            if at - half >= free_from {
                let font = Font::regular(TICK_SIZE).anchored(Anchor::Middle);
                svg.text(Ink::Muted, (at, bottom + 15.0), font, &tick.label);
                free_from = at + half + 8.0;
            }
        }
        let better = if self.lower_is_better { "lower is better" } else { "higher is better" };
        let label = if self.axis.is_empty() {
            better.to_owned()
        } else {
            format!("{} ({better})", self.axis)
        };
        let label = text::fit(&label, TICK_SIZE, Weight::Regular, plan.width - 2.0 * EDGE);
        let width = text::width(&label, TICK_SIZE, Weight::Regular);
        let left = plan.left.min(plan.width - EDGE - width).max(EDGE);
        svg.text(Ink::Muted, (left, bottom + 36.0), Font::regular(TICK_SIZE), &label);
    }
}

fn draw_bar(svg: &mut Svg, plan: &Plan, bar: &Bar, middle: f64) {
    let zero = plan.zero();
    if let Some(at) = plan.across(bar.value) {
        let thickness = plan.row - 9.0;
        let corner = (zero.min(at), middle - thickness / 2.0);
        let size = ((at - zero).abs().max(0.8), thickness);
        svg.bar(look(bar.emphasis).0, corner, size, &tooltip(bar, plan.decimals));
    }
    if let Some((low, high)) = plan.whisker(bar) {
        draw_whisker(svg, low, high, middle);
    }
    let half = plan.row / 2.0;
    svg.line(Ink::Axis, (zero, middle - half), (zero, middle + half), Stroke::thin());
}

/// The bar's label before it, and its value and note after it.
fn draw_words(svg: &mut Svg, plan: &Plan, bar: &Bar, middle: f64) {
    let (_, ink, font) = look(bar.emphasis);
    let baseline = middle + 4.5;
    let label = text::fit_name(&bar.label, LABEL_SIZE, font.weight, plan.label_width);
    svg.text(ink, (plan.left - 10.0, baseline), font.anchored(Anchor::End), &label);

    let value = value_text(bar, plan.decimals);
    let start = plan.end(bar) + VALUE_DISTANCE;
    let note = note_text(bar, plan.width);
    svg.text_with_note(ink, (start, baseline), font, [&value, &note]);
}

/// The ends of what repeats gave, over the bar.
fn draw_whisker(svg: &mut Svg, low: f64, high: f64, middle: f64) {
    svg.line(Ink::Text, (low, middle), (high, middle), Stroke::thin());
    for end in [low, high] {
        svg.line(Ink::Text, (end, middle - 3.5), (end, middle + 3.5), Stroke::thin());
    }
}

fn look(emphasis: Emphasis) -> (Ink, Ink, Font) {
    let accent = Ink::Series(ACCENT);
    match emphasis {
        Emphasis::Hero => (accent, accent, Font::bold(LABEL_SIZE)),
        Emphasis::Normal => (Ink::Bar, Ink::Text, Font::regular(LABEL_SIZE)),
        Emphasis::Faint => (Ink::FaintBar, Ink::Muted, Font::regular(SUBTITLE_SIZE - 0.5)),
    }
}

fn label_width(bar: &Bar) -> f64 {
    text::width(&bar.label, LABEL_SIZE, look(bar.emphasis).2.weight)
}

fn value_text(bar: &Bar, decimals: usize) -> String {
    if bar.value.is_finite() { grouped_or_small(bar.value, decimals) } else { NO_VALUE.to_owned() }
}

fn note_text(bar: &Bar, width: f64) -> String {
    text::fit(&bar.note, TICK_SIZE, Weight::Regular, width * WIDEST_NOTE)
}

fn tooltip(bar: &Bar, decimals: usize) -> String {
    let mut out = format!("{}: {}", bar.label, value_text(bar, decimals));
    if bar.low.is_finite() && bar.high.is_finite() && bar.low != bar.high {
        let (low, high) =
            (grouped_or_small(bar.low, decimals), grouped_or_small(bar.high, decimals));
        out.push_str(&format!(" ({low} to {high})"));
    }
    out
}

fn widest(widths: impl Iterator<Item = f64>) -> f64 {
    widths.fold(0.0, f64::max)
}
