//! The plots of an experiment.

use rudolph_charts::{
    Axis, Bar, BarChart, Chart, Corner, Emphasis, Event as Moment, Level, LineChart, Point, Scale,
    ScatterChart, Series, grouped,
};
use rudolph_workload::KeySpec;

use crate::{
    Action, Contender, Figure, Metric, Row, Spec, Trial,
    number::{change, mean, median},
    seconds::Second,
    summary::find,
};

/// A plot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plot {
    /// Of its files, without an ending.
    pub name: String,
    pub svg: String,
    /// What a page shows: a wide picture, and a narrow one for phones.
    pub figure: String,
}

impl Plot {
    pub(crate) fn of(name: impl Into<String>, chart: &impl Chart) -> Self {
        Self { name: name.into(), svg: chart.svg(), figure: chart.figure() }
    }
}

/// Those that the spec asks for, in its order.
#[must_use]
pub fn plots(spec: &Spec, rows: &[Row], trials: &[Trial]) -> Vec<Plot> {
    spec.figures.iter().map(|figure| plot(figure, spec, rows, trials)).collect()
}

fn plot(figure: &Figure, spec: &Spec, rows: &[Row], trials: &[Trial]) -> Plot {
    match figure {
        Figure::Bars { metric } => Plot::of(metric.name(), &bars(*metric, spec, rows)),
        Figure::Scatter { x, y } => {
            Plot::of(format!("{}-by-{}", y.name(), x.name()), &scatter(*x, *y, spec, rows))
        }
        Figure::Seconds { metric, log } => {
            Plot::of(format!("{}-over-time", metric.name()), &seconds(*metric, *log, spec, trials))
        }
        Figure::Servers { metric, contender } => Plot::of(
            format!("{}-by-server-{contender}", metric.name()),
            &servers(*metric, contender, spec, trials),
        ),
        Figure::SharePerAlpha => Plot::of("share-per-alpha", &share_per_alpha(spec, trials)),
    }
}

fn emphasis(spec: &Spec, contender: &Contender) -> Emphasis {
    match spec.heroes.first() {
        Some(hero) if hero == contender => Emphasis::Hero,
        _ => Emphasis::Normal,
    }
}

fn conditions(spec: &Spec) -> String {
    let servers = &spec.servers;
    let load = match (spec.load.clients, spec.load.rate) {
        (Some(clients), _) => format!("{clients} clients, closed loop"),
        (_, rate) => format!("open loop, {} requests/s", grouped(rate.unwrap_or(0.0), 0)),
    };
    let runs = match spec.repeats {
        1 => format!("one run of {} s", spec.load.seconds),
        repeats => format!("medians of {repeats} runs of {} s", spec.load.seconds),
    };
    format!(
        "{} servers of {} slots, hits {} ms, misses {} ms; {load}; {runs}",
        servers.count, servers.slots, servers.hit_ms, servers.miss_ms,
    )
}

fn bars(metric: Metric, spec: &Spec, rows: &[Row]) -> BarChart {
    let reference = find(rows, &spec.reference).map_or(f64::NAN, |row| row.median(metric));
    let mut bars: Vec<Bar> =
        rows.iter().filter_map(|row| bar(metric, spec, row, reference)).collect();
    let order = |a: &Bar, b: &Bar| a.value.total_cmp(&b.value);
    bars.sort_by(|a, b| if metric.lower_is_better() { order(a, b) } else { order(b, a) });
    BarChart {
        title: capital(metric.says()),
        subtitle: conditions(spec),
        axis: metric.label(),
        bars,
        levels: Vec::new(),
        lower_is_better: metric.lower_is_better(),
    }
}

fn bar(metric: Metric, spec: &Spec, row: &Row, reference: f64) -> Option<Bar> {
    let spread = row.values.get(&metric).filter(|spread| spread.median.is_finite())?;
    let is_reference = row.contender == spec.reference;
    let note = if is_reference { String::new() } else { change(spread.median / reference) };
    let void = if row.is_void() { " (void)" } else { "" };
    Some(Bar {
        label: format!("{}{void}", row.contender),
        value: spread.median,
        low: spread.low,
        high: spread.high,
        emphasis: emphasis(spec, &row.contender),
        note,
    })
}

fn scatter(x: Metric, y: Metric, spec: &Spec, rows: &[Row]) -> ScatterChart {
    let range = |row: &Row, metric| row.values.get(&metric).map(|spread| (spread.low, spread.high));
    let point = |row: &Row| Point {
        x_spread: range(row, x),
        y_spread: range(row, y),
        emphasis: emphasis(spec, &row.contender),
        ..Point::new(row.contender.name(), row.median(x), row.median(y))
    };
    ScatterChart {
        title: format!("{} against {}", capital(y.says()), x.says()),
        subtitle: conditions(spec),
        x: axis(x, false, false),
        y: axis(y, false, false),
        points: rows.iter().map(point).collect(),
        better: Some(better(x, y)),
        ..ScatterChart::default()
    }
}

fn better(x: Metric, y: Metric) -> Corner {
    match (x.lower_is_better(), y.lower_is_better()) {
        (true, true) => Corner::BottomLeft,
        (true, false) => Corner::TopLeft,
        (false, true) => Corner::BottomRight,
        (false, false) => Corner::TopRight,
    }
}

fn axis(metric: Metric, log: bool, from_zero: bool) -> Axis {
    let scale = if log { Scale::Log } else { Scale::Linear };
    Axis { scale, from_zero, ..Axis::linear(metric.label()) }
}

fn seconds(metric: Metric, log: bool, spec: &Spec, trials: &[Trial]) -> LineChart {
    let series = spec.contenders.iter().map(|contender| {
        let of: Vec<&[Second]> = trials
            .iter()
            .filter(|trial| trial.contender == *contender)
            .map(|trial| trial.seconds.all.as_slice())
            .collect();
        Series {
            name: contender.to_string(),
            points: median_line(metric, &of),
            band: Vec::new(),
            emphasis: emphasis(spec, contender),
        }
    });
    LineChart {
        title: format!("{} second by second", capital(metric.says())),
        subtitle: conditions(spec),
        x: Axis::from_zero("seconds"),
        y: axis(metric, log, !log && metric != Metric::HitPercent),
        series: series.collect(),
        events: moments(spec),
        levels: Vec::new(),
    }
}

/// Over the repeats, for each second that any of them has.
fn median_line(metric: Metric, repeats: &[&[Second]]) -> Vec<(f64, f64)> {
    let last =
        repeats.iter().filter_map(|seconds| seconds.last()).map(|second| second.second).max();
    let Some(last) = last else { return Vec::new() };
    let at = |second: u64| {
        let found = repeats.iter().filter_map(|all| all.iter().find(|s| s.second == second));
        median(found.filter_map(|second| second.value(metric)))
    };
    (0..=last).map(|second| (second as f64, at(second))).collect()
}

fn moments(spec: &Spec) -> Vec<Moment> {
    let label = |action| match action {
        Action::Kill => "server killed",
        Action::Restart => "server back",
        Action::Add => "server added",
    };
    let moment = |event: &crate::Event| Moment {
        at: event.at_s as f64,
        label: label(event.action).to_owned(),
    };
    spec.events.iter().map(moment).collect()
}

/// Of the first repeat: servers differ from run to run, so their lines have no median. All contenders' plots have one
/// scale, since they are there to be compared.
fn servers(metric: Metric, contender: &Contender, spec: &Spec, trials: &[Trial]) -> LineChart {
    let first = |trial: &&Trial| trial.repeat == 0;
    let trial = trials.iter().filter(first).find(|trial| trial.contender == *contender);
    let line = |seconds: &[Second]| {
        let value =
            |second: &Second| (second.second as f64, second.value(metric).unwrap_or(f64::NAN));
        seconds.iter().map(value).collect()
    };
    let servers = trial.map_or(&[][..], |trial| trial.seconds.servers.as_slice());
    let series = servers.iter().enumerate().map(|(index, (_, seconds))| Series {
        name: format!("server {}", index + 1),
        points: line(seconds),
        ..Series::default()
    });
    let all = trials.iter().filter(first).flat_map(|trial| &trial.seconds.servers);
    let values = all.flat_map(|(_, seconds)| seconds.iter().filter_map(|s| s.value(metric)));
    LineChart {
        title: format!("{contender}: {} of each server", metric.says()),
        subtitle: conditions(&Spec { repeats: 1, ..spec.clone() }),
        x: Axis::from_zero("seconds"),
        y: Axis { reach: Some(values.fold(0.0, f64::max)), ..axis(metric, false, true) },
        series: series.collect(),
        events: moments(spec),
        levels: Vec::new(),
    }
}

/// The hottest server's share of all requests while alpha rises, in percent, and the least that a server can have.
fn share_per_alpha(spec: &Spec, trials: &[Trial]) -> LineChart {
    let levels = alpha_levels(spec);
    let series = spec.contenders.iter().map(|contender| Series {
        name: contender.to_string(),
        points: levels
            .iter()
            .map(|level| (level.alpha, level.hottest_percent(spec, contender, trials)))
            .collect(),
        band: Vec::new(),
        emphasis: emphasis(spec, contender),
    });
    let bound = Series {
        name: "bound, one owner a key".to_owned(),
        points: levels.iter().map(|level| (level.alpha, level.bound_percent(spec))).collect(),
        band: Vec::new(),
        emphasis: Emphasis::Faint,
    };
    LineChart {
        title: "Share of the hottest server as keys get more uneven".to_owned(),
        subtitle: conditions(spec),
        x: Axis::linear("alpha of the Zipf law"),
        y: Axis::from_zero("hottest server's share of all requests, %"),
        series: series.chain([bound]).collect(),
        events: Vec::new(),
        levels: vec![Level { at: 100.0 / spec.servers.count as f64, label: "even".to_owned() }],
    }
}

/// A step of the ramp, and the seconds of the measured window in which it held all through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AlphaLevel {
    pub(crate) alpha: f64,
    from_s: f64,
    to_s: f64,
}

/// Empty without a ramp.
pub(crate) fn alpha_levels(spec: &Spec) -> Vec<AlphaLevel> {
    let KeySpec::Zipf { alpha, ramp: Some(ramp), .. } = &spec.workload.keys else {
        return Vec::new();
    };
    let warm_up_s = spec.load.warm_up_s as f64;
    let level = |step: u32| {
        let start = f64::from(step) * ramp.step_s - warm_up_s;
        let part = f64::from(step) / f64::from(ramp.steps.max(2) - 1);
        // In the first second, requests of the step before are still under way.
        AlphaLevel {
            alpha: alpha + (ramp.to - alpha) * part,
            from_s: start + 1.0,
            to_s: start + ramp.step_s,
        }
    };
    (0..ramp.steps).map(level).collect()
}

impl AlphaLevel {
    /// Median over the repeats of the mean over the level's seconds.
    pub(crate) fn hottest_percent(
        &self,
        spec: &Spec,
        contender: &Contender,
        trials: &[Trial],
    ) -> f64 {
        let of = trials.iter().filter(|trial| trial.contender == *contender);
        let within = |second: &&Second| {
            let at = second.second as f64;
            at >= self.from_s && at + 1.0 <= self.to_s
        };
        let means = of
            .map(|trial| mean(trial.seconds.all.iter().filter(within).map(|s| s.share_over_mean)));
        100.0 * median(means) / spec.servers.count as f64
    }

    /// With one owner a key, the hottest server has at least the hottest key; and nobody less than an even share.
    pub(crate) fn bound_percent(&self, spec: &Spec) -> f64 {
        let KeySpec::Zipf { count, .. } = spec.workload.keys else { return f64::NAN };
        let sum: f64 = (1..=count).map(|rank| (rank as f64).powf(-self.alpha)).sum();
        100.0 * (1.0 / sum).max(1.0 / spec.servers.count as f64)
    }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + characters.as_str()
    })
}
