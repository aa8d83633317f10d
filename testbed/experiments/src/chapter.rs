//! An experiment in a form of its own: its program writes what there is to tell, and the page of all experiments takes it
//! over as it is.

use std::fs;
use std::path::Path;

use rudolph_charts::{Section, Table};
use serde::{Deserialize, Serialize};

use crate::artefacts::{ArtefactError, QUICK_NOTICE, write_plots};
use crate::raw::put;

const FILE: &str = "chapter.json";

/// What one experiment tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chapter {
    /// The first has the experiment's question and its verdicts.
    pub parts: Vec<Part>,
    pub quick: bool,
    /// Where and with what it was measured.
    pub origin: String,
}

/// One section of the page.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Part {
    pub heading: String,
    pub paragraphs: Vec<String>,
    /// Names of plots.
    pub plots: Vec<String>,
    pub table: Option<Table>,
    pub notes: Vec<String>,
}

/// Whether a folder holds such an experiment.
pub(crate) fn is_there(folder: &Path) -> bool {
    folder.join(FILE).is_file()
}

/// The sections of the experiment in `folder`.
pub(crate) fn sections(folder: &Path, name: &str) -> Result<Vec<Section>, ArtefactError> {
    let path = folder.join(FILE);
    let text = fs::read(&path).map_err(|source| ArtefactError::read(&path, source))?;
    let chapter: Chapter = serde_json::from_slice(&text)
        .map_err(|source| ArtefactError::NotAResult { path, source })?;
    let Chapter { parts, quick, origin } = chapter;
    let section = |(number, part): (usize, Part)| {
        let figure = |plot: &String| {
            let path = folder.join(format!("{plot}.svg"));
            fs::read_to_string(&path).map_err(|source| ArtefactError::read(&path, source))
        };
        let first = number == 0;
        Ok(Section {
            id: if first { name.to_owned() } else { format!("{name}-{}", number + 1) },
            heading: part.heading,
            paragraphs: part.paragraphs,
            figures: part.plots.iter().map(figure).collect::<Result<_, _>>()?,
            table: part.table,
            notes: part.notes.into_iter().chain(first.then(|| origin.clone())).collect(),
            warning: quick.then(|| QUICK_NOTICE.to_owned()),
        })
    };
    parts.into_iter().enumerate().map(section).collect()
}

impl Chapter {
    /// Writes what is told, for the page and for who reads the folder, and the plots, by name and SVG. Returns the latter
    /// text.
    pub fn write(
        &self,
        folder: &Path,
        plots: &[(String, String)],
    ) -> Result<String, ArtefactError> {
        put(folder, FILE, (serde_json::to_string_pretty(self)? + "\n").as_bytes())?;
        write_plots(folder, plots.iter().map(|(name, svg)| (&**name, &**svg)))?;
        let text = self.markdown();
        put(folder, "table.md", text.as_bytes())?;
        Ok(text)
    }

    fn markdown(&self) -> String {
        let mut text = String::new();
        for (number, part) in self.parts.iter().enumerate() {
            let marks = if number == 0 { "#" } else { "\n##" };
            text += &format!("{marks} {}\n", part.heading);
            if number == 0 && self.quick {
                text += &format!("\n**{QUICK_NOTICE}**\n");
            }
            for paragraph in &part.paragraphs {
                text += &format!("\n{paragraph}\n");
            }
            if let Some(table) = &part.table {
                text += &format!("\n{}", table.markdown());
            }
            if !part.notes.is_empty() {
                text.push('\n');
            }
            for note in &part.notes {
                text += &format!("- {note}\n");
            }
        }
        text + &format!("\n{}\n", self.origin)
    }
}

#[cfg(test)]
mod tests {
    use rudolph_charts::Row;

    use super::*;

    #[test]
    fn what_is_written_is_on_the_page_and_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let table = Table {
            head: vec!["store".into()],
            rows: vec![Row::new(["redis"]), Row::new(["own"])],
        };
        let first = Part {
            heading: "Stores".into(),
            paragraphs: vec!["What does it cost?".into()],
            plots: vec!["cost".into()],
            table: Some(table),
            notes: vec!["held: all".into()],
        };
        let second = Part { heading: "Stores: more".into(), ..Part::default() };
        let origin = "This machine. `make it`".to_owned();
        let chapter = Chapter { parts: vec![first, second], quick: false, origin };
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"></svg>";
        let text = chapter.write(folder.path(), &[("cost".into(), svg.into())]).unwrap();
        for piece in ["# Stores\n", "| redis |", "- held: all\n", "## Stores: more\n", "`make it`"]
        {
            assert!(text.contains(piece), "{piece:?} is not in {text}");
        }
        assert!(is_there(folder.path()) && folder.path().join("cost.png").is_file());
        let sections = sections(folder.path(), "stores").unwrap();
        let ids: Vec<&str> = sections.iter().map(|section| section.id.as_str()).collect();
        assert_eq!(ids, ["stores", "stores-2"]);
        assert_eq!(sections[0].figures, [svg]);
        assert_eq!(sections[0].notes, ["held: all", "This machine. `make it`"]);
        assert_eq!(sections[1].notes, [""; 0]);
    }
}
