//! Colours. Every colour is one class: light in the element itself, dark in the style sheet.

/// What an element is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Text,
    Muted,
    Axis,
    Grid,
    Bar,
    FaintBar,
    Surface,
    Series(usize),
}

/// The hero's colour among those of series.
pub(crate) const ACCENT: usize = 0;

/// Light and dark variants; each readable as text on its background.
const SERIES: [(&str, &str); 10] = [
    ("#c93a00", "#ff7d4d"),
    ("#2466b0", "#6fb3f7"),
    ("#00766a", "#43c6b2"),
    ("#7846ad", "#bf9bf2"),
    ("#8f5e00", "#e0b04a"),
    ("#b0386c", "#f590b9"),
    ("#7a5240", "#d0a28a"),
    ("#56687a", "#a5b5c6"),
    ("#5a6b00", "#b7ca5d"),
    ("#24292f", "#eef1f4"),
];

impl Ink {
    pub(crate) fn class(self) -> String {
        match self {
            Ink::Text => "ct".to_owned(),
            Ink::Muted => "cm".to_owned(),
            Ink::Axis => "ca".to_owned(),
            Ink::Grid => "cg".to_owned(),
            Ink::Bar => "cb".to_owned(),
            Ink::FaintBar => "cf".to_owned(),
            Ink::Surface => "cs".to_owned(),
            Ink::Series(index) => format!("c{}", index % SERIES.len()),
        }
    }

    pub(crate) fn light(self) -> &'static str {
        self.pair().0
    }

    fn pair(self) -> (&'static str, &'static str) {
        match self {
            Ink::Text => ("#1b2026", "#e8ebee"),
            Ink::Muted => ("#5a636d", "#a3acb7"),
            Ink::Axis => ("#9aa3ad", "#5d6772"),
            Ink::Grid => ("#e7e9ec", "#2a3038"),
            Ink::Bar => ("#a3b0bd", "#5f6e7e"),
            Ink::FaintBar => ("#d4dae0", "#3a434d"),
            Ink::Surface => ("#ffffff", "#14181d"),
            Ink::Series(index) => SERIES[index % SERIES.len()],
        }
    }
}

/// The dark colours of all classes, for a viewer that asks for them.
pub(crate) fn style_sheet() -> String {
    let fixed =
        [Ink::Text, Ink::Muted, Ink::Axis, Ink::Grid, Ink::Bar, Ink::FaintBar, Ink::Surface];
    let series = (0..SERIES.len()).map(Ink::Series);
    let rules: String = fixed
        .into_iter()
        .chain(series)
        .map(|ink| format!(".chart .{}{{color:{}}}", ink.class(), ink.pair().1))
        .collect();
    format!("<style>@media (prefers-color-scheme:dark){{{rules}}}</style>")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SURFACE: (&str, &str) = ("#ffffff", "#14181d");

    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
        (one / other).max(other / one)
    }

    #[test]
    fn every_text_colour_is_readable_in_both_themes() {
        let mut inks: Vec<Ink> = (0..SERIES.len()).map(Ink::Series).collect();
        inks.extend([Ink::Text, Ink::Muted]);
        for ink in inks {
            let (light, dark) = ink.pair();
            assert!(contrast(light, SURFACE.0) >= 4.5, "{ink:?} light");
            assert!(contrast(dark, SURFACE.1) >= 4.5, "{ink:?} dark");
        }
    }
}
