//! One self-contained HTML page of charts and tables.

use crate::escape::escape;
use crate::palette::style_sheet;
use crate::table::Table;

/// One part of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// What links to the section end with. Made of letters, digits and dashes; what else is in it becomes a dash.
    pub id: String,
    pub heading: String,
    /// Plain text; what stands between backticks is set as code.
    pub paragraphs: Vec<String>,
    /// What the charts' `figure()` gives, which fits phones too, or `svg()`.
    pub figures: Vec<String>,
    pub table: Option<Table>,
    pub notes: Vec<String>,
    /// Why the section's figures are not to be trusted.
    pub warning: Option<String>,
}

/// A page with a table of contents, in light or dark as the reader's system is, that needs nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub title: String,
    pub lead: String,
    pub sections: Vec<Section>,
    pub footer: Vec<String>,
}

const STYLE: &str = include_str!("page.css");

impl Page {
    /// The whole page as one file.
    #[must_use]
    pub fn html(&self) -> String {
        let ids = self.ids();
        let title = escape(&self.title);
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>\n{STYLE}</style>\n{}\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n",
            style_sheet()
        );
        if !self.lead.is_empty() {
            out.push_str(&format!("<p class=\"lead\">{}</p>\n", prose(&self.lead)));
        }
        out.push_str("</header>\n");
        self.push_contents(&mut out, &ids);
        out.push_str("<main>\n");
        for (section, id) in self.sections.iter().zip(&ids) {
            section.push(&mut out, id);
        }
        out.push_str("</main>\n<footer>\n");
        for line in &self.footer {
            out.push_str(&format!("<p>{}</p>\n", prose(line)));
        }
        out.push_str("</footer>\n</body>\n</html>\n");
        out
    }

    fn push_contents(&self, out: &mut String, ids: &[String]) {
        if self.sections.len() < 2 {
            return;
        }
        out.push_str("<nav aria-label=\"Contents\">\n<ol>\n");
        for (section, id) in self.sections.iter().zip(ids) {
            let void =
                if section.warning.is_some() { " <span class=\"void\">void</span>" } else { "" };
            out.push_str(&format!(
                "<li><a href=\"#{id}\">{}</a>{void}</li>\n",
                escape(&section.heading)
            ));
        }
        out.push_str("</ol>\n</nav>\n");
    }

    /// An id for each section, none twice.
    fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for (index, section) in self.sections.iter().enumerate() {
            let wanted = if section.id.is_empty() { &section.heading } else { &section.id };
            let mut id = safe_id(wanted);
            if id.is_empty() || ids.contains(&id) {
                id = format!("{id}-section-{}", index + 1).trim_start_matches('-').to_owned();
            }
            ids.push(id);
        }
        ids
    }
}

impl Section {
    fn push(&self, out: &mut String, id: &str) {
        let heading = escape(&self.heading);
        out.push_str(&format!("<section id=\"{id}\">\n<h2><a href=\"#{id}\">{heading}</a></h2>\n"));
        if let Some(warning) = &self.warning {
            out.push_str(&format!("<p class=\"warning\" role=\"alert\">{}</p>\n", prose(warning)));
        }
        for paragraph in &self.paragraphs {
            out.push_str(&format!("<p>{}</p>\n", prose(paragraph)));
        }
        // The page has the charts' colours once, for all of them.
        let style = style_sheet();
        for figure in &self.figures {
            out.push_str(&format!(
                "<figure tabindex=\"0\">{}</figure>\n",
                figure.replace(&style, "").trim_end()
            ));
        }
        if let Some(table) = &self.table {
            out.push_str(&format!(
                "<div class=\"table\" tabindex=\"0\">\n{}</div>\n",
                table.html()
            ));
        }
        if !self.notes.is_empty() {
            out.push_str("<ul class=\"notes\">\n");
            for note in &self.notes {
                out.push_str(&format!("<li>{}</li>\n", prose(note)));
            }
            out.push_str("</ul>\n");
        }
        out.push_str("</section>\n");
    }
}

fn safe_id(wanted: &str) -> String {
    let dashed: String = wanted
        .chars()
        .map(
            |letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' },
        )
        .collect();
    let words: Vec<&str> = dashed.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-")
}

/// Escaped text, with what stands between two backticks as code.
fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let mut out = String::new();
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        if index % 2 == 0 {
            out.push_str(&escape(part));
        } else if is_last {
            // A backtick without its pair is a backtick.
            out.push_str(&format!("`{}", escape(part)));
        } else {
            out.push_str(&format!("<code>{}</code>", escape(part)));
        }
    }
    out
}
