//! The command line of the simulator.

mod cli;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use cli::Cli;
use indicatif::{ProgressBar, ProgressStyle};
use rudolph_simulator::report::{self, Summary, advice_text};
use rudolph_simulator::run;
use rudolph_simulator::scenario::{Strategy, Variant, sweep};
use rudolph_simulator::trace::{self, KeyOfLine, Question};

fn main() -> ExitCode {
    match work(&Cli::parse()) {
        Ok(text) => print(&text),
        Err(problem) => {
            eprintln!("rudolph-sim: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Someone may have stopped reading, as `head` does: no failure of ours.
fn print(text: &str) -> ExitCode {
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

fn work(cli: &Cli) -> Result<String, String> {
    if let Some(path) = &cli.trace {
        return answer(cli, path);
    }
    let variants = scenarios(cli)?;
    let threads = cli.threads.unwrap_or_else(cores);
    let bar = progress(run::count(&variants) as u64);
    let outcomes = run::run_all(&variants, threads, &|| bar.inc(1)).map_err(|e| e.to_string())?;
    bar.finish_and_clear();
    let summary = Summary::of(&variants, &outcomes);
    write_page(cli, || report::page(&variants, &outcomes, &summary, &command()))?;
    if cli.json {
        let json = serde_json::to_string_pretty(&summary).map_err(|error| error.to_string())?;
        return Ok(json + "\n");
    }
    Ok(summary.to_text())
}

/// What a trace asks for.
fn answer(cli: &Cli, path: &Path) -> Result<String, String> {
    let how = KeyOfLine::parse(&cli.key).map_err(|problem| format!("--key: {problem}"))?;
    let today = Strategy::named(&cli.today).map_err(|problem| format!("--today: {problem}"))?;
    let [Variant { scenario, .. }] = &scenarios(cli)?[..] else {
        return Err("a trace is run under one set of conditions, without a sweep".into());
    };
    let trace = trace::read(path, &how).map_err(|error| error.to_string())?;
    let question = Question { scenario: scenario.clone(), rps: cli.rps, today };
    let bar = progress(2 * scenario.strategies.len() as u64);
    let advice = trace::advise(&trace, &question, &|| bar.inc(1)).map_err(|e| e.to_string())?;
    bar.finish_and_clear();
    write_page(cli, || report::advice_page(&advice, &command()))?;
    if cli.json {
        return serde_json::to_string_pretty(&advice).map(|j| j + "\n").map_err(|e| e.to_string());
    }
    Ok(advice_text(&advice))
}

fn scenarios(cli: &Cli) -> Result<Vec<Variant>, String> {
    let text = match &cli.scenario {
        None => String::new(),
        Some(path) => std::fs::read_to_string(path)
            .map_err(|error| format!("{} cannot be read: {error}", path.display()))?,
    };
    let mut table = sweep::parse(&text).map_err(|error| error.to_string())?;
    for (field, value) in cli.fields()? {
        sweep::set(&mut table, &field, &value).map_err(|error| error.to_string())?;
    }
    sweep::variants(table).map_err(|error| error.to_string())
}

fn write_page(cli: &Cli, page: impl FnOnce() -> String) -> Result<(), String> {
    let Some(path) = &cli.plot else { return Ok(()) };
    std::fs::write(path, page())
        .map_err(|error| format!("--plot: {} cannot be written: {error}", path.display()))
}

/// What was typed, for the page to say.
fn command() -> String {
    let words = std::env::args().skip(1);
    std::iter::once("rudolph-sim".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// On standard error, and only where that is a terminal.
fn progress(runs: u64) -> ProgressBar {
    let bar = ProgressBar::new(runs);
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} runs, {eta} to go");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}
