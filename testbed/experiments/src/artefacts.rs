//! What is made from the raw figures: a summary for programs, a table and plots for people.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rudolph_charts::{ChartError, Table, png};

use crate::{
    Row, Trial,
    expectation::{self, Verdict},
    figures::{self, Plot},
    raw::{Setting, put},
    story, summary, table,
};

#[derive(Debug, thiserror::Error)]
pub enum ArtefactError {
    #[error("{path:?} cannot be written: {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error("{path:?} cannot be read: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("{path:?} is no experiment: {source}")]
    NotAResult { path: PathBuf, source: serde_json::Error },
    #[error("raw figures: {0}")]
    Csv(#[from] csv::Error),
    #[error("the summary cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    #[error("plot {name}: {source}")]
    Plot { name: String, source: ChartError },
}

impl ArtefactError {
    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.into(), source }
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.into(), source }
    }
}

/// Sharp on a screen that shows it at its own size.
const PNG_SCALE: f32 = 2.0;

pub(crate) const QUICK_NOTICE: &str =
    "A quick run: it shows that everything works, and its figures mean nothing.";

/// All that an experiment tells.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub setting: Setting,
    pub rows: Vec<Row>,
    pub paragraphs: Vec<String>,
    pub verdicts: Vec<Verdict>,
    /// Why figures are void; empty if none are.
    pub void: Vec<String>,
    pub plots: Vec<Plot>,
}

impl Outcome {
    /// What the trials add up to.
    #[must_use]
    pub fn of(setting: Setting, trials: &[Trial]) -> Self {
        let spec = &setting.spec;
        let rows = summary::rows(spec, trials);
        Self {
            paragraphs: story::paragraphs(spec, &rows, trials),
            verdicts: expectation::verdicts(spec, &rows),
            void: void(trials),
            plots: figures::plots(spec, &rows, trials),
            rows,
            setting,
        }
    }

    #[must_use]
    pub fn table(&self) -> Table {
        table::table(&self.setting.spec, &self.rows)
    }

    /// What a reader must know before the figures.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        let quick = self.setting.quick.then(|| QUICK_NOTICE.to_owned());
        let void = (!self.void.is_empty()).then(|| {
            let reasons = self.void.join(". ");
            format!("Void, because this machine was the limit and not the servers: {reasons}.")
        });
        let parts: Vec<String> = quick.into_iter().chain(void).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// Where and with what it was measured.
    #[must_use]
    pub fn origin(&self) -> String {
        let Setting { machine, versions, command, .. } = &self.setting;
        format!("{machine}. {versions}. `{command}`")
    }

    /// Writes summary, table and plots into `folder`, in place of earlier ones.
    pub fn write(&self, folder: &Path) -> Result<(), ArtefactError> {
        let rows = serde_json::to_string_pretty(&summary::to_json(&self.rows))? + "\n";
        put(folder, "summary.json", rows.as_bytes())?;
        put(folder, "table.md", self.page().as_bytes())?;
        write_plots(folder, self.plots.iter().map(|plot| (&*plot.name, &*plot.svg)))
    }

    /// The table and what was asked, for reading beside the raw files.
    fn page(&self) -> String {
        let spec = &self.setting.spec;
        let mut page = format!("# {}\n\n{}\n\n", spec.title, spec.asks);
        if let Some(notice) = self.notice() {
            page += &format!("**{notice}**\n\n");
        }
        page += &self.table().markdown();
        for paragraph in &self.paragraphs {
            page += &format!("\n{paragraph}\n");
        }
        if !self.verdicts.is_empty() {
            page.push('\n');
        }
        for verdict in &self.verdicts {
            page += &format!("- {verdict}\n");
        }
        page += &format!("\n{}\n", self.origin());
        page
    }
}

fn void(trials: &[Trial]) -> Vec<String> {
    let reasons = trials.iter().filter(|trial| !trial.void.is_empty());
    reasons
        .map(|trial| {
            format!("{}, repeat {}: {}", trial.contender, trial.repeat + 1, trial.void.join("; "))
        })
        .collect()
}

/// Writes plots, by name and SVG, also as PNG, in place of earlier ones.
pub fn write_plots<'p>(
    folder: &Path,
    plots: impl Iterator<Item = (&'p str, &'p str)>,
) -> Result<(), ArtefactError> {
    remove_plots(folder)?;
    for (name, svg) in plots {
        put(folder, &format!("{name}.svg"), svg.as_bytes())?;
        let drawn = png(svg, PNG_SCALE)
            .map_err(|source| ArtefactError::Plot { name: name.to_owned(), source })?;
        put(folder, &format!("{name}.png"), &drawn)?;
    }
    Ok(())
}

/// An earlier run may have had other ones.
fn remove_plots(folder: &Path) -> Result<(), ArtefactError> {
    let entries = fs::read_dir(folder).map_err(|source| ArtefactError::read(folder, source))?;
    for entry in entries {
        let path = entry.map_err(|source| ArtefactError::read(folder, source))?.path();
        if path.extension().is_some_and(|ending| ending == "svg" || ending == "png") {
            fs::remove_file(&path).map_err(|source| ArtefactError::write(&path, source))?;
        }
    }
    Ok(())
}
