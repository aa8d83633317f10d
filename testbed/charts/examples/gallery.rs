//! Every kind of chart with data like the testbed's, and edge cases, for a look with one's own eyes:
//! `cargo run -p rudolph-charts --example gallery -- FOLDER` writes SVGs, PNGs and a page into the folder.

use std::error::Error;
use std::path::PathBuf;

use rudolph_charts::{
    Axis, Bar, BarChart, Chart, Corner, Emphasis, Event, Level, LineChart, Page, Point, Row,
    ScatterChart, Section, Series, Table, grouped, png,
};

/// Strategy, requests/s, p99 in ms, hit rate in percent.
const RIVALS: [(&str, f64, f64, f64); 14] = [
    ("spread", 14_592.0, 12.4, 89.7),
    ("pin", 13_436.0, 16.9, 89.7),
    ("maglev_bounded_200", 12_586.0, 14.0, 88.3),
    ("maglev_bounded_150", 12_427.0, 13.6, 86.0),
    ("ring_hash_bounded_150", 12_102.0, 14.4, 85.6),
    ("static", 11_946.0, 20.1, 90.0),
    ("maglev", 11_637.0, 20.5, 90.0),
    ("rotation@0.5", 11_478.0, 21.1, 86.9),
    ("maglev_bounded_125", 11_402.0, 15.8, 82.1),
    ("ring_hash", 11_120.0, 23.7, 89.8),
    ("rotation", 10_990.0, 21.8, 85.0),
    ("least_request", 8_420.0, 24.9, 66.0),
    ("round_robin", 8_003.0, 26.1, 65.7),
    ("lpt", 7_848.0, 28.0, 67.7),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("name a folder to write into")?);
    std::fs::create_dir_all(&folder)?;
    let charts: [(&str, Box<dyn Chart>); 12] = [
        ("bars", Box::new(bars())),
        ("bars-many", Box::new(many_bars())),
        ("bars-lower", Box::new(lower_bars())),
        ("bars-odd", Box::new(odd_bars())),
        ("failover", Box::new(failover())),
        ("servers", Box::new(servers())),
        ("alpha", Box::new(alpha())),
        ("log", Box::new(log_lines())),
        ("many-series", Box::new(many_series(12))),
        ("legend", Box::new(many_series(26))),
        ("scatter", Box::new(scatter())),
        (
            "empty",
            Box::new(LineChart { title: "Nothing was measured".into(), ..LineChart::default() }),
        ),
    ];
    for (name, chart) in &charts {
        let svg = &chart.svg();
        std::fs::write(folder.join(format!("{name}.svg")), svg)?;
        std::fs::write(folder.join(format!("{name}.png")), png(svg, 2.0)?)?;
    }
    let figures: Vec<String> = charts.iter().map(|(_, chart)| chart.figure()).collect();
    std::fs::write(folder.join("page.html"), page(figures).html())?;
    print!("{}\n{}", table().text(), table().markdown());
    Ok(())
}

fn emphasis(name: &str) -> Emphasis {
    if name == "spread" { Emphasis::Hero } else { Emphasis::Normal }
}

fn bars() -> BarChart {
    let bars = RIVALS.iter().take(6).map(|&(name, rps, _, _)| Bar {
        low: rps * 0.97,
        high: rps * 1.02,
        emphasis: emphasis(name),
        note: format!("{:+.0}%", (rps / 11_946.0 - 1.0) * 100.0),
        ..Bar::new(name, rps)
    });
    BarChart {
        title: "Spread serves 22% more requests than static hashing".into(),
        subtitle: "Closed loop, 64 clients, 5 servers; a miss costs 4 ms more. \
                   Bars are medians of 5 runs, whiskers the spread over them; notes against static."
            .into(),
        axis: "requests/s".into(),
        bars: bars.collect(),
        levels: vec![Level { at: 14_688.0, label: "bound 14,688".into() }],
        lower_is_better: false,
    }
}

fn many_bars() -> BarChart {
    let bars = (0..25).map(|index| {
        let (name, rps, _, _) = RIVALS[index % RIVALS.len()];
        let name =
            if index < RIVALS.len() { name.to_owned() } else { format!("{name}, 20 servers") };
        let faint = index >= RIVALS.len();
        let emphasis = if faint { Emphasis::Faint } else { emphasis(&name) };
        Bar { emphasis, ..Bar::new(name, rps * if faint { 2.0 } else { 1.0 }) }
    });
    BarChart {
        title: "Twenty-five bars".into(),
        subtitle: "requests/s".into(),
        axis: "requests/s".into(),
        bars: bars.collect(),
        ..BarChart::default()
    }
}

fn lower_bars() -> BarChart {
    let bars = RIVALS.iter().map(|&(name, _, p99, hit)| Bar {
        low: p99 * 0.9,
        high: p99 * 1.3,
        emphasis: emphasis(name),
        note: format!("hit {hit}%"),
        ..Bar::new(name, p99)
    });
    BarChart {
        title: "99 of 100 requests are answered within".into(),
        subtitle: "Closed loop, 64 clients".into(),
        axis: "p99 in ms".into(),
        bars: bars.collect(),
        levels: vec![
            Level { at: 10.7, label: "bound 10.7".into() },
            Level { at: 12.0, label: "a goal that lies beside it".into() },
        ],
        lower_is_better: true,
    }
}

fn odd_bars() -> BarChart {
    let long = "a strategy whose name nobody shortened, with every parameter spelled out";
    BarChart {
        title: "Odd values, in a chart with a title that is far too long for one line and so goes on and on"
            .into(),
        subtitle: "<script> & \"quotes\"".into(),
        axis: "change in %".into(),
        bars: vec![
            Bar::new("loses", -12.4),
            Bar { low: -3.0, high: 9.0, ..Bar::new("crosses zero", 2.0) },
            Bar { note: "no run finished".into(), ..Bar::new("not measured", f64::NAN) },
            Bar { emphasis: Emphasis::Hero, ..Bar::new(long, 31.5) },
            Bar::new("zero", 0.0),
            Bar::new("tiny", 0.001),
        ],
        ..BarChart::default()
    }
}

/// Noise without randomness.
fn wobble(step: usize, kind: usize) -> f64 {
    let phase = step as f64 * (0.9 + kind as f64 * 0.37);
    1.0 + 0.06 * phase.sin() + 0.04 * (phase * 2.7 + kind as f64).cos()
}

fn failover() -> LineChart {
    let line = |name: &str, kind: usize, calm: f64, after: f64, heal: f64| Series {
        name: name.into(),
        emphasis: emphasis(name),
        points: (0..90)
            .map(|second| {
                let since = second as f64 - 30.0;
                let hurt = if since < 0.0 { 0.0 } else { (after - calm) * (-since / heal).exp() };
                (second as f64, (calm + hurt) * wobble(second, kind))
            })
            .collect(),
        band: Vec::new(),
    };
    let mut rr = line("round_robin", 3, 24.0, 60.0, 30.0);
    for point in rr.points.iter_mut().skip(40).take(6) {
        point.1 = f64::NAN;
    }
    let mut spread = line("spread", 0, 8.5, 14.0, 4.0);
    spread.band = spread.points.iter().map(|&(x, y)| (x, y * 0.88, y * 1.15)).collect();
    LineChart {
        title: "A killed server costs spread one second".into(),
        subtitle: "p99 latency, second by second; one of five servers killed and brought back"
            .into(),
        x: Axis::linear("seconds since the start"),
        y: Axis::from_zero("p99 latency, ms"),
        series: vec![
            line("static", 1, 11.7, 121.0, 15.0),
            line("maglev", 2, 12.1, 118.0, 14.0),
            rr,
            spread,
        ],
        events: vec![
            Event { at: 30.0, label: "server killed".into() },
            Event { at: 33.0, label: "health check notices".into() },
            Event { at: 60.0, label: "server back".into() },
        ],
        levels: vec![Level { at: 100.0, label: "timeout 100 ms".into() }],
    }
}

fn servers() -> LineChart {
    let series = (1..=5).map(|server| Series {
        name: format!("server {server}"),
        points: (0..600)
            .map(|step| (step as f64, (4.0 + server as f64 * 0.7) * wobble(step / 3, server)))
            .collect(),
        emphasis: if server == 5 { Emphasis::Hero } else { Emphasis::Normal },
        ..Series::default()
    });
    LineChart {
        title: "Each server's p95 over ten minutes of static hashing".into(),
        subtitle: "600 points a line".into(),
        x: Axis::linear("seconds"),
        y: Axis::from_zero("p95, ms"),
        series: series.collect(),
        ..LineChart::default()
    }
}

fn alpha() -> LineChart {
    let line = |name: &str, slope: f64, start: f64, emphasis: Emphasis| Series {
        name: name.into(),
        emphasis,
        points: (0..6)
            .map(|step| (1.0 + 0.2 * step as f64, start + slope * (step as f64).powf(1.2)))
            .collect(),
        band: Vec::new(),
    };
    LineChart {
        title: "The hottest server's share as keys grow more skewed".into(),
        subtitle: "Five servers; 20% each would be even".into(),
        x: Axis::linear("Zipf alpha"),
        y: Axis::from_zero("largest server share, %"),
        series: vec![
            line("static", 7.4, 27.0, Emphasis::Normal),
            line("rotation", 6.9, 25.0, Emphasis::Normal),
            line("lpt", 6.4, 22.0, Emphasis::Normal),
            line("pin", 6.3, 20.6, Emphasis::Normal),
            line("spread", 0.1, 20.4, Emphasis::Hero),
            line("bound", 0.0, 20.0, Emphasis::Normal),
            line("maglev", 7.3, 26.8, Emphasis::Faint),
        ],
        levels: vec![Level { at: 50.0, label: "half of all load".into() }],
        ..LineChart::default()
    }
}

fn log_lines() -> LineChart {
    let line = |name: &str, base: f64, power: f64| Series {
        name: name.into(),
        emphasis: emphasis(name),
        points: [5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0]
            .iter()
            .map(|&servers: &f64| (servers, base * servers.powf(power)))
            .collect(),
        band: Vec::new(),
    };
    LineChart {
        title: "Cost of one choice".into(),
        subtitle: "log axes".into(),
        x: Axis::log("servers"),
        y: Axis::log("ns a choice"),
        series: vec![
            line("spread", 40.0, 0.02),
            line("ring_hash", 60.0, 0.35),
            line("maglev", 30.0, 0.1),
        ],
        ..LineChart::default()
    }
}

fn many_series(count: usize) -> LineChart {
    let names = RIVALS.iter().map(|rival| rival.0.to_owned());
    let names = names.chain((0..20).map(|index| format!("10.0.0.{index}:8080")));
    let series = names.take(count).enumerate().map(|(kind, name)| Series {
        emphasis: emphasis(&name),
        name,
        points: (0..40)
            .map(|step| (step as f64, (10.0 + (kind % 5) as f64) * wobble(step, kind)))
            .collect(),
        band: Vec::new(),
    });
    LineChart {
        title: format!("{count} series"),
        subtitle: "labels at the ends as long as they have room".into(),
        x: Axis::linear("seconds"),
        y: Axis::linear("p99, ms"),
        series: series.collect(),
        ..LineChart::default()
    }
}

fn scatter() -> ScatterChart {
    let points = RIVALS.iter().map(|&(name, rps, _, hit)| Point {
        emphasis: emphasis(name),
        x_spread: Some((rps * 0.98, rps * 1.02)),
        y_spread: Some((hit - 0.6, hit + 0.4)),
        ..Point::new(name, rps, hit)
    });
    ScatterChart {
        title: "Only spread has both: throughput and a warm cache".into(),
        subtitle: "Each point is one strategy, median of 5 runs; lines are the spread over them"
            .into(),
        x: Axis::linear("requests/s"),
        y: Axis::linear("hit rate, %"),
        points: points.collect(),
        levels: Vec::new(),
        better: Some(Corner::TopRight),
    }
}

fn table() -> Table {
    let mut rows: Vec<Row> = RIVALS
        .iter()
        .map(|&(name, rps, p99, hit)| Row {
            emphasis: emphasis(name),
            ..Row::new([name.to_owned(), grouped(rps, 0), grouped(p99, 1), grouped(hit, 1)])
        })
        .collect();
    rows.push(Row {
        is_reference: true,
        ..Row::new(["round robin, as published", "6,872", "7.64", "66.5"])
    });
    Table { head: ["strategy", "requests/s", "p99 ms", "hit %"].map(String::from).to_vec(), rows }
}

fn page(figures: Vec<String>) -> Page {
    let mut sections: Vec<Section> = figures
        .into_iter()
        .enumerate()
        .map(|(index, figure)| Section {
            id: format!("figure-{index}"),
            heading: format!("Figure {index}, a heading"),
            paragraphs: vec![
                "Spread answered 14,592 requests a second, 22% more than `static`, and its hit rate stayed \
                 within 0.3 points. The bound, one central queue before one pooled cache, is 14,688."
                    .into(),
            ],
            figures: vec![figure],
            ..Section::default()
        })
        .collect();
    if let Some(first) = sections.first_mut() {
        first.table = Some(table());
        first.notes = vec!["Machine: 2 cores. Command: `make experiment NAME=rivals`.".into()];
        first.warning =
            Some("The processor was the limit (97% busy): these figures are void.".into());
    }
    Page {
        title: "Experiments in real Envoy".into(),
        lead: "What each strategy did with the same keys, on the same servers, in the same run."
            .into(),
        sections,
        footer: vec!["Made by `make experiments`.".into()],
    }
}
