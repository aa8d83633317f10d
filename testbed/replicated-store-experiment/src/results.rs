//! The raw figures, a summary for programs, tables and plots for people.

use std::path::Path;

use rudolph_charts::{Axis, Chart, Emphasis, LineChart, Row as TableRow, Series, Table, grouped};
use rudolph_experiments::artefacts::ArtefactError;
use rudolph_experiments::chapter::{Chapter, Part};
use rudolph_experiments::median;
use rudolph_experiments::raw::put;
use rudolph_experiments::redis::Command;
use serde_json::json;

use crate::contender::Contender;
use crate::load::{CLIENTS, Case, KEYS};
use crate::summary::{Row, Trial, rows, verdicts};

/// Writes all into `folder` and returns the page.
pub(crate) fn write(
    folder: &Path,
    trials: &[Trial],
    quick: bool,
    origin: &str,
) -> Result<String, ArtefactError> {
    let rows = rows(trials);
    put(folder, "runs.csv", &runs(trials)?)?;
    put(folder, "summary.json", format!("{:#}\n", summary(&rows)).as_bytes())?;
    let plots = plots(&rows);
    let names = plots.iter().map(|(name, _)| name.clone()).collect();
    Chapter { parts: parts(&rows, names), quick, origin: origin.to_owned() }.write(folder, &plots)
}

fn runs(trials: &[Trial]) -> Result<Vec<u8>, ArtefactError> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let head = "contender,command,keys,clients,round,requests,seconds,rps,client_us,envoy_us,servers_us,redis_us";
    csv.write_record(head.split(','))?;
    for Trial { case, round, figures } in trials {
        let spent = figures.spent_us;
        let parts = [spent.client, spent.envoy, spent.servers, spent.redis];
        let own = [
            case.contender.to_string(),
            case.command.to_string(),
            case.keys.to_string(),
            case.clients.to_string(),
            round.to_string(),
            figures.requests.to_string(),
            format!("{:.3}", figures.seconds),
            format!("{:.0}", figures.rps),
        ];
        csv.write_record(own.into_iter().chain(parts.map(|part| format!("{part:.2}"))))?;
    }
    Ok(csv.into_inner().map_err(|error| csv::Error::from(error.into_error()))?)
}

fn summary(rows: &[Row]) -> serde_json::Value {
    let row = |row: &Row| {
        let (case, spent) = (row.case, row.spent_us);
        json!({
            "strategy": case.contender.to_string(), "command": case.command.to_string(),
            "keys": case.keys, "clients": case.clients,
            "rps": row.rps, "rps_low": row.rps_low, "rps_high": row.rps_high,
            "mean_ms": case.clients as f64 * 1e3 / row.rps, "rps_over_sharded": row.over_sharded,
            "client_us": spent.client, "envoy_us": spent.envoy, "servers_us": spent.servers,
            "redis_us": spent.redis,
        })
    };
    rows.iter().map(row).collect()
}

fn parts(rows: &[Row], plots: Vec<String>) -> Vec<Part> {
    let part = |heading: &str, paragraph: &str, table| Part {
        heading: format!("Arpeggio: {heading}"),
        paragraphs: vec![paragraph.to_owned()],
        table: Some(table),
        ..Part::default()
    };
    let first = Part {
        plots,
        notes: verdicts(rows),
        ..part(
            "a store that keeps every key at two servers",
            "What does it cost, each server with a Redis of its own, behind Envoy with the filter, beside one Redis and beside \
             three that clients shard by md5? rudolph_replicated answers a read from the server's memory where that has the \
             newest value; rudolph_uncached asks its Redis each time. Ten clients; medians over the numbers of keys. \
             Published: Arpeggio (Redis behind a decentralised ring, its Table III), on machines and with a client of its own; \
             compare the shares, not the speeds.",
            published(rows),
        )
    };
    let of_all = "Requests a second. Medians over the rounds.";
    let costs_of = "Microseconds of processor time, user and kernel, with ten clients; the client's own too. Medians over the \
                    rounds and the numbers of keys.";
    vec![
        first,
        part("one client (Table I)", of_all, speeds(rows, CLIENTS[0])),
        part("ten clients (Table II)", of_all, speeds(rows, CLIENTS[1])),
        part("what a request costs", costs_of, costs(rows)),
    ]
}

fn table(head: &[&str], rows: Vec<Vec<String>>) -> Table {
    let head = head.iter().map(|cell| (*cell).to_owned()).collect();
    Table { head, rows: rows.into_iter().map(TableRow::new).collect() }
}

fn find(rows: &[Row], case: Case) -> Option<&Row> {
    rows.iter().find(|row| row.case == case)
}

fn speeds(all: &[Row], clients: usize) -> Table {
    let mut rows = Vec::new();
    for command in Command::ALL {
        for keys in KEYS {
            let of = |contender| find(all, Case { contender, command, keys, clients });
            let mut cells = vec![format!("{command}s"), keys.to_string()];
            for contender in Contender::ALL {
                let speed = of(contender).map_or(f64::NAN, |row| row.rps);
                cells.push(grouped(speed, 0));
            }
            let share = |contender| of(contender).map_or(f64::NAN, |row| row.over_sharded) * 100.0;
            let (own, uncached) = (share(Contender::Replicated), share(Contender::Uncached));
            cells.push(format!("{own:.1} %, {uncached:.1} %"));
            rows.push(cells);
        }
    }
    let own = ["", "keys"].map(str::to_owned);
    let stores = Contender::ALL.map(|contender| contender.to_string());
    let head: Vec<String> =
        own.into_iter().chain(stores).chain(["of redis_sharded".to_owned()]).collect();
    Table { head, rows: rows.into_iter().map(TableRow::new).collect() }
}

/// Medians over the numbers of keys, with ten clients.
fn with_ten(
    rows: &[Row],
    contender: Contender,
    command: Command,
    figure: impl Fn(&Row) -> f64,
) -> f64 {
    let chosen = rows.iter().filter(|row| {
        (row.case.contender, row.case.command, row.case.clients) == (contender, command, CLIENTS[1])
    });
    median(chosen.map(figure))
}

fn published(all: &[Row]) -> Table {
    let mut rows = Vec::new();
    for command in Command::ALL {
        let sharded = Contender::Sharded.published(command);
        for contender in Contender::ALL {
            let then = contender.published(command);
            rows.push(vec![
                format!("{command}s"),
                contender.to_string(),
                grouped(with_ten(all, contender, command, |row| row.rps), 0),
                format!(
                    "{:.1} %",
                    with_ten(all, contender, command, |row| row.over_sharded) * 100.0
                ),
                grouped(then, 0),
                format!("{:.1} %", then / sharded * 100.0),
            ]);
        }
    }
    let head =
        ["", "store", "requests/s", "of redis_sharded", "published", "of the published sharded"];
    table(&head, rows)
}

fn costs(all: &[Row]) -> Table {
    let mut rows = Vec::new();
    for command in Command::ALL {
        for contender in Contender::ALL {
            let parts: [fn(&Row) -> f64; 4] = [
                |row| row.spent_us.client,
                |row| row.spent_us.envoy,
                |row| row.spent_us.servers,
                |row| row.spent_us.redis,
            ];
            let parts = parts.map(|part| with_ten(all, contender, command, part));
            let mut cells = vec![format!("{command}s"), contender.to_string()];
            cells.extend(parts.map(|part| format!("{part:.1}")));
            cells.push(format!("{:.1}", parts.iter().sum::<f64>()));
            rows.push(cells);
        }
    }
    table(&["", "store", "client", "Envoy", "servers", "Redis", "together"], rows)
}

fn plots(rows: &[Row]) -> Vec<(String, String)> {
    let mut plots = Vec::new();
    for command in Command::ALL {
        let series = |contender: Contender| {
            let of = |keys| find(rows, Case { contender, command, keys, clients: CLIENTS[1] });
            let found: Vec<&Row> = KEYS.into_iter().filter_map(of).collect();
            let at = |row: &&Row| row.case.keys as f64;
            Series {
                name: contender.to_string(),
                points: found.iter().map(|row| (at(row), row.rps)).collect(),
                band: found.iter().map(|row| (at(row), row.rps_low, row.rps_high)).collect(),
                emphasis: match contender {
                    Contender::Replicated => Emphasis::Hero,
                    Contender::Redis | Contender::Sharded => Emphasis::Normal,
                    Contender::Uncached => Emphasis::Faint,
                },
            }
        };
        let chart = LineChart {
            title: format!("{command}s a second, ten clients"),
            subtitle: "Medians over the rounds; the bands reach from the lowest to the highest"
                .to_owned(),
            x: Axis::log("keys"),
            y: Axis::from_zero("requests/s"),
            series: Contender::ALL.map(series).to_vec(),
            ..LineChart::default()
        };
        plots.push((format!("{command}s"), chart.svg()));
    }
    plots
}
