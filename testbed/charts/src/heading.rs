//! What all charts share: sizes, emphasis, and the title with its subtitle.

use serde::{Deserialize, Serialize};

use crate::palette::Ink;
use crate::pen::Font;
use crate::svg::Svg;
use crate::text::{self, Weight};

/// Widths of a picture: on its own, and on a phone.
pub(crate) const WIDTH: f64 = 720.0;
pub(crate) const NARROW: f64 = 380.0;
const LEAST_WIDTH: f64 = 320.0;
const MOST_WIDTH: f64 = 4_000.0;
pub(crate) const TITLE_SIZE: f64 = 17.0;
pub(crate) const SUBTITLE_SIZE: f64 = 13.0;
pub(crate) const LABEL_SIZE: f64 = 12.5;
pub(crate) const TICK_SIZE: f64 = 12.0;
pub(crate) const EDGE: f64 = 14.0;
pub(crate) const NO_DATA: &str = "no data";

/// A picture for wide windows and one for phones, of which a [`crate::Page`] shows the one that fits.
pub(crate) fn figure(draw: impl Fn(f64) -> String) -> String {
    let (wide, narrow) = (draw(WIDTH), draw(NARROW));
    format!("<div class=\"wide\">{wide}</div><div class=\"narrow\">{narrow}</div>")
}

/// How much a series, bar, point or row stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Emphasis {
    /// What the chart is about: the accent colour.
    Hero,
    #[default]
    Normal,
    /// Context only.
    Faint,
}

/// Title and subtitle as lines, and how high they are together.
#[derive(Debug)]
pub(crate) struct Heading {
    pub(crate) width: f64,
    title: Vec<String>,
    subtitle: Vec<String>,
}

impl Heading {
    /// For a picture of this width, or the nearest that can be drawn.
    pub(crate) fn new(title: &str, subtitle: &str, width: f64) -> Self {
        let width = if width.is_finite() { width.clamp(LEAST_WIDTH, MOST_WIDTH) } else { WIDTH };
        // Browsers without the bundled font have a wider one at times.
        let room = (width - 2.0 * EDGE) * 0.95;
        Heading {
            width,
            title: text::wrap(title, TITLE_SIZE, Weight::Bold, room, 4),
            subtitle: text::wrap(subtitle, SUBTITLE_SIZE, Weight::Regular, room, 8),
        }
    }

    pub(crate) fn bottom(&self) -> f64 {
        EDGE + self.title.len() as f64 * 22.0 + self.subtitle.len() as f64 * 18.0
    }

    pub(crate) fn draw(&self, svg: &mut Svg) {
        let mut baseline = EDGE + 15.0;
        for line in &self.title {
            svg.text(Ink::Text, (EDGE, baseline), Font::bold(TITLE_SIZE), line);
            baseline += 22.0;
        }
        baseline -= 2.0;
        for line in &self.subtitle {
            svg.text(Ink::Muted, (EDGE, baseline), Font::regular(SUBTITLE_SIZE), line);
            baseline += 18.0;
        }
    }
}
