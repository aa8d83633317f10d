//! Tables for Markdown, HTML and terminals.

use serde::{Deserialize, Serialize};

use crate::escape::escape;
use crate::heading::Emphasis;

/// One row of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    pub cells: Vec<String>,
    pub emphasis: Emphasis,
    /// Whether the row was published elsewhere: drawn italic.
    pub is_reference: bool,
}

impl Row {
    /// A plain row.
    #[must_use]
    pub fn new(cells: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Row { cells: cells.into_iter().map(Into::into).collect(), ..Row::default() }
    }
}

/// A table whose columns of numbers are aligned to the right.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    pub head: Vec<String>,
    /// Rows with fewer cells than the widest are filled up.
    pub rows: Vec<Row>,
}

impl Table {
    /// As Markdown with its columns aligned in the source too.
    #[must_use]
    pub fn markdown(&self) -> String {
        let head: Vec<String> = self.padded(&self.head).map(markdown_cell).collect();
        let body: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| {
                self.padded(&row.cells).map(|cell| marked(row, &markdown_cell(cell))).collect()
            })
            .collect();
        let numeric = self.numeric_columns();
        let widths = widths(&head, &body, 3);
        let rule: Vec<String> =
            widths
                .iter()
                .zip(&numeric)
                .map(|(width, numeric)| {
                    if *numeric {
                        format!("{}:", "-".repeat(width - 1))
                    } else {
                        "-".repeat(*width)
                    }
                })
                .collect();
        let mut out = String::new();
        for cells in [&head, &rule].into_iter().chain(&body) {
            let cells: Vec<String> = aligned(cells, &widths, &numeric).collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        out
    }

    /// As text for a terminal. The hero's row is marked with `>`, references with `~`.
    #[must_use]
    pub fn text(&self) -> String {
        let head: Vec<String> = self.padded(&self.head).map(one_line).collect();
        let body: Vec<Vec<String>> =
            self.rows.iter().map(|row| self.padded(&row.cells).map(one_line).collect()).collect();
        let numeric = self.numeric_columns();
        let widths = widths(&head, &body, 0);
        let has_marks = self.rows.iter().any(|row| mark(row) != ' ');
        let mut out = String::new();
        let mut push = |mark: char, cells: &[String]| {
            let cells: Vec<String> = aligned(cells, &widths, &numeric).collect();
            let gutter = if has_marks { format!("{mark} ") } else { String::new() };
            out.push_str(format!("{gutter}{}", cells.join("  ")).trim_end());
            out.push('\n');
        };
        push(' ', &head);
        let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        push(' ', &rule);
        for (row, cells) in self.rows.iter().zip(&body) {
            push(mark(row), cells);
        }
        out
    }

    /// As an HTML `table` element.
    #[must_use]
    pub fn html(&self) -> String {
        let numeric = self.numeric_columns();
        let mut out = String::from("<table>\n<thead><tr>");
        for (cell, numeric) in self.padded(&self.head).zip(&numeric) {
            out.push_str(&format!("<th{}>{}</th>", number_class(*numeric), escape(cell)));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            out.push_str(&format!("<tr{}>", row_class(row)));
            for (cell, numeric) in self.padded(&row.cells).zip(&numeric) {
                out.push_str(&format!("<td{}>{}</td>", number_class(*numeric), escape(cell)));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n");
        out
    }

    fn columns(&self) -> usize {
        self.rows.iter().map(|row| row.cells.len()).chain([self.head.len()]).max().unwrap_or(0)
    }

    fn padded<'a>(&self, cells: &'a [String]) -> impl Iterator<Item = &'a str> + use<'a> {
        let columns = self.columns();
        cells.iter().map(String::as_str).chain(std::iter::repeat("")).take(columns)
    }

    /// Columns in which some cell is a number and every other is one or empty.
    fn numeric_columns(&self) -> Vec<bool> {
        (0..self.columns())
            .map(|column| {
                let cells = || self.rows.iter().filter_map(|row| row.cells.get(column));
                cells().any(|cell| is_number(cell))
                    && cells().all(|cell| is_number(cell) || is_blank(cell))
            })
            .collect()
    }
}

/// Whether the cell's first word is a number, perhaps with a sign before it and a unit after it.
///
/// Addresses and dates start with digits too, but are none.
fn is_number(cell: &str) -> bool {
    let signs = ['+', '-', '−', '±', '<', '>', '≤', '≥', '~', '(', ' '];
    let unsigned = cell.trim().trim_start_matches(signs);
    let word = unsigned.split_whitespace().next().unwrap_or_default();
    let units = |last: char| last.is_alphabetic() || matches!(last, '%' | '×' | ')' | ',');
    let digits = word.trim_end_matches(units).replace(',', "");
    digits.starts_with(|first: char| first.is_ascii_digit()) && digits.parse::<f64>().is_ok()
}

fn is_blank(cell: &str) -> bool {
    matches!(cell.trim(), "" | "-" | "–" | "—" | "n/a")
}

fn mark(row: &Row) -> char {
    match (row.emphasis, row.is_reference) {
        (Emphasis::Hero, _) => '>',
        (_, true) => '~',
        (Emphasis::Normal | Emphasis::Faint, false) => ' ',
    }
}

fn marked(row: &Row, cell: &str) -> String {
    match mark(row) {
        _ if cell.is_empty() => String::new(),
        '>' => format!("**{cell}**"),
        '~' => format!("*{cell}*"),
        _ => cell.to_owned(),
    }
}

fn row_class(row: &Row) -> String {
    let mut classes = Vec::new();
    match row.emphasis {
        Emphasis::Hero => classes.push("hero"),
        Emphasis::Faint => classes.push("faint"),
        Emphasis::Normal => {}
    }
    if row.is_reference {
        classes.push("reference");
    }
    if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) }
}

fn number_class(numeric: bool) -> &'static str {
    if numeric { " class=\"number\"" } else { "" }
}

/// The cell without characters that would end it or move a terminal's cursor.
fn one_line(cell: &str) -> String {
    let cell: String =
        cell.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    cell.trim().to_owned()
}

fn markdown_cell(cell: &str) -> String {
    let mut out = String::new();
    for letter in one_line(cell).chars() {
        match letter {
            '\\' | '|' | '*' | '`' | '[' | ']' => out.extend(['\\', letter]),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            _ => out.push(letter),
        }
    }
    out
}

fn widths(head: &[String], body: &[Vec<String>], least: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = head.iter().map(|cell| cell.chars().count().max(least)).collect();
    for row in body {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    widths
}

fn aligned<'a>(
    cells: &'a [String],
    widths: &'a [usize],
    numeric: &'a [bool],
) -> impl Iterator<Item = String> + use<'a> {
    cells.iter().zip(widths).zip(numeric).map(|((cell, &width), &numeric)| {
        if numeric { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
    })
}
