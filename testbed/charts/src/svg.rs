//! A small writer of SVG: the elements that the charts need, all with colours by class.

use std::fmt::Write as _;

use crate::escape::escape;
use crate::palette::{Ink, style_sheet};
use crate::pen::{Font, Stroke};

/// How the copy of a text is drawn that covers what lies below it.
const HALO: &str = "fill=\"currentColor\" stroke=\"currentColor\" stroke-width=\"4\" \
                    stroke-linejoin=\"round\" aria-hidden=\"true\"";

/// Between a text and the remark after it.
pub(crate) const NOTE_DISTANCE: f64 = 6.0;

/// A picture in the making.
#[derive(Debug)]
pub(crate) struct Svg {
    out: String,
}

const FONTS: &str = "Noto Sans, system-ui, Helvetica, Arial, sans-serif";

impl Svg {
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        let (width, height) = (coordinate(width), coordinate(height));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\" font-family=\"{FONTS}\" \
             font-size=\"12\">{}\n",
            escape(title),
            style_sheet()
        );
        let _ = writeln!(
            out,
            "<rect width=\"{width}\" height=\"{height}\"{} fill=\"currentColor\"/>",
            colour(Ink::Surface)
        );
        Svg { out }
    }

    pub(crate) fn line(&mut self, ink: Ink, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        let _ = writeln!(
            self.out,
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}{}/>",
            coordinate(from.0),
            coordinate(from.1),
            coordinate(to.0),
            coordinate(to.1),
            colour(ink),
            stroke.attributes()
        );
    }

    /// A line through each run of points; a run of one point is a dot.
    pub(crate) fn runs(&mut self, ink: Ink, runs: &[Vec<(f64, f64)>], stroke: Stroke, title: &str) {
        let _ = write!(self.out, "<g{}>{}", colour(ink), tooltip(title));
        for run in runs {
            if let [only] = run.as_slice() {
                let _ = write!(
                    self.out,
                    "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"currentColor\"/>",
                    coordinate(only.0),
                    coordinate(only.1),
                    coordinate(stroke.width.max(1.0) + 0.8)
                );
            } else {
                let _ = write!(
                    self.out,
                    "<path d=\"{}\" fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{}/>",
                    path(run),
                    stroke.attributes()
                );
            }
        }
        self.out.push_str("</g>\n");
    }

    pub(crate) fn area(&mut self, ink: Ink, outline: &[(f64, f64)], opacity: f64) {
        let _ = writeln!(
            self.out,
            "<path d=\"{}Z\"{} fill=\"currentColor\" fill-opacity=\"{}\"/>",
            path(outline),
            colour(ink),
            coordinate(opacity)
        );
    }

    pub(crate) fn bar(&mut self, ink: Ink, corner: (f64, f64), size: (f64, f64), title: &str) {
        let _ = writeln!(
            self.out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"1.5\"{} fill=\"currentColor\">{}</rect>",
            coordinate(corner.0),
            coordinate(corner.1),
            coordinate(size.0.max(0.0)),
            coordinate(size.1.max(0.0)),
            colour(ink),
            tooltip(title)
        );
    }

    pub(crate) fn dot(&mut self, ink: Ink, at: (f64, f64), radius: f64, title: &str) {
        let _ = writeln!(
            self.out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{} fill=\"currentColor\">{}</circle>",
            coordinate(at.0),
            coordinate(at.1),
            coordinate(radius),
            colour(ink),
            tooltip(title)
        );
    }

    pub(crate) fn text(&mut self, ink: Ink, at: (f64, f64), font: Font, text: &str) {
        if text.is_empty() {
            return;
        }
        let attributes = font.attributes();
        let place = format!(" x=\"{}\" y=\"{}\"", coordinate(at.0), coordinate(at.1));
        let words = escape(text);
        if font.halo {
            let _ = writeln!(
                self.out,
                "<text{place}{attributes}{} {HALO}>{words}</text>",
                colour(Ink::Surface)
            );
        }
        let _ = writeln!(
            self.out,
            "<text{place}{attributes}{} fill=\"currentColor\">{words}</text>",
            colour(ink)
        );
    }

    /// A text with a muted remark after it, wherever the viewer's font makes it end.
    pub(crate) fn text_with_note(
        &mut self,
        ink: Ink,
        at: (f64, f64),
        font: Font,
        words: [&str; 2],
    ) {
        let [text, note] = words;
        let attributes = font.attributes();
        let place = format!(" x=\"{}\" y=\"{}\"", coordinate(at.0), coordinate(at.1));
        let remark = |colour: &str| match note {
            "" => String::new(),
            note => format!(
                "<tspan dx=\"{}\" font-size=\"12\" font-weight=\"400\"{colour}>{}</tspan>",
                coordinate(NOTE_DISTANCE),
                escape(note)
            ),
        };
        let text = escape(text);
        let halo = format!("{} {HALO}", colour(Ink::Surface));
        let muted = format!("{} fill=\"currentColor\"", colour(Ink::Muted));
        let _ = writeln!(self.out, "<text{place}{attributes}{halo}>{text}{}</text>", remark(""));
        let ink = format!("{} fill=\"currentColor\"", colour(ink));
        let _ = writeln!(self.out, "<text{place}{attributes}{ink}>{text}{}</text>", remark(&muted));
    }

    pub(crate) fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }
}

fn colour(ink: Ink) -> String {
    format!(" class=\"{}\" color=\"{}\"", ink.class(), ink.light())
}

fn tooltip(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape(title)) }
}

fn path(points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    for (index, point) in points.iter().enumerate() {
        let verb = if index == 0 { 'M' } else { 'L' };
        let _ = write!(out, "{verb}{} {}", coordinate(point.0), coordinate(point.1));
    }
    out
}

/// A number as SVG takes it: at most two decimals, no needless zeros, 0 for what is no number.
pub(crate) fn coordinate(value: f64) -> String {
    let text = format!("{:.2}", if value.is_finite() { value } else { 0.0 });
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_always_numbers() {
        assert_eq!(coordinate(12.0), "12");
        assert_eq!(coordinate(100.0), "100");
        assert_eq!(coordinate(-0.001), "0");
        assert_eq!(coordinate(5.6789), "5.68");
        assert_eq!(coordinate(f64::NAN), "0");
    }

    #[test]
    fn a_text_is_escaped() {
        let mut svg = Svg::new(10.0, 10.0, "a & b");
        svg.text(Ink::Text, (0.0, 5.0), Font::regular(12.0), "<x>");
        let out = svg.finish();
        assert!(out.contains(">&lt;x&gt;</text>"));
        assert!(out.contains("aria-label=\"a &amp; b\""));
    }
}
