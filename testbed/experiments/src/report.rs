//! All experiments on one page.

use std::path::Path;

use rudolph_charts::{Page, Section};

use crate::{
    SHIPPED,
    artefacts::{self, ArtefactError, Outcome, notice},
};

/// One self-contained page about every experiment that has results in `folder`, in the shipped order, others after.
pub fn page(folder: &Path) -> Result<Page, ArtefactError> {
    let mut sections = Vec::new();
    let mut first: Option<Outcome> = None;
    for name in names(folder)? {
        let outcome = artefacts::read(&folder.join(&name))?;
        sections.push(section(&name, &outcome));
        first.get_or_insert(outcome);
    }
    let footer = first.map_or_else(Vec::new, |outcome| {
        vec![
            format!("{}. {}.", outcome.machine, outcome.versions),
            "Raw figures of each run and each second lie in the folder of each experiment."
                .to_owned(),
        ]
    });
    Ok(Page {
        title: "Rudolph: the experiments".to_owned(),
        lead: "Strategies of the filter and Envoy's own policies side by side: real Envoy, real servers, one load \
               generator, all on one machine. Contenders ran interleaved, each on a fresh cluster with warm caches. \
               Medians over the repeats; whiskers show the lowest and the highest."
            .to_owned(),
        sections,
        footer,
    })
}

/// Folders that hold a result.
fn names(folder: &Path) -> Result<Vec<String>, ArtefactError> {
    let read = |source| ArtefactError::Read { path: folder.into(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        let entry = entry.map_err(read)?;
        if entry.path().join("result.json").is_file() {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    let place = |name: &String| SHIPPED.iter().position(|(shipped, _)| shipped == name);
    found.sort_by_key(|name| (place(name).unwrap_or(SHIPPED.len()), name.clone()));
    Ok(found)
}

fn section(name: &str, outcome: &Outcome) -> Section {
    let asks = std::iter::once(outcome.spec.asks.clone());
    let command = format!("Made by: {}", outcome.command);
    Section {
        id: name.to_owned(),
        heading: outcome.spec.title.clone(),
        paragraphs: asks.chain(outcome.paragraphs.clone()).collect(),
        figures: outcome.plots.iter().map(|plot| plot.figure.clone()).collect(),
        table: Some(outcome.table()),
        notes: outcome.verdicts.iter().map(ToString::to_string).chain([command]).collect(),
        warning: notice(outcome),
    }
}
