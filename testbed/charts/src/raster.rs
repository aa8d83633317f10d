//! SVG to PNG, with a bundled font: nothing needs to be installed.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// Why there is no PNG.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChartError {
    #[error("scale {scale} is not usable: a positive number is needed")]
    Scale { scale: f32 },
    #[error(
        "a PNG of {width} by {height} pixels is too large: at most {MOST_PIXELS} pixels in all"
    )]
    Size { width: u64, height: u64 },
    #[error("not an SVG that can be drawn: {reason}")]
    Svg { reason: String },
    #[error("the PNG could not be encoded: {reason}")]
    Encode { reason: String },
}

/// A picture's memory stays below 256 MiB.
const MOST_PIXELS: u64 = 64 * 1024 * 1024;

/// Draws the SVG as a PNG of its own size times `scale`, in its light colours.
///
/// # Errors
/// If the text is no SVG, or the scale or the resulting size is not usable.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, ChartError> {
    if !(scale.is_finite() && scale > 0.0) {
        return Err(ChartError::Scale { scale });
    }
    let tree = Tree::from_str(svg, &options())
        .map_err(|error| ChartError::Svg { reason: error.to_string() })?;
    let mut pixmap = canvas(tree.size().width(), tree.size().height(), scale)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| ChartError::Encode { reason: error.to_string() })
}

fn canvas(width: f32, height: f32, scale: f32) -> Result<Pixmap, ChartError> {
    // Casts of floats saturate, so that a size that is out of range is refused below.
    let width = (width * scale).round().max(1.0) as u64;
    let height = (height * scale).round().max(1.0) as u64;
    let refused = || ChartError::Size { width, height };
    if width.saturating_mul(height) > MOST_PIXELS {
        return Err(refused());
    }
    match (u32::try_from(width), u32::try_from(height)) {
        (Ok(wide), Ok(high)) => Pixmap::new(wide, high).ok_or_else(refused),
        _ => Err(refused()),
    }
}

pub(crate) fn options() -> Options<'static> {
    let mut fonts = fontdb::Database::new();
    for face in [ttf_noto_sans::REGULAR, ttf_noto_sans::BOLD] {
        fonts.load_font_source(fontdb::Source::Binary(Arc::new(face)));
    }
    Options { font_family: "Noto Sans".to_owned(), fontdb: Arc::new(fonts), ..Options::default() }
}
