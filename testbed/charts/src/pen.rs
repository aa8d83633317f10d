//! How lines are stroked and texts are set.

use std::fmt::Write as _;

use crate::svg::coordinate;
use crate::text::Weight;

/// Where a text's position is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a line is stroked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stroke {
    pub(crate) width: f64,
    pub(crate) dash: &'static str,
    pub(crate) opacity: f64,
}

impl Stroke {
    pub(crate) fn thin() -> Self {
        Stroke { width: 1.0, dash: "", opacity: 1.0 }
    }

    pub(crate) fn dashed() -> Self {
        Stroke { width: 1.0, dash: "4 3", opacity: 1.0 }
    }

    pub(crate) fn attributes(self) -> String {
        let mut out =
            format!(" stroke=\"currentColor\" stroke-width=\"{}\"", coordinate(self.width));
        if !self.dash.is_empty() {
            let _ = write!(out, " stroke-dasharray=\"{}\"", self.dash);
        }
        if self.opacity < 1.0 {
            let _ = write!(out, " stroke-opacity=\"{}\"", coordinate(self.opacity));
        }
        out
    }
}

/// How a text is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Font {
    pub(crate) size: f64,
    pub(crate) weight: Weight,
    pub(crate) anchor: Anchor,
    /// Whether what lies below is covered, so that the text is readable over lines.
    pub(crate) halo: bool,
}

impl Font {
    pub(crate) fn regular(size: f64) -> Self {
        Font { size, weight: Weight::Regular, anchor: Anchor::Start, halo: false }
    }

    pub(crate) fn bold(size: f64) -> Self {
        Font { weight: Weight::Bold, ..Font::regular(size) }
    }

    pub(crate) fn anchored(self, anchor: Anchor) -> Self {
        Font { anchor, ..self }
    }

    pub(crate) fn attributes(self) -> String {
        let mut out = format!(" font-size=\"{}\"", coordinate(self.size));
        if self.weight == Weight::Bold {
            out.push_str(" font-weight=\"700\"");
        }
        match self.anchor {
            Anchor::Start => {}
            Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
            Anchor::End => out.push_str(" text-anchor=\"end\""),
        }
        out
    }

    pub(crate) fn over_lines(self) -> Self {
        Font { halo: true, ..self }
    }
}
