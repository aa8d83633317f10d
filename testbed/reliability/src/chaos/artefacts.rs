//! `chaos.json` and `chaos.md`.

use std::fs;
use std::path::Path;

use rudolph_charts::{Row, Table, grouped};
use serde::Serialize;

use super::{Judgement, Plan, Trial};
use crate::ReliabilityError;

#[derive(Serialize)]
struct Document<'d> {
    versions: &'d str,
    rate: f64,
    seed: u64,
    phases: super::Phases,
    trials: &'d [Trial],
    broken_promises: &'d [Judgement],
}

/// Writes both files, and returns the table for a terminal.
pub fn write(
    folder: &Path,
    plan: &Plan,
    versions: &str,
    trials: &[Trial],
    broken: &[Judgement],
) -> Result<String, ReliabilityError> {
    fs::create_dir_all(folder).map_err(|source| ReliabilityError::file("make", folder, source))?;
    let Plan { rate, seed, phases, .. } = *plan;
    let document = Document { versions, rate, seed, phases, trials, broken_promises: broken };
    let json = serde_json::to_string_pretty(&document).map_err(|error| {
        ReliabilityError::Output { what: "chaos.json", reason: error.to_string() }
    })?;
    let table = table(trials);
    let verdict = match broken {
        [] => "Every promise held.".to_owned(),
        broken => {
            let line = |judgement: &Judgement| {
                format!("- {}: {}", judgement.fault.name(), judgement.reason)
            };
            format!(
                "Broken promises:\n\n{}",
                broken.iter().map(line).collect::<Vec<_>>().join("\n")
            )
        }
    };
    let page = format!(
        "# Chaos\n\nFive servers, two workers, {rate} GET requests a second whatever the answers do; {versions}.\n\
         {} s before the fault, {} s with it, {} s after it. {verdict}\n\n{}",
        phases.before.as_secs_f64(),
        phases.fault.as_secs_f64(),
        phases.after.as_secs_f64(),
        table.markdown(),
    );
    for (name, text) in [("chaos.json", &json), ("chaos.md", &page)] {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|source| ReliabilityError::file("write", &path, source))?;
    }
    Ok(table.text())
}

fn table(trials: &[Trial]) -> Table {
    let head = [
        "fault",
        "by",
        "requests",
        "failed",
        "why",
        "p99 ms",
        "slowest ms",
        "hits %",
        "broken for, s",
        "steady with it, s",
        "steady after it, s",
    ];
    let mut trials: Vec<&Trial> = trials.iter().collect();
    trials.sort_by_key(|trial| (trial.fault, trial.contender));
    Table { head: head.map(str::to_owned).to_vec(), rows: trials.into_iter().map(row).collect() }
}

fn row(trial: &Trial) -> Row {
    let outcome = &trial.outcome;
    let causes: Vec<String> =
        outcome.errors.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
    let seconds =
        |steady: Option<u64>| steady.map_or_else(|| "never".to_owned(), |s| s.to_string());
    Row::new([
        trial.fault.name().to_owned(),
        trial.contender.name().to_owned(),
        grouped(outcome.requests as f64, 0),
        grouped(outcome.failed() as f64, 0),
        causes.join(", "),
        grouped(outcome.p99_ms, 0),
        grouped(outcome.max_ms, 0),
        format!("{:.1}", outcome.hit_percent),
        format!("{:.1}", trial.fault_s),
        seconds(outcome.steadiness.with_fault_s),
        seconds(outcome.steadiness.after_fault_s),
    ])
}
