//! Puts one block of lines where the last one stood.

use std::io::{self, IsTerminal, Write};

/// On a terminal each block is drawn over the one before; elsewhere blocks follow each other with an empty line between.
#[derive(Debug)]
pub(crate) struct Screen<W> {
    out: W,
    redraw: bool,
    drawn: usize,
}

impl Screen<io::Stdout> {
    pub(crate) fn of_terminal() -> Self {
        let out = io::stdout();
        Self { redraw: out.is_terminal(), out, drawn: 0 }
    }
}

impl<W: Write> Screen<W> {
    /// Lines that stay: the next block comes below them.
    pub(crate) fn say(&mut self, lines: &[String]) -> io::Result<()> {
        self.drawn = 0;
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    pub(crate) fn draw(&mut self, lines: &[String]) -> io::Result<()> {
        let mut block = String::new();
        if self.redraw {
            // A line that is too long is cut: wrapped, it would leave the count of lines wrong.
            block.push_str("\x1b[?7l");
        }
        if self.redraw && self.drawn > 0 {
            block.push_str(&format!("\x1b[{}A", self.drawn));
        }
        for line in lines {
            block.push_str(line);
            // What is left of a longer line before goes too.
            block.push_str(if self.redraw { "\x1b[K\n" } else { "\n" });
        }
        block.push_str(if self.redraw { "\x1b[J\x1b[?7h" } else { "\n" });
        self.drawn = lines.len();
        self.out.write_all(block.as_bytes())?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(redraw: bool, blocks: &[&[&str]]) -> String {
        let mut screen = Screen { out: Vec::new(), redraw, drawn: 0 };
        for block in blocks {
            let lines: Vec<String> = block.iter().map(|line| (*line).to_owned()).collect();
            screen.draw(&lines).unwrap();
        }
        String::from_utf8(screen.out).unwrap()
    }

    #[test]
    fn a_terminal_shows_each_block_over_the_last() {
        let text = drawn(true, &[&["a", "b"], &["c"]]);
        assert_eq!(
            text,
            "\x1b[?7la\x1b[K\nb\x1b[K\n\x1b[J\x1b[?7h\x1b[?7l\x1b[2Ac\x1b[K\n\x1b[J\x1b[?7h"
        );
    }

    #[test]
    fn what_is_said_is_not_drawn_over() {
        let mut screen = Screen { out: Vec::new(), redraw: true, drawn: 0 };
        screen.draw(&["a".to_owned()]).unwrap();
        screen.say(&["b".to_owned()]).unwrap();
        screen.draw(&["c".to_owned()]).unwrap();
        assert_eq!(
            String::from_utf8(screen.out).unwrap(),
            "\x1b[?7la\x1b[K\n\x1b[J\x1b[?7hb\n\x1b[?7lc\x1b[K\n\x1b[J\x1b[?7h"
        );
    }

    #[test]
    fn a_file_gets_plain_blocks() {
        assert_eq!(drawn(false, &[&["a", "b"], &["c"]]), "a\nb\n\nc\n\n");
    }
}
