//! What all charts can do.

use crate::heading::{WIDTH, figure};

/// A chart that can be drawn.
pub trait Chart {
    /// In another width than 720.
    #[must_use]
    fn svg_of_width(&self, width: f64) -> String;

    /// As a picture of its own.
    #[must_use]
    fn svg(&self) -> String {
        self.svg_of_width(WIDTH)
    }

    /// For a [`crate::Page`]: two pictures, of which phones show the narrow one.
    #[must_use]
    fn figure(&self) -> String {
        figure(|width| self.svg_of_width(width))
    }
}
