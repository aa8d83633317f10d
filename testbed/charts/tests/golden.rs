//! Small charts, byte for byte. After a wanted change: `UPDATE_GOLDEN=1 cargo test -p rudolph-charts --test golden`.

use std::path::Path;

use rudolph_charts::{
    Axis, Bar, BarChart, Chart, Emphasis, Event, Level, LineChart, Page, Point, Row, ScatterChart,
    Section, Series, Table,
};

fn check(name: &str, drawn: &str) -> Result<(), std::io::Error> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, drawn)?;
    }
    let wanted = std::fs::read_to_string(&path)?;
    assert!(drawn == wanted, "{name} is drawn otherwise; this is now:\n{drawn}");
    Ok(())
}

fn lines() -> LineChart {
    LineChart {
        title: "A server is lost".into(),
        subtitle: "p99 latency".into(),
        x: Axis::linear("seconds"),
        y: Axis::from_zero("ms"),
        series: vec![
            Series {
                name: "static".into(),
                points: vec![(0.0, 11.0), (1.0, 121.0), (2.0, 14.0)],
                ..Series::default()
            },
            Series {
                name: "spread".into(),
                points: vec![(0.0, 8.0), (1.0, 12.0), (2.0, 9.0)],
                band: vec![(0.0, 7.0, 9.0), (2.0, 8.0, 10.0)],
                emphasis: Emphasis::Hero,
            },
        ],
        events: vec![Event { at: 0.5, label: "server killed".into() }],
        levels: vec![Level { at: 100.0, label: "limit".into() }],
    }
}

fn bars() -> BarChart {
    BarChart {
        title: "Requests served".into(),
        subtitle: "closed loop".into(),
        axis: "requests/s".into(),
        bars: vec![
            Bar { emphasis: Emphasis::Hero, note: "+22%".into(), ..Bar::new("spread", 14_592.0) },
            Bar { low: 11_700.0, high: 12_100.0, ..Bar::new("static", 11_946.0) },
        ],
        levels: vec![Level { at: 14_688.0, label: "bound".into() }],
        lower_is_better: false,
    }
}

fn points() -> ScatterChart {
    ScatterChart {
        title: "Throughput and hits".into(),
        x: Axis::linear("requests/s"),
        y: Axis::linear("hit %"),
        points: vec![
            Point { emphasis: Emphasis::Hero, ..Point::new("spread", 14_592.0, 89.7) },
            Point { x_spread: Some((11_000.0, 12_500.0)), ..Point::new("static", 11_946.0, 90.0) },
        ],
        ..ScatterChart::default()
    }
}

fn table() -> Table {
    Table {
        head: ["strategy", "requests/s", "hit %"].map(String::from).to_vec(),
        rows: vec![
            Row { emphasis: Emphasis::Hero, ..Row::new(["spread", "14,592", "89.7"]) },
            Row::new(["static", "11,946", "90.0"]),
            Row { is_reference: true, ..Row::new(["published", "6,157", "90.4"]) },
        ],
    }
}

#[test]
fn a_line_chart() {
    check("lines.svg", &lines().svg()).unwrap();
}

#[test]
fn a_bar_chart() {
    check("bars.svg", &bars().svg()).unwrap();
}

#[test]
fn a_scatter_chart() {
    check("points.svg", &points().svg()).unwrap();
}

#[test]
fn a_table() {
    check("table.md", &table().markdown()).unwrap();
    check("table.txt", &table().text()).unwrap();
    check("table.html", &table().html()).unwrap();
}

#[test]
fn a_page() {
    let page = Page {
        title: "Report".into(),
        lead: "What was found.".into(),
        sections: vec![Section {
            id: "fig1".into(),
            heading: "Figure 1".into(),
            paragraphs: vec!["Against `static`.".into()],
            figures: vec![bars().figure()],
            table: Some(table()),
            notes: vec!["2 cores".into()],
            warning: None,
        }],
        footer: vec!["The end.".into()],
    };
    check("page.html", &page.html()).unwrap();
}
