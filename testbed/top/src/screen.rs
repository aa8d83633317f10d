//! Puts one block of lines where the last one stood.

use std::io::{self, IsTerminal, Write};

#[derive(Debug)]
pub(crate) struct Screen<W> {
    out: W,
    redraw: bool,
}

impl Screen<io::Stdout> {
    pub(crate) fn of_terminal() -> Self {
        let out = io::stdout();
        Self { redraw: out.is_terminal(), out }
    }
}

impl<W: Write> Screen<W> {
    pub(crate) fn is_terminal(&self) -> bool {
        self.redraw
    }

    /// On a terminal from its top, each line cut at its edge; elsewhere one block after the other.
    pub(crate) fn draw(&mut self, lines: &[String]) -> io::Result<()> {
        let mut block = String::new();
        if self.redraw {
            block.push_str("\x1b[?7l\x1b[H");
        }
        for line in lines {
            block.push_str(line);
            block.push_str(if self.redraw { "\x1b[K\r\n" } else { "\n" });
        }
        block.push_str(if self.redraw { "\x1b[J\x1b[?7h" } else { "\n" });
        self.out.write_all(block.as_bytes())?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(redraw: bool) -> String {
        let mut screen = Screen { out: Vec::new(), redraw };
        screen.draw(&["a".to_owned(), "b".to_owned()]).unwrap();
        String::from_utf8(screen.out).unwrap()
    }

    #[test]
    fn a_terminal_is_drawn_over_and_a_file_gets_plain_text() {
        assert_eq!(drawn(true), "\x1b[?7l\x1b[Ha\x1b[K\r\nb\x1b[K\r\n\x1b[J\x1b[?7h");
        assert_eq!(drawn(false), "a\nb\n\n");
    }
}
