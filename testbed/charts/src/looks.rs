//! Which series has which colour and dash.
//!
//! A strategy has the same colour in every chart, and no two series of one chart share colour and dash.

use crate::palette::{ACCENT, Ink};

/// The colour of the bound: not a strategy, so no hue.
const NEUTRAL: usize = 9;

const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

/// Colour and dash of one series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) colour: usize,
    pub(crate) dash: &'static str,
}

impl Look {
    pub(crate) fn ink(self) -> Ink {
        Ink::Series(self.colour)
    }
}

/// The strategies' families. A variant (`maglev_bounded_150`, `rotation@0.5`) has its family's colour, and a dash.
const FAMILIES: [(&str, usize); 11] = [
    ("spread", ACCENT),
    ("rotation", 1),
    ("pin", 2),
    ("maglev", 3),
    ("round_robin", 4),
    ("ring_hash", 5),
    ("lpt", 6),
    ("static", 7),
    ("least_request", 8),
    ("bound", NEUTRAL),
    ("modulo", 7),
];

/// Looks for the series of one chart, in their order, each by its name and whether it is the hero.
///
/// Strategies keep their colours; a hero of another name has the accent, if no other has it.
pub(crate) fn looks(series: &[(&str, bool)]) -> Vec<Look> {
    let mut taken: Vec<Look> = Vec::new();
    let mut looks: Vec<Option<Look>> = vec![None; series.len()];
    // The known first, so that a stranger cannot take a strategy's colour.
    for known in [true, false] {
        for (slot, &(name, hero)) in looks.iter_mut().zip(series) {
            if slot.is_none() && family(name).is_some() == known {
                let accent_is_free = taken.iter().all(|look| look.colour != ACCENT);
                let look = if hero && !known && accent_is_free {
                    Look { colour: ACCENT, dash: DASHES[0] }
                } else {
                    free_look(preferred(name), known, &taken)
                };
                taken.push(look);
                *slot = Some(look);
            }
        }
    }
    looks.into_iter().flatten().collect()
}

fn family(name: &str) -> Option<(&'static str, usize)> {
    FAMILIES.into_iter().find(|(family, _)| {
        name.strip_prefix(family)
            .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    })
}

fn preferred(name: &str) -> Look {
    match family(name) {
        Some((family, colour)) => Look { colour, dash: DASHES[variant(&name[family.len()..])] },
        None => Look { colour: stranger(name), dash: DASHES[0] },
    }
}

/// 0 for the family itself, else which dash its variant has.
fn variant(rest: &str) -> usize {
    if rest.is_empty() {
        return 0;
    }
    let digits: String = rest.chars().filter(char::is_ascii_digit).collect();
    let number = digits.parse::<usize>().unwrap_or(1);
    1 + (number / 25 + number % 25) % (DASHES.len() - 1)
}

/// Names that end in a number (`server 3`) follow it; others their hash.
fn stranger(name: &str) -> usize {
    let letters = name.trim_end_matches(|last: char| last.is_ascii_digit());
    let number = name[letters.len()..].parse::<usize>().ok();
    let hash =
        || name.bytes().fold(5_381usize, |sum, byte| (sum * 33 + usize::from(byte)) % 65_521);
    1 + number.unwrap_or_else(hash) % (NEUTRAL - 1)
}

fn free_look(preferred: Look, known: bool, taken: &[Look]) -> Look {
    let first_dash = DASHES.iter().position(|dash| *dash == preferred.dash).unwrap_or(0);
    for turn in 0..DASHES.len() {
        let dash = DASHES[(first_dash + turn) % DASHES.len()];
        for step in 0..NEUTRAL - 1 {
            let shifted = 1 + (preferred.colour + NEUTRAL - 2 + step) % (NEUTRAL - 1);
            let colour = if known { preferred.colour } else { shifted };
            let free = |look: &Look| look.colour != colour || look.dash != dash;
            if taken.iter().all(free) {
                return Look { colour, dash };
            }
        }
    }
    preferred
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(names: &[&str]) -> Vec<Look> {
        let series: Vec<(&str, bool)> = names.iter().map(|name| (*name, false)).collect();
        looks(&series)
    }

    #[test]
    fn a_hero_of_another_name_has_the_accent() {
        assert_eq!(looks(&[("a", false), ("b", true)])[1].colour, ACCENT);
        assert_ne!(looks(&[("spread", false), ("b", true)])[1].colour, ACCENT);
    }

    #[test]
    fn a_strategy_has_one_colour_everywhere() {
        let alone = plain(&["spread"]);
        let among = plain(&["static", "server 3", "rotation", "spread"]);
        assert_eq!(alone[0], among[3]);
        assert_eq!(alone[0].colour, ACCENT);
        assert_eq!(plain(&["rotation@0.5"])[0].colour, plain(&["rotation"])[0].colour);
    }

    #[test]
    fn no_two_series_of_a_chart_look_alike() {
        let names = [
            "static",
            "rotation",
            "rotation@0",
            "rotation@0.5",
            "rotation@2",
            "lpt",
            "pin",
            "spread",
            "round_robin",
            "least_request",
            "ring_hash",
            "maglev",
            "maglev_bounded_125",
            "maglev_bounded_150",
            "maglev_bounded_200",
            "ring_hash_bounded_125",
            "bound",
            "server 1",
            "server 2",
            "server 3",
            "server 4",
            "server 5",
            "10.0.0.1:80",
            "b",
            "c",
        ];
        let looks = plain(&names);
        assert_eq!(looks.len(), names.len());
        for (index, look) in looks.iter().enumerate() {
            assert!(!looks[..index].contains(look), "{} looks like another", names[index]);
        }
    }

    #[test]
    fn many_strangers_are_no_problem() {
        let names: Vec<String> = (0..200).map(|index| format!("x{index}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(plain(&names).len(), 200);
    }

    #[test]
    fn a_name_that_only_starts_like_a_strategy_is_a_stranger() {
        assert!(family("pinned").is_none());
        assert!(family("static with 9 servers").is_some());
    }
}
