//! What line and scatter charts share: axes and grid, with the plot's area between them.

use crate::axis::{Axis, Ruler};
use crate::heading::{EDGE, Heading, NO_DATA, TICK_SIZE, TITLE_SIZE};
use crate::palette::Ink;
use crate::pen::{Anchor, Font, Stroke};
use crate::svg::Svg;
use crate::text::{self, Weight};
use crate::ticks::Ends;

/// The plot's area with its two rulers.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) width: f64,
    pub(crate) x: Ruler,
    pub(crate) y: Ruler,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    y_label_baseline: f64,
}

const TICK_GAP: f64 = 8.0;

impl Frame {
    /// Lays the plot out below the heading, with `right_margin` kept for labels.
    pub(crate) fn new(
        heading: &Heading,
        (x, y): (Ruler, Ruler),
        right_margin: f64,
        height: f64,
    ) -> Self {
        let tick_width = y
            .ticks
            .iter()
            .map(|tick| text::width(&tick.label, TICK_SIZE, Weight::Regular))
            .fold(0.0, f64::max);
        let y_label_baseline = heading.bottom() + 20.0;
        let top = y_label_baseline + 15.0;
        Frame {
            x,
            y,
            left: EDGE + tick_width + TICK_GAP,
            right: heading.width - right_margin,
            width: heading.width,
            top,
            bottom: top + height,
            y_label_baseline,
        }
    }

    /// The picture's height with tick labels and the label of the x axis.
    pub(crate) fn picture_height(&self, x: &Axis) -> f64 {
        let label = if x.label.is_empty() { 0.0 } else { 18.0 };
        self.bottom + 22.0 + label + EDGE
    }

    pub(crate) fn across(&self, value: f64) -> Option<f64> {
        self.x.share(value).map(|share| self.left + share * (self.right - self.left))
    }

    pub(crate) fn up(&self, value: f64) -> Option<f64> {
        self.y.share(value).map(|share| self.bottom - share * (self.bottom - self.top))
    }

    pub(crate) fn point(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.across(x)?, self.up(y)?))
    }

    pub(crate) fn draw(&self, svg: &mut Svg, x: &Axis, y: &Axis) {
        for tick in &self.y.ticks {
            let Some(at) = self.up(tick.at) else { continue };
            svg.line(Ink::Grid, (self.left, at), (self.right, at), Stroke::thin());
            let place = (self.left - TICK_GAP, at + 4.0);
            svg.text(
                Ink::Muted,
                place,
                Font::regular(TICK_SIZE).anchored(Anchor::End),
                &tick.label,
            );
        }
        svg.line(Ink::Axis, (self.left, self.bottom), (self.right, self.bottom), Stroke::thin());
        self.draw_x_ticks(svg);
        let room = self.width - 2.0 * EDGE;
        let label = text::fit(&y.label, TICK_SIZE, Weight::Regular, room);
        svg.text(Ink::Muted, (EDGE, self.y_label_baseline), Font::regular(TICK_SIZE), &label);
        let label = text::fit(&x.label, TICK_SIZE, Weight::Regular, room);
        let right = text::width(&label, TICK_SIZE, Weight::Regular) + EDGE;
        let place = (self.right.max(right), self.bottom + 37.0);
        svg.text(Ink::Muted, place, Font::regular(TICK_SIZE).anchored(Anchor::End), &label);
    }

    fn draw_x_ticks(&self, svg: &mut Svg) {
        let mut free_from = f64::NEG_INFINITY;
        for tick in &self.x.ticks {
            let Some(at) = self.across(tick.at) else { continue };
            svg.line(Ink::Axis, (at, self.bottom), (at, self.bottom + 4.0), Stroke::thin());
            let half = text::width(&tick.label, TICK_SIZE, Weight::Regular) / 2.0;
            if at - half >= free_from && at - half >= 0.0 && at + half <= self.width {
                let font = Font::regular(TICK_SIZE).anchored(Anchor::Middle);
                svg.text(Ink::Muted, (at, self.bottom + 18.0), font, &tick.label);
                free_from = at + half + 6.0;
            }
        }
    }

    /// Says that the plot is empty, and not broken.
    pub(crate) fn draw_no_data(&self, svg: &mut Svg) {
        let middle = ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0);
        let font = Font::regular(TITLE_SIZE).anchored(Anchor::Middle).over_lines();
        svg.text(Ink::Muted, middle, font, NO_DATA);
    }

    /// Lower by so much, for what stands above the plot.
    pub(crate) fn lowered(self, by: f64) -> Self {
        Frame { top: self.top + by, bottom: self.bottom + by, ..self }
    }
}

/// Rulers of a plot: the x axis ends at its values, the y axis at round numbers.
pub(crate) fn rulers(
    (x, xs): (&Axis, impl Iterator<Item = f64>),
    (y, ys): (&Axis, impl Iterator<Item = f64>),
    (x_ends, width): (Ends, f64),
) -> (Ruler, Ruler) {
    let x_ticks = if width < 500.0 { 5 } else { 7 };
    (Ruler::new(x, xs, x_ends, x_ticks), Ruler::new(y, ys, Ends::Round, 5))
}
