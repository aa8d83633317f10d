//! What the terminal can show.

use std::io::IsTerminal;

/// Characters and colours to draw with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) unicode: bool,
    pub(crate) color: bool,
}

impl Style {
    /// Block characters where the locale is UTF-8; colours on a terminal, unless NO_COLOR is set.
    pub(crate) fn of_terminal() -> Self {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        let unicode = locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        });
        let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { unicode, color }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn warn(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn full_cell(self) -> char {
        if self.unicode { '█' } else { '#' }
    }

    pub(crate) fn hot_mark(self) -> char {
        if self.unicode { '▲' } else { '!' }
    }

    pub(crate) fn mean_mark(self) -> char {
        if self.unicode { '▏' } else { '|' }
    }

    /// A cell filled from the left by `part` of its width; a blank where that rounds to nothing.
    pub(crate) fn part_of_cell(self, part: f64) -> char {
        const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
        if self.unicode {
            EIGHTHS[((part * 8.0) as usize).min(7)]
        } else if part >= 0.5 {
            '#'
        } else {
            ' '
        }
    }

    pub(crate) fn separator(self) -> &'static str {
        if self.unicode { " · " } else { ", " }
    }
}
