use std::collections::BTreeMap;

use crate::TrimError;

/// The exports of the trimmed module, by name, each with the symbol it is made from: never empty,
/// no name twice.
///
/// `name` keeps an export as it is; `name = symbol` exports `symbol` under `name`, in place of what
/// had that name before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepList {
    symbols: BTreeMap<String, String>,
}

impl KeepList {
    /// One entry a line; `#` starts a comment, blank lines are skipped.
    pub fn from_lines(text: &str) -> Result<Self, TrimError> {
        let entries = text.lines().map(without_comment);
        Self::from_entries(entries.filter(|entry| !entry.is_empty()))
    }

    /// Entries with commas between them.
    pub fn from_commas(text: &str) -> Result<Self, TrimError> {
        Self::from_entries(text.split(','))
    }

    /// Each name with its symbol, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.symbols.iter().map(|(name, symbol)| (name.as_str(), symbol.as_str()))
    }

    fn from_entries<'a>(entries: impl Iterator<Item = &'a str>) -> Result<Self, TrimError> {
        let mut symbols = BTreeMap::new();
        for entry in entries {
            let (name, symbol) = parse_entry(entry)?;
            if symbols.insert(name.to_owned(), symbol.to_owned()).is_some() {
                return Err(TrimError::DuplicateName { name: name.to_owned() });
            }
        }
        if symbols.is_empty() {
            return Err(TrimError::EmptyKeepList);
        }
        Ok(Self { symbols })
    }
}

fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

fn parse_entry(entry: &str) -> Result<(&str, &str), TrimError> {
    let (name, symbol) = entry.split_once('=').unwrap_or((entry, entry));
    let (name, symbol) = (name.trim(), symbol.trim());
    if is_name(name) && is_name(symbol) {
        Ok((name, symbol))
    } else {
        Err(TrimError::BadEntry { entry: entry.to_owned() })
    }
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_skip_comments_and_blanks() {
        let keep =
            KeepList::from_lines("# head\n\n memory \non_tick = our_tick # often\n").unwrap();
        let entries: Vec<_> = keep.iter().collect();
        assert_eq!(entries, [("memory", "memory"), ("on_tick", "our_tick")]);
    }

    #[test]
    fn commas_split_entries() {
        let keep = KeepList::from_commas("b=c, a").unwrap();
        assert_eq!(keep.iter().collect::<Vec<_>>(), [("a", "a"), ("b", "c")]);
    }

    #[test]
    fn bad_lists_are_named() {
        let message = |list: Result<KeepList, TrimError>| list.unwrap_err().to_string();
        assert!(message(KeepList::from_lines("# none\n")).contains("empty"));
        assert!(message(KeepList::from_lines("a b\n")).contains("\"a b\""));
        assert!(message(KeepList::from_lines("a = \n")).contains("\"a =\""));
        assert!(message(KeepList::from_commas("a=b=c")).contains("\"a=b=c\""));
        assert!(message(KeepList::from_commas("a,a=b")).contains("\"a\" twice"));
        assert!(message(KeepList::from_commas("a,,b")).contains("\"\""));
    }
}
