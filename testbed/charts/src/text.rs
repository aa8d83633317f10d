//! The widths of texts, and texts made to fit.
//!
//! Widths are those of the bundled font. A browser may draw with its own, so that layouts leave some room.

/// Weight of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

/// Advance widths of the characters from space to tilde, in thousandths of the font size.
const REGULAR: [u16; 95] = [
    259, 269, 408, 645, 571, 831, 731, 225, 299, 299, 550, 571, 268, 321, 268, 372, 571, 571, 571,
    571, 571, 571, 571, 571, 571, 571, 268, 268, 571, 571, 571, 434, 898, 639, 649, 631, 729, 556,
    519, 728, 741, 338, 272, 619, 523, 907, 759, 780, 604, 780, 622, 548, 556, 730, 600, 930, 585,
    565, 571, 329, 372, 329, 571, 443, 580, 561, 615, 479, 615, 563, 344, 615, 618, 257, 257, 534,
    257, 935, 618, 604, 615, 615, 413, 479, 360, 618, 507, 786, 528, 509, 470, 379, 550, 379, 571,
];
const BOLD: [u16; 95] = [
    259, 286, 472, 645, 571, 900, 750, 266, 338, 338, 544, 571, 285, 321, 285, 413, 571, 571, 571,
    571, 571, 571, 571, 571, 571, 571, 285, 285, 571, 571, 571, 477, 896, 689, 671, 637, 740, 560,
    548, 724, 765, 389, 331, 664, 564, 942, 812, 795, 627, 795, 660, 550, 579, 755, 649, 966, 666,
    624, 579, 331, 413, 331, 571, 411, 606, 604, 632, 514, 632, 590, 387, 632, 657, 305, 305, 620,
    305, 981, 657, 619, 632, 632, 454, 497, 434, 657, 568, 855, 578, 568, 487, 394, 550, 394, 571,
];
const OTHER: u16 = 650;
const WIDE: u16 = 1_000;
const FIRST_WIDE: char = '\u{1100}';
const ELLIPSIS: char = '…';

/// Room for the difference between the bundled font and a browser's.
const SLACK: f64 = 1.08;

fn advance(letter: char, weight: Weight) -> u16 {
    let table = match weight {
        Weight::Regular => &REGULAR,
        Weight::Bold => &BOLD,
    };
    match u32::from(letter).checked_sub(32).and_then(|index| table.get(index as usize)) {
        Some(&width) => width,
        None if letter >= FIRST_WIDE && !('\u{2000}'..'\u{2e80}').contains(&letter) => WIDE,
        None => OTHER,
    }
}

/// How wide the text is at this font size.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let sum: f64 = text.chars().map(|letter| f64::from(advance(letter, weight))).sum();
    sum * size * SLACK / 1_000.0
}

/// The text, or as much of its start as fits, with an ellipsis.
pub(crate) fn fit(text: &str, size: f64, weight: Weight, room: f64) -> String {
    if width(text, size, weight) <= room {
        return text.to_owned();
    }
    let mut left = room - width("…", size, weight);
    let mut out = String::new();
    for letter in text.chars() {
        left -= f64::from(advance(letter, weight)) * size * SLACK / 1_000.0;
        if left < 0.0 {
            break;
        }
        out.push(letter);
    }
    let mut out = out.trim_end().to_owned();
    out.push(ELLIPSIS);
    out
}

/// The name, or its start and its end with an ellipsis between, as many names differ at their ends only.
pub(crate) fn fit_name(name: &str, size: f64, weight: Weight, room: f64) -> String {
    let letters: Vec<char> = name.chars().collect();
    let shortened = (0..letters.len()).map(|removed| {
        let kept = letters.len() - removed;
        let (head, tail) = (kept - kept / 2, kept / 2);
        let mut out: String = letters[..head].iter().collect();
        if removed > 0 {
            out.push(ELLIPSIS);
        }
        out.extend(&letters[letters.len() - tail..]);
        out
    });
    let mut fitting = shortened.filter(|text| width(text, size, weight) <= room);
    fitting.next().unwrap_or_else(|| fit(name, size, weight, room))
}

/// The text in lines no wider than `room`, at most `most` of them.
pub(crate) fn wrap(text: &str, size: f64, weight: Weight, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(&word) = words.peek() {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if line.is_empty() || width(&longer, size, weight) <= room {
            line = longer;
            words.next();
        } else if lines.len() + 1 < most {
            lines.push(std::mem::take(&mut line));
        } else {
            // The last line takes the rest, to be cut with an ellipsis.
            line = longer;
            words.next();
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines.into_iter().map(|line| fit(&line, size, weight, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_bundled_font_and_a_little() {
        let letters: String = (' '..='~').collect();
        for (weight, attribute) in [(Weight::Regular, "400"), (Weight::Bold, "700")] {
            let svg = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"2000\" height=\"50\">\
                 <text y=\"30\" font-size=\"20\" font-weight=\"{attribute}\">{}</text></svg>",
                crate::escape::escape(&letters)
            );
            let tree = resvg::usvg::Tree::from_str(&svg, &crate::raster::options()).unwrap();
            let drawn = f64::from(tree.root().abs_bounding_box().width());
            let ratio = width(&letters, 20.0, weight) / drawn;
            assert!((1.02..1.12).contains(&ratio), "{weight:?}: {ratio}");
        }
    }

    #[test]
    fn fitting_text_is_left_alone() {
        assert_eq!(fit("spread", 12.0, Weight::Regular, 100.0), "spread");
    }

    #[test]
    fn a_name_keeps_both_ends() {
        let cut = |name| fit_name(name, 12.5, Weight::Regular, 100.0);
        assert_eq!(cut("pin"), "pin");
        assert_eq!(cut(""), "");
        assert_ne!(cut("maglev_bounded_150"), cut("maglev_bounded_200"));
        assert!(cut("maglev_bounded_150").starts_with("maglev"));
        assert!(cut("maglev_bounded_150").ends_with("150"));
        assert!(width(&cut("maglev_bounded_150"), 12.5, Weight::Regular) <= 100.0);
    }

    #[test]
    fn cut_text_fits() {
        let long = "maglev_bounded_150 with a very long remark".repeat(5);
        let cut = fit(&long, 12.0, Weight::Bold, 120.0);
        assert!(cut.ends_with('…'));
        assert!(width(&cut, 12.0, Weight::Bold) <= 120.0);
        assert_eq!(fit("abc", 12.0, Weight::Regular, 0.0), "…");
    }

    #[test]
    fn wrapped_lines_fit_and_lose_nothing() {
        let text = "requests per second in a closed loop of 64 clients over 5 servers";
        let lines = wrap(text, 13.0, Weight::Regular, 160.0, 9);
        assert!(lines.len() > 2);
        assert_eq!(lines.join(" "), text);
        assert!(lines.iter().all(|line| width(line, 13.0, Weight::Regular) <= 160.0));
    }

    #[test]
    fn the_last_line_is_cut() {
        let lines = wrap("one two three four five", 13.0, Weight::Regular, 60.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…'));
        assert!(wrap("  ", 13.0, Weight::Regular, 60.0, 2).is_empty());
    }
}
