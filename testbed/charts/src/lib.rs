//! Charts and pages for the testbed's figures, as SVG, PNG, HTML, Markdown and text.
//!
//! Three charts, one table and one page:
//!
//! * [`LineChart`]: what changes with time or with a parameter. Each line is labelled at its end.
//! * [`BarChart`]: one figure of many strategies, with its spread over repeats.
//! * [`ScatterChart`]: two figures of many strategies, as hit rate against requests a second.
//! * [`Table`]: the numbers, for Markdown, HTML and a terminal.
//! * [`Page`]: sections of prose, charts and tables in one HTML file that loads nothing else.
//!
//! Every chart's `svg()` is a file of its own; `figure()` is the chart for a page, with a narrow picture for phones.
//! Both follow the reader's light or dark theme. [`png`] draws an SVG in its light colours, with a font that comes with the crate.
//!
//! The same input gives the same bytes. Values that cannot be drawn are left out, never an error: `NaN` and
//! infinities, and on a logarithmic axis what is not positive. A strategy has the same colour in every chart, by its
//! name; variants, as `maglev_bounded_150`, share their family's colour and differ by their dash.
//!
//! ```
//! use rudolph_charts::{Bar, BarChart, Chart, Emphasis, png};
//!
//! let chart = BarChart {
//!     title: "Spread serves 22% more requests than static hashing".into(),
//!     subtitle: "64 closed-loop clients, 5 servers".into(),
//!     axis: "requests/s".into(),
//!     bars: vec![
//!         Bar { emphasis: Emphasis::Hero, ..Bar::new("spread", 14_592.0) },
//!         Bar { low: 11_700.0, high: 12_100.0, ..Bar::new("static", 11_946.0) },
//!     ],
//!     ..BarChart::default()
//! };
//! let svg = chart.svg();
//! assert!(svg.contains("14,592"));
//! assert!(png(&svg, 2.0)?.starts_with(b"\x89PNG"));
//! # Ok::<(), rudolph_charts::ChartError>(())
//! ```

mod axis;
mod bar;
mod bar_plan;
mod chart;
mod escape;
mod frame;
mod heading;
mod labels;
mod line;
mod looks;
mod marks;
mod number;
mod page;
mod palette;
mod pen;
mod place;
#[cfg(test)]
mod random;
mod raster;
mod scatter;
mod svg;
mod table;
mod text;
mod ticks;

pub use axis::{Axis, Scale};
pub use bar::{Bar, BarChart};
pub use chart::Chart;
pub use heading::Emphasis;
pub use line::{LineChart, Series};
pub use marks::{Event, Level};
pub use number::{grouped, rounded};
pub use page::{Page, Section};
pub use raster::{ChartError, png};
pub use scatter::{Corner, Point, ScatterChart};
pub use table::{Row, Table};
