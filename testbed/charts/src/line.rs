//! Lines over a common axis, each labelled at its end.

use crate::axis::Axis;
use crate::chart::Chart;
use crate::frame::{Frame, rulers};
use crate::heading::{EDGE, Emphasis, Heading, LABEL_SIZE};
use crate::labels::push_apart;
use crate::looks::{Look, looks};
use crate::marks::{Event, Level};
use crate::pen::{Font, Stroke};
use crate::svg::Svg;
use crate::text::{self, Weight};
use crate::ticks::Ends;

/// One line of a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    pub name: String,
    /// x and y. What cannot be drawn, as `NaN`, is a gap in the line.
    pub points: Vec<(f64, f64)>,
    /// x, low and high of what surrounds the line. May be empty.
    pub band: Vec<(f64, f64, f64)>,
    pub emphasis: Emphasis,
}

/// Lines over a common axis, for what changes with time or with a parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineChart {
    pub title: String,
    pub subtitle: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Moments, marked by vertical lines.
    pub events: Vec<Event>,
    /// Values to compare with, marked by horizontal lines.
    pub levels: Vec<Level>,
}

const PLOT_HEIGHT: f64 = 300.0;
const LABEL_GAP: f64 = 15.0;
/// So many labels fit beside the plot; with more of them there is a legend.
const MOST_DIRECT_LABELS: usize = 20;
const WIDEST_LABEL: f64 = 190.0;
const LABEL_DISTANCE: f64 = 12.0;
const LEGEND_COLUMN: f64 = 175.0;
/// Labels beside the plot take at most this share of the picture.
const WIDEST_MARGIN: f64 = 0.34;
const LEGEND_ROW: f64 = 17.0;
const LEGEND_DISTANCE: f64 = 12.0;

impl Chart for LineChart {
    fn svg_of_width(&self, width: f64) -> String {
        let heading = Heading::new(&self.title, &self.subtitle, width);
        let lines = self.lines();
        let margin = label_margin(&lines);
        let direct = lines.len() <= MOST_DIRECT_LABELS && margin <= heading.width * WIDEST_MARGIN;
        let margin = if direct { margin } else { EDGE };
        let columns = (heading.width / LEGEND_COLUMN).floor() as usize;
        let frame = Frame::new(&heading, self.rulers(heading.width), margin, PLOT_HEIGHT);
        let above = frame.events_height(&self.events);
        let frame = frame.lowered(above);
        let legend = if direct { 0 } else { lines.len().div_ceil(columns) };
        let plot_bottom = frame.picture_height(&self.x);
        let height = match legend {
            0 => plot_bottom,
            rows => plot_bottom + LEGEND_DISTANCE + rows as f64 * LEGEND_ROW,
        };

        let mut svg = Svg::new(heading.width, height, &self.title);
        heading.draw(&mut svg);
        frame.draw(&mut svg, &self.x, &self.y);
        for line in &lines {
            line.draw_band(&mut svg, &frame);
        }
        frame.draw_levels(&mut svg, &self.levels);
        for line in &lines {
            line.draw(&mut svg, &frame);
        }
        frame.draw_level_labels(&mut svg, &self.levels);
        frame.draw_events(&mut svg, &self.events);
        if lines.iter().all(|line| line.end(&frame).is_none()) {
            frame.draw_no_data(&mut svg);
        }
        if direct {
            draw_labels(&mut svg, &frame, &lines);
        } else {
            draw_legend(&mut svg, (plot_bottom + LEGEND_DISTANCE, frame.width, columns), &lines);
        }
        svg.finish()
    }
}

impl LineChart {
    fn rulers(&self, width: f64) -> (crate::axis::Ruler, crate::axis::Ruler) {
        let points = || self.series.iter().flat_map(|series| series.points.iter().copied());
        let drawn = || points().filter(|&(x, y)| self.x.takes(x) && self.y.takes(y));
        let bands = || self.series.iter().flat_map(|series| series.band.iter().copied());
        let xs = drawn()
            .map(|(x, _)| x)
            .chain(bands().map(|(x, _, _)| x))
            .chain(self.events.iter().map(|event| event.at));
        let ys = drawn()
            .map(|(_, y)| y)
            .chain(bands().flat_map(|(_, low, high)| [low, high]))
            .chain(self.levels.iter().map(|level| level.at));
        rulers((&self.x, xs), (&self.y, ys), (Ends::AtValues, width))
    }

    /// The series in the order in which they are drawn: the hero last, over all others.
    fn lines(&self) -> Vec<Line<'_>> {
        let names: Vec<(&str, bool)> = self
            .series
            .iter()
            .map(|series| (series.name.as_str(), series.emphasis == Emphasis::Hero))
            .collect();
        let mut lines: Vec<Line<'_>> = self
            .series
            .iter()
            .zip(looks(&names))
            .map(|(series, look)| Line { series, look })
            .collect();
        // Reversed, as the first of equals is the most important and is drawn over the others.
        lines.reverse();
        lines.sort_by_key(|line| rank(line.series.emphasis));
        lines
    }
}

/// Faint things are drawn first.
pub(crate) fn rank(emphasis: Emphasis) -> u8 {
    match emphasis {
        Emphasis::Faint => 0,
        Emphasis::Normal => 1,
        Emphasis::Hero => 2,
    }
}

/// Where something is in the picture.
type Place = (f64, f64);

struct Line<'a> {
    series: &'a Series,
    look: Look,
}

impl Line<'_> {
    fn stroke(&self) -> Stroke {
        let (width, opacity) = match self.series.emphasis {
            Emphasis::Hero => (2.8, 1.0),
            Emphasis::Normal => (1.7, 1.0),
            Emphasis::Faint => (1.2, 0.5),
        };
        Stroke { width, dash: self.look.dash, opacity }
    }

    fn label_font(&self) -> Font {
        match self.series.emphasis {
            Emphasis::Hero => Font::bold(LABEL_SIZE),
            Emphasis::Normal | Emphasis::Faint => Font::regular(LABEL_SIZE),
        }
    }

    fn label(&self) -> String {
        text::fit_name(&self.series.name, LABEL_SIZE, self.label_font().weight, WIDEST_LABEL)
    }

    /// The band in pieces, as what cannot be drawn is a gap in it too.
    fn draw_band(&self, svg: &mut Svg, frame: &Frame) {
        let edges = |&(x, low, high): &(f64, f64, f64)| {
            Some((frame.point((x, low))?, frame.point((x, high))?))
        };
        let edges: Vec<Option<(Place, Place)>> = self.series.band.iter().map(edges).collect();
        for piece in edges.split(Option::is_none).filter(|piece| piece.len() >= 2) {
            let low = piece.iter().flatten().map(|(low, _)| *low);
            let high = piece.iter().flatten().map(|(_, high)| *high).rev();
            let outline: Vec<Place> = low.chain(high).collect();
            svg.area(self.look.ink(), &outline, 0.14);
        }
    }

    fn draw(&self, svg: &mut Svg, frame: &Frame) {
        let places = self.series.points.iter().map(|&point| frame.point(point));
        let places: Vec<Option<Place>> = places.collect();
        let pieces = places.split(Option::is_none).filter(|piece| !piece.is_empty());
        let runs: Vec<Vec<Place>> =
            pieces.map(|piece| piece.iter().copied().flatten().collect()).collect();
        if !runs.is_empty() {
            svg.runs(self.look.ink(), &runs, self.stroke(), &self.series.name);
        }
    }

    /// The last point that is drawn.
    fn end(&self, frame: &Frame) -> Option<(f64, f64)> {
        self.series.points.iter().rev().find_map(|&point| frame.point(point))
    }
}

fn label_margin(lines: &[Line<'_>]) -> f64 {
    let widest = lines
        .iter()
        .map(|line| text::width(&line.label(), LABEL_SIZE, line.label_font().weight))
        .fold(0.0, f64::max);
    LABEL_DISTANCE + widest + EDGE
}

fn draw_labels(svg: &mut Svg, frame: &Frame, lines: &[Line<'_>]) {
    let ends: Vec<(&Line<'_>, (f64, f64))> =
        lines.iter().filter_map(|line| Some((line, line.end(frame)?))).collect();
    let wanted: Vec<f64> = ends.iter().map(|(_, end)| end.1).collect();
    let placed = push_apart(&wanted, LABEL_GAP, frame.top, frame.bottom);
    for ((line, end), at) in ends.into_iter().zip(placed) {
        let start = frame.right + LABEL_DISTANCE;
        if (end.1 - at).abs() > 4.0 || frame.right - end.0 > 4.0 {
            let stroke = Stroke { opacity: 0.55, ..Stroke::thin() };
            let bend = (frame.right + 2.0).max(end.0);
            svg.runs(line.look.ink(), &[vec![end, (bend, end.1), (start - 2.0, at)]], stroke, "");
        }
        svg.text(line.look.ink(), (start, at + 4.0), line.label_font(), &line.label());
    }
}

/// What stands below a plot without room for labels beside it.
fn draw_legend(svg: &mut Svg, (top, width, columns): (f64, f64, usize), lines: &[Line<'_>]) {
    let column = (width - 2.0 * EDGE) / columns as f64;
    // The hero, which is drawn last, is named first.
    for (index, line) in lines.iter().rev().enumerate() {
        let left = EDGE + column * (index % columns) as f64;
        let baseline = top + LEGEND_ROW * (index / columns) as f64;
        let middle = baseline - 4.0;
        svg.line(line.look.ink(), (left, middle), (left + 18.0, middle), line.stroke());
        let name = text::fit_name(&line.series.name, 12.0, Weight::Regular, column - 32.0);
        svg.text(line.look.ink(), (left + 24.0, baseline), Font::regular(12.0), &name);
    }
}
