//! All experiments on one page.

use std::path::Path;

use rudolph_charts::{Page, Section};

use crate::{
    SHIPPED,
    artefacts::{ArtefactError, Outcome},
    chapter, raw, sequential,
};

/// Makes everything anew from the raw figures in `folder`, and one self-contained page about all its experiments, in the
/// shipped order, others after.
pub fn page(folder: &Path) -> Result<Page, ArtefactError> {
    let mut sections = Vec::new();
    let mut origin = None;
    for name in names(folder)? {
        let own = folder.join(&name);
        if name == sequential::NAME {
            sections.extend(sequential::again(&own)?.sections());
            continue;
        }
        if chapter::is_there(&own) {
            sections.extend(chapter::sections(&own, &name)?);
            continue;
        }
        let (setting, trials) = raw::read(&own)?;
        let outcome = Outcome::of(setting, &trials);
        outcome.write(&own)?;
        sections.push(section(&name, &outcome));
        let setting = outcome.setting;
        origin.get_or_insert(format!("{}. {}.", setting.machine, setting.versions));
    }
    let raw = "Raw figures of each run and each second lie in the folder of each experiment.";
    Ok(Page {
        title: "Rudolph: the experiments".to_owned(),
        lead: "Strategies of the filter and Envoy's own policies side by side: real Envoy, real servers, one load \
               generator, all on one machine. Contenders ran interleaved, each on a fresh cluster with warm caches. \
               Medians over the repeats; whiskers show the lowest and the highest."
            .to_owned(),
        sections,
        footer: origin.into_iter().chain([raw.to_owned()]).collect(),
    })
}

/// Folders that hold an experiment.
fn names(folder: &Path) -> Result<Vec<String>, ArtefactError> {
    let failed = |source| ArtefactError::read(folder, source);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if raw::is_there(&entry.path()) || chapter::is_there(&entry.path()) {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    let place = |name: &String| SHIPPED.iter().position(|(shipped, _)| shipped == name);
    found.sort_by_key(|name| (place(name).unwrap_or(SHIPPED.len()), name.clone()));
    Ok(found)
}

fn section(name: &str, outcome: &Outcome) -> Section {
    let spec = &outcome.setting.spec;
    let asks = std::iter::once(spec.asks.clone());
    let command = format!("Made by `{}`", outcome.setting.command);
    Section {
        id: name.to_owned(),
        heading: spec.title.clone(),
        paragraphs: asks.chain(outcome.paragraphs.clone()).collect(),
        figures: outcome.plots.iter().map(|plot| plot.figure.clone()).collect(),
        table: Some(outcome.table()),
        notes: outcome.verdicts.iter().map(ToString::to_string).chain([command]).collect(),
        warning: outcome.notice(),
    }
}
