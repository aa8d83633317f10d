//! Charts as a whole: what is drawn, where, and that odd data does no harm.

use rudolph_charts::{
    Axis, Bar, BarChart, Chart, Corner, Emphasis, Event, Level, LineChart, Point, Scale,
    ScatterChart, Series, png,
};

/// The next number of splitmix64, from 0 to 1.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

fn below(state: &mut u64, limit: usize) -> usize {
    (random(state) * limit as f64) as usize
}

/// Ordinary and extreme values, and what is no value at all.
fn odd(state: &mut u64) -> f64 {
    let ordinary = (random(state) - 0.3) * 1_000.0;
    match below(state, 14) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => f64::MAX,
        4 => f64::MIN_POSITIVE / 4.0,
        5 => 0.0,
        6 => -1e299,
        7 => 1e299,
        8 => 7.0,
        _ => ordinary,
    }
}

fn odd_text(state: &mut u64) -> String {
    let texts = [
        "",
        "spread",
        "server 4",
        "<svg onload=\"x\">&'",
        "\u{0}\u{7}\n\t",
        "a name that goes on and on and on and on and on and on and on and on and on",
        "nospacesatallinthisverylongwordthatcannotbebrokenanywhereatallwhateveronetries",
        "λ → 0,125 漢字 🚀",
    ];
    texts[below(state, texts.len())].to_owned()
}

fn odd_axis(state: &mut u64) -> Axis {
    let scale = if random(state) < 0.5 { Scale::Linear } else { Scale::Log };
    let reach = (random(state) < 0.3).then(|| odd(state));
    Axis { label: odd_text(state), scale, from_zero: random(state) < 0.5, reach }
}

fn odd_emphasis(state: &mut u64) -> Emphasis {
    [Emphasis::Hero, Emphasis::Normal, Emphasis::Faint][below(state, 3)]
}

fn odd_levels(state: &mut u64) -> Vec<Level> {
    (0..below(state, 5)).map(|_| Level { at: odd(state), label: odd_text(state) }).collect()
}

fn odd_lines(state: &mut u64) -> LineChart {
    let mut series = Vec::new();
    for _ in 0..below(state, 30) {
        series.push(Series {
            name: odd_text(state),
            points: (0..below(state, 40)).map(|_| (odd(state), odd(state))).collect(),
            band: (0..below(state, 9)).map(|_| (odd(state), odd(state), odd(state))).collect(),
            emphasis: odd_emphasis(state),
        });
    }
    LineChart {
        title: odd_text(state),
        subtitle: odd_text(state),
        x: odd_axis(state),
        y: odd_axis(state),
        series,
        events: (0..below(state, 40))
            .map(|_| Event { at: odd(state), label: odd_text(state) })
            .collect(),
        levels: odd_levels(state),
    }
}

fn odd_bars(state: &mut u64) -> BarChart {
    let mut bars = Vec::new();
    for _ in 0..below(state, 30) {
        bars.push(Bar {
            label: odd_text(state),
            value: odd(state),
            low: odd(state),
            high: odd(state),
            emphasis: odd_emphasis(state),
            note: odd_text(state),
        });
    }
    BarChart {
        title: odd_text(state),
        subtitle: odd_text(state),
        axis: odd_text(state),
        bars,
        levels: odd_levels(state),
        lower_is_better: random(state) < 0.5,
    }
}

fn odd_points(state: &mut u64) -> ScatterChart {
    let mut points = Vec::new();
    for _ in 0..below(state, 60) {
        points.push(Point {
            x_spread: Some((odd(state), odd(state))),
            y_spread: Some((odd(state), odd(state))),
            emphasis: odd_emphasis(state),
            ..Point::new(odd_text(state), odd(state), odd(state))
        });
    }
    ScatterChart {
        title: odd_text(state),
        subtitle: odd_text(state),
        x: odd_axis(state),
        y: odd_axis(state),
        points,
        levels: odd_levels(state),
        better: Some(Corner::BottomLeft),
    }
}

/// The values of all attributes of this name.
fn attributes<'a>(svg: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    svg.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Every coordinate is a finite number within the picture.
fn check_geometry(svg: &str, seed: u64) {
    let size = |name| attributes(svg, name)[0].parse().unwrap_or(f64::NAN);
    let (width, height) = (size("width"), size("height"));
    assert!((320.0..=720.0).contains(&width) && height > 50.0 && height < 2_000.0, "seed {seed}");
    let pairs = [(["x", "x1", "x2", "cx"], width), (["y", "y1", "y2", "cy"], height)];
    for (names, limit) in pairs {
        for name in names {
            for value in attributes(svg, name) {
                let number: f64 = value.parse().unwrap_or(f64::NAN);
                assert!((-20.0..=limit + 20.0).contains(&number), "seed {seed}: {name}={value}");
            }
        }
    }
    for path in attributes(svg, "d") {
        for number in path.split(['M', 'L', 'Z', ' ']).filter(|part| !part.is_empty()) {
            let number: f64 = number.parse().unwrap_or(f64::NAN);
            assert!((-20.0..=height.max(width) + 20.0).contains(&number), "seed {seed}: {path}");
        }
    }
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "seed {seed}");
    assert!(!svg.contains("onload=\""), "seed {seed}: markup got through");
}

#[test]
fn odd_data_gives_sound_pictures() {
    for seed in 0..240 {
        println!("seed {seed}");
        let mut state = seed;
        let (lines, bars, points) =
            (odd_lines(&mut state), odd_bars(&mut state), odd_points(&mut state));
        let pictures = [
            lines.svg(),
            lines.svg_of_width(380.0),
            bars.svg(),
            bars.svg_of_width(f64::NAN),
            points.svg(),
            points.svg_of_width(1.0),
        ];
        for picture in &pictures {
            check_geometry(picture, seed);
        }
        assert_eq!(pictures[0], lines.svg(), "seed {seed}: the same chart twice");
        if seed % 40 == 0 {
            for picture in &pictures {
                let drawn = png(picture, 0.5);
                assert!(drawn.is_ok(), "seed {seed}: {drawn:?}");
            }
        }
    }
}

#[test]
fn nothing_to_draw_is_said() {
    assert!(LineChart::default().svg().contains("no data"));
    assert!(BarChart::default().svg().contains("no data"));
    assert!(ScatterChart::default().svg().contains("no data"));
    let gaps = Series { points: vec![(0.0, f64::NAN); 3], ..Series::default() };
    assert!(LineChart { series: vec![gaps], ..LineChart::default() }.svg().contains("no data"));
}

#[test]
fn a_gap_breaks_the_line() {
    let points =
        vec![(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 2.0), (4.0, 1.0), (5.0, f64::NAN)];
    let series = vec![Series { name: "static".into(), points, ..Series::default() }];
    let svg = LineChart { series, ..LineChart::default() }.svg();
    let group = svg.split("<g").find(|part| part.contains("<title>static</title>")).unwrap();
    assert_eq!(group.matches("<path").count(), 2);
}

#[test]
fn a_gap_breaks_the_band() {
    let mut band: Vec<(f64, f64, f64)> = (0..6).map(|x| (x as f64, 1.0, 2.0)).collect();
    band[2].1 = f64::NAN;
    let series = vec![Series { band, ..Series::default() }];
    let svg = LineChart { series, ..LineChart::default() }.svg();
    assert_eq!(svg.matches("fill-opacity").count(), 2);
}

#[test]
fn one_point_is_a_dot() {
    let series = vec![Series { points: vec![(3.0, 3.0)], ..Series::default() }];
    let svg = LineChart { series, ..LineChart::default() }.svg();
    assert_eq!(svg.matches("<circle").count(), 1);
}

/// Baselines of the texts that are one of the names.
fn baselines(svg: &str, names: &[String]) -> Vec<f64> {
    let lines = svg
        .lines()
        .filter(|line| names.iter().any(|name| line.ends_with(&format!(">{name}</text>"))));
    lines.map(|line| attributes(line, "y")[0].parse().unwrap_or(f64::NAN)).collect()
}

#[test]
fn labels_of_lines_keep_apart_even_where_the_lines_meet() {
    for count in 1..=20 {
        let names: Vec<String> = (0..count).map(|index| format!("line{index}")).collect();
        let series = names.iter().map(|name| Series {
            name: name.clone(),
            points: vec![(0.0, 0.0), (1.0, 5.0)],
            ..Series::default()
        });
        let svg = LineChart { series: series.collect(), ..LineChart::default() }.svg();
        let mut found = baselines(&svg, &names);
        found.sort_by(f64::total_cmp);
        assert_eq!(found.len(), count);
        assert!(found.windows(2).all(|two| two[1] - two[0] > 14.0), "{count}: {found:?}");
    }
}

#[test]
fn lines_without_room_for_labels_have_a_legend() {
    let names: Vec<String> = (0..30).map(|index| format!("line{index}")).collect();
    let series = names.iter().map(|name| Series {
        name: name.clone(),
        points: vec![(0.0, 0.0), (1.0, 5.0)],
        ..Series::default()
    });
    let svg = LineChart { series: series.collect(), ..LineChart::default() }.svg();
    assert_eq!(baselines(&svg, &names).len(), 30);
}

#[test]
fn bars_carry_values_notes_and_direction() {
    let chart = BarChart {
        axis: "p99 in ms".into(),
        bars: vec![
            Bar { note: "−30%".into(), emphasis: Emphasis::Hero, ..Bar::new("spread", 12.44) },
            Bar { low: 19.0, high: 22.0, ..Bar::new("static", 20.1) },
        ],
        levels: vec![Level { at: 10.7, label: "bound".into() }],
        lower_is_better: true,
        ..BarChart::default()
    };
    let svg = chart.svg();
    for text in [">12.4<", ">−30%<", ">20.1<", ">bound<", "p99 in ms (lower is better)"] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(svg.contains("<title>static: 20.1 (19.0 to 22.0)</title>"));
}

#[test]
fn the_same_strategy_has_the_same_colour_in_every_chart() {
    let colour = |names: &[&str]| {
        let series = names.iter().map(|name| Series {
            name: (*name).to_owned(),
            points: vec![(0.0, 0.0), (1.0, 1.0)],
            ..Series::default()
        });
        let svg = LineChart { series: series.collect(), ..LineChart::default() }.svg();
        let line = svg.lines().find(|line| line.contains("<title>static</title>")).unwrap();
        attributes(line, "color")[0].to_owned()
    };
    assert_eq!(colour(&["static"]), colour(&["spread", "server 7", "x", "static"]));
}
