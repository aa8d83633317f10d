//! The PNGs: size, contents, text without installed fonts, and refusals.

use std::error::Error;

use resvg::tiny_skia::Pixmap;
use rudolph_charts::{Bar, BarChart, Chart, ChartError, png};

fn drawn(svg: &str, scale: f32) -> Result<Pixmap, Box<dyn Error>> {
    Ok(Pixmap::decode_png(&png(svg, scale)?)?)
}

fn one_bar() -> String {
    BarChart { bars: vec![Bar::new("a", 1.0)], ..BarChart::default() }.svg()
}

fn attribute(svg: &str, name: &str) -> f32 {
    let rest = svg.split(&format!(" {name}=\"")).nth(1).unwrap_or_default();
    rest.split('"').next().unwrap_or_default().parse().unwrap_or(f32::NAN)
}

/// Dark pixels in the rows of the title.
fn title_ink(picture: &Pixmap) -> usize {
    let pixels = picture.pixels().iter().take(720 * 36);
    pixels.filter(|pixel| pixel.red() < 128 && pixel.alpha() == 255).count()
}

#[test]
fn the_size_is_the_charts_own_times_the_scale() {
    let svg = one_bar();
    for scale in [0.5, 1.0, 2.0] {
        let picture = drawn(&svg, scale).unwrap();
        assert_eq!(picture.width(), (attribute(&svg, "width") * scale).round() as u32);
        assert_eq!(picture.height(), (attribute(&svg, "height") * scale).round() as u32);
    }
}

#[test]
fn text_is_drawn_with_the_bundled_font() {
    let svg = BarChart { title: "Spread serves more".into(), ..BarChart::default() }.svg();
    let ink = title_ink(&drawn(&svg, 1.0).unwrap());
    assert!(ink > 500, "{ink}");
    let without = svg.replace(">Spread serves more</text>", "></text>");
    assert_eq!(title_ink(&drawn(&without, 1.0).unwrap()), 0);
}

#[test]
fn the_background_is_white_and_bars_have_colour() {
    let picture = drawn(&one_bar(), 1.0).unwrap();
    let corner = picture.pixel(0, 0).unwrap();
    assert_eq!((corner.red(), corner.green(), corner.blue(), corner.alpha()), (255, 255, 255, 255));
    let coloured = picture.pixels().iter().filter(|pixel| pixel.red() == 0xa3).count();
    assert!(coloured > 5_000, "{coloured}");
}

#[test]
fn the_same_chart_gives_the_same_bytes() {
    let svg = one_bar();
    assert_eq!(png(&svg, 1.0).unwrap(), png(&svg, 1.0).unwrap());
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let svg = BarChart::default().svg();
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(matches!(png(&svg, scale), Err(ChartError::Scale { .. })), "{scale}");
    }
    assert!(matches!(png(&svg, 1_000.0), Err(ChartError::Size { .. })));
    assert!(matches!(png("no svg", 1.0), Err(ChartError::Svg { .. })));
}

#[test]
fn refusals_say_what_is_allowed() {
    let error = png(&BarChart::default().svg(), -2.0).unwrap_err();
    assert_eq!(error.to_string(), "scale -2 is not usable: a positive number is needed");
}
