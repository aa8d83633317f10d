use std::time::Duration;

use super::*;

const PLAIN: Style = Style { unicode: false, color: false };
const BLOCKS: Style = Style { unicode: true, color: false };

fn server(name: &str, rate: f64) -> ServerSecond {
    ServerSecond { name: name.to_owned(), rate, hit_percent: Some(89.95), p99_ms: Some(41.0) }
}

fn second(servers: Vec<ServerSecond>) -> Second {
    Second {
        elapsed: Duration::from_millis(12_300),
        total: None,
        plain_peak: 1.414,
        strategy: "spread".to_owned(),
        clients: 64,
        servers,
        hit_percent: Some(90.0),
        p99_ms: Some(43.21),
        errors: 0,
        filter: Some(FilterState {
            plan_version: Some(17),
            rotation: Some(3),
            hot_keys: Some(12),
            moved_percent: Some(0.034),
            away_percent: Some(31.4),
        }),
    }
}

#[test]
fn a_row_a_server_with_bars_against_the_mean() {
    let lines = render(
        &second(vec![server("127.0.0.1:15000", 600.0), server("127.0.0.1:15001", 200.0)]),
        PLAIN,
    );
    let expected = [
        "Rudolph, strategy spread  12 s  64 clients",
        "server             req/s  load / mean                  hit %   p99 ms",
        "127.0.0.1:15000      600  ###############       1.50 !  90.0     41.0",
        "127.0.0.1:15001      200  #####     |           0.50    90.0     41.0",
        "all                  800                  peak  1.50    90.0     43.2",
        "hottest server at 1.50 of the mean; hashing alone would put 1.41 on one",
        "plan 17, rotation 3, hot keys 12, off home 31 %, moved 0.03 %, errors 0",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_server_without_answers_has_no_figures() {
    let mut silent = server("127.0.0.1:15001", 0.0);
    (silent.hit_percent, silent.p99_ms) = (None, None);
    let lines = render(&second(vec![server("127.0.0.1:15000", 600.0), silent]), PLAIN);
    assert_eq!(lines[3], "127.0.0.1:15001        0            |           0.00       -        -");
}

#[test]
fn the_very_first_second_may_have_nothing_at_all() {
    let lines = render(&second(vec![server("a", 0.0), server("b", 0.0)]), PLAIN);
    assert!(lines[2].contains(" 0.00 "), "{lines:?}");
    let lines = render(&second(Vec::new()), PLAIN);
    assert_eq!(lines.len(), 5);
}

#[test]
fn without_the_filter_the_last_line_says_so() {
    let mut plain = second(vec![server("a", 1.0)]);
    plain.filter = None;
    plain.errors = 2;
    let lines = render(&plain, PLAIN);
    assert_eq!(lines.last().unwrap(), "no filter, Envoy's own policy, errors 2");
}

#[test]
fn every_line_of_a_block_keeps_its_width_whatever_the_figures() {
    for share in [0.0, 0.01, 0.5, 0.99, 1.0, 1.01, 1.6, 2.0, 7.0, f64::INFINITY] {
        for style in [PLAIN, BLOCKS] {
            assert_eq!(bar(share, style).chars().count(), BAR_CELLS, "{share} {style:?}");
        }
    }
}

#[test]
fn blocks_show_eighths_of_a_cell_and_the_mean() {
    assert_eq!(bar(0.05, BLOCKS).trim_end(), "▌         ▏");
    assert_eq!(bar(1.0, BLOCKS).trim_end(), "██████████▏");
    assert_eq!(bar(1.9999, BLOCKS), format!("{}▉", "█".repeat(19)));
}

#[test]
fn only_a_hot_server_is_coloured() {
    let color = Style { unicode: false, color: true };
    let lines = render(&second(vec![server("a", 130.0), server("b", 70.0)]), color);
    assert!(lines[2].contains("\x1b[1;33m") && !lines[3].contains('\x1b'), "{lines:?}");
}
