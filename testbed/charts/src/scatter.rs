//! Points with their names, for a trade-off between two figures.

use crate::axis::Axis;
use crate::chart::Chart;
use crate::frame::{Frame, rulers};
use crate::heading::{EDGE, Emphasis, Heading, LABEL_SIZE, TICK_SIZE};
use crate::line::rank;
use crate::looks::{Look, looks};
use crate::marks::Level;
use crate::number::rounded;
use crate::palette::Ink;
use crate::pen::{Anchor, Font, Stroke};
use crate::place::{Area, Placed, Taken};
use crate::svg::Svg;
use crate::text;
use crate::ticks::Ends;

/// One named point.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub name: String,
    pub x: f64,
    pub y: f64,
    /// Least and most x over repeats, drawn as a whisker.
    pub x_spread: Option<(f64, f64)>,
    /// Least and most y over repeats.
    pub y_spread: Option<(f64, f64)>,
    pub emphasis: Emphasis,
}

impl Point {
    /// A plain point without a spread.
    #[must_use]
    pub fn new(name: impl Into<String>, x: f64, y: f64) -> Self {
        let emphasis = Emphasis::Normal;
        Point { name: name.into(), x, y, x_spread: None, y_spread: None, emphasis }
    }
}

/// Where the best points of a scatter chart are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corner {
    TopLeft,
    TopRight,
    BottomLeft,
    BottomRight,
}

/// Named points on two axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScatterChart {
    pub title: String,
    pub subtitle: String,
    pub x: Axis,
    pub y: Axis,
    pub points: Vec<Point>,
    /// Values of y to compare with, marked by horizontal lines.
    pub levels: Vec<Level>,
    /// The corner that is marked as the better one.
    pub better: Option<Corner>,
}

const PLOT_HEIGHT: f64 = 340.0;
const WIDEST_LABEL: f64 = 210.0;
const LABEL_HEIGHT: f64 = 15.0;
/// Only so many points are given names on the chart itself; all have one to hover over.
const MOST_NAMES: usize = 40;

struct Mark<'a> {
    point: &'a Point,
    look: Look,
    at: (f64, f64),
}

impl Chart for ScatterChart {
    fn svg_of_width(&self, width: f64) -> String {
        let heading = Heading::new(&self.title, &self.subtitle, width);
        let frame = Frame::new(&heading, self.rulers(heading.width), EDGE + 16.0, PLOT_HEIGHT);
        let mut svg = Svg::new(heading.width, frame.picture_height(&self.x), &self.title);
        heading.draw(&mut svg);
        frame.draw(&mut svg, &self.x, &self.y);
        frame.draw_levels(&mut svg, &self.levels);
        let marks = self.marks(&frame);
        let mut taken: Vec<Area> = marks.iter().flat_map(|mark| mark.areas(&frame)).collect();
        if marks.is_empty() {
            frame.draw_no_data(&mut svg);
        }
        if let Some(corner) = self.better {
            taken.push(draw_corner(&mut svg, &frame, corner));
        }
        for mark in &marks {
            mark.draw(&mut svg, &frame);
        }
        draw_names(&mut svg, &frame, &marks, taken);
        frame.draw_level_labels(&mut svg, &self.levels);
        svg.finish()
    }
}

impl ScatterChart {
    fn rulers(&self, width: f64) -> (crate::axis::Ruler, crate::axis::Ruler) {
        let drawn =
            || self.points.iter().filter(|point| self.x.takes(point.x) && self.y.takes(point.y));
        let ends =
            |spread: Option<(f64, f64)>| spread.into_iter().flat_map(|(low, high)| [low, high]);
        let xs = drawn().flat_map(|point| ends(point.x_spread).chain([point.x]));
        let ys = drawn()
            .flat_map(|point| ends(point.y_spread).chain([point.y]))
            .chain(self.levels.iter().map(|level| level.at));
        rulers((&self.x, xs), (&self.y, ys), (Ends::Round, width))
    }

    /// The points in the order in which they are drawn: the hero last, over all others.
    fn marks(&self, frame: &Frame) -> Vec<Mark<'_>> {
        let names: Vec<(&str, bool)> = self
            .points
            .iter()
            .map(|point| (point.name.as_str(), point.emphasis == Emphasis::Hero))
            .collect();
        let mut marks: Vec<Mark<'_>> = self
            .points
            .iter()
            .zip(looks(&names))
            .filter_map(|(point, look)| {
                Some(Mark { point, look, at: frame.point((point.x, point.y))? })
            })
            .collect();
        // Reversed, as the first of equals is the most important and is drawn over the others.
        marks.reverse();
        marks.sort_by_key(|mark| rank(mark.point.emphasis));
        marks
    }
}

impl Mark<'_> {
    fn ink(&self) -> Ink {
        match self.point.emphasis {
            Emphasis::Faint => Ink::Muted,
            Emphasis::Hero | Emphasis::Normal => self.look.ink(),
        }
    }

    fn font(&self) -> Font {
        match self.point.emphasis {
            Emphasis::Hero => Font::bold(LABEL_SIZE),
            Emphasis::Normal => Font::regular(LABEL_SIZE),
            Emphasis::Faint => Font::regular(TICK_SIZE),
        }
    }

    fn whiskers(&self, frame: &Frame) -> Vec<((f64, f64), (f64, f64))> {
        let point = self.point;
        let ends = |low, high| Some((frame.point(low)?, frame.point(high)?));
        let across = point.x_spread.and_then(|(low, high)| ends((low, point.y), (high, point.y)));
        let along = point.y_spread.and_then(|(low, high)| ends((point.x, low), (point.x, high)));
        across.into_iter().chain(along).collect()
    }

    /// What names keep clear of: the dot and its whiskers.
    fn areas(&self, frame: &Frame) -> Vec<Area> {
        let whiskers = self.whiskers(frame).into_iter();
        let whiskers = whiskers.map(|(from, to)| Area::spanning(from, to).grown(1.0));
        std::iter::once(self.dot()).chain(whiskers).collect()
    }

    /// What the name is placed around: the dot and the whisker across.
    fn surroundings(&self, frame: &Frame) -> Area {
        let dot = self.dot();
        let (left, right) = self
            .point
            .x_spread
            .and_then(|(low, high)| Some((frame.across(low)?, frame.across(high)?)))
            .unwrap_or((self.at.0, self.at.0));
        Area { left: dot.left.min(left), right: dot.right.max(right), ..dot }
    }

    fn dot(&self) -> Area {
        Area::around(self.at, 5.0)
    }

    fn draw(&self, svg: &mut Svg, frame: &Frame) {
        let stroke = Stroke { width: 1.2, dash: "", opacity: 0.6 };
        for (from, to) in self.whiskers(frame) {
            svg.line(self.ink(), from, to, stroke);
        }
        let radius = match self.point.emphasis {
            Emphasis::Hero => 6.0,
            Emphasis::Normal => 4.5,
            Emphasis::Faint => 3.5,
        };
        let title =
            format!("{}: {}, {}", self.point.name, rounded(self.point.x), rounded(self.point.y));
        svg.dot(self.ink(), self.at, radius, &title);
    }
}

/// The hero's name is placed first, so that it is the nearest to its point.
fn draw_names(svg: &mut Svg, frame: &Frame, marks: &[Mark<'_>], drawn: Vec<Area>) {
    let right = frame.width - 4.0;
    let bounds = Area { left: frame.left, top: frame.top - 8.0, right, bottom: frame.bottom - 2.0 };
    let mut taken = Taken::new(bounds, drawn);
    for mark in marks.iter().rev().take(MOST_NAMES) {
        let font = mark.font();
        let name = text::fit_name(&mark.point.name, font.size, font.weight, WIDEST_LABEL);
        let size = (text::width(&name, font.size, font.weight), LABEL_HEIGHT);
        let placed = taken.place(mark.at, &mark.surroundings(frame), size);
        let Some(Placed { area, leader }) = placed else { continue };
        if let Some([from, to]) = leader {
            svg.line(mark.ink(), from, to, Stroke { opacity: 0.55, ..Stroke::thin() });
        }
        let middle = ((area.left + area.right) / 2.0, area.bottom - LABEL_HEIGHT / 2.0 + 4.5);
        svg.text(mark.ink(), middle, font.anchored(Anchor::Middle).over_lines(), &name);
    }
}

/// The word and an arrow into the better corner; returns where they are.
fn draw_corner(svg: &mut Svg, frame: &Frame, corner: Corner) -> Area {
    let (at_right, at_top) = match corner {
        Corner::TopLeft => (false, true),
        Corner::TopRight => (true, true),
        Corner::BottomLeft => (false, false),
        Corner::BottomRight => (true, false),
    };
    let (x, inward) = if at_right { (frame.right - 6.0, -1.0) } else { (frame.left + 6.0, 1.0) };
    let (y, down) = if at_top { (frame.top + 8.0, 1.0) } else { (frame.bottom - 8.0, -1.0) };
    let tail = (x + inward * 12.0, y + down * 12.0);
    svg.line(Ink::Muted, tail, (x, y), Stroke { width: 1.4, ..Stroke::thin() });
    let head = vec![(x + inward * 6.0, y), (x, y), (x, y + down * 6.0)];
    svg.runs(Ink::Muted, &[head], Stroke { width: 1.4, ..Stroke::thin() }, "");
    let anchor = if at_right { Anchor::End } else { Anchor::Start };
    let place = (x + inward * 18.0, y + down * 8.0 + 4.0);
    svg.text(Ink::Muted, place, Font::regular(TICK_SIZE).anchored(anchor), "better");
    Area {
        left: x.min(x + inward * 64.0),
        right: x.max(x + inward * 64.0),
        top: y.min(tail.1) - 6.0,
        bottom: y.max(tail.1) + 6.0,
    }
}
