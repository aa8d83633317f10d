//! The text format of Prometheus, as Envoy and the servers write it.

use std::collections::BTreeMap;

/// One line: a name, its labels, a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub value: f64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples(Vec<Sample>);

impl Samples {
    /// Comments and lines that are no sample are left out.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Self(lines.filter_map(sample).collect())
    }

    /// All samples of a name, whatever their labels.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Sample> {
        self.0.iter().filter(move |sample| sample.name == name)
    }

    /// Those with all of these labels added up; none at all is `None`.
    #[must_use]
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let fits = |sample: &&Sample| {
            let has = |(label, value): &(&str, &str)| {
                sample.labels.get(*label).is_some_and(|found| found == value)
            };
            labels.iter().all(has)
        };
        let mut values = self.named(name).filter(fits).map(|sample| sample.value).peekable();
        values.peek()?;
        Some(values.sum())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|sample| sample.name.as_str())
    }
}

/// `name{label="value",...} 12` or `name 12`, with a time behind it or not.
fn sample(line: &str) -> Option<Sample> {
    let end = line.find(['{', ' '])?;
    let (name, rest) = line.split_at(end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None => (BTreeMap::new(), rest),
    };
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some(Sample { name: name.to_owned(), labels, value })
}

/// Reads labels up to the closing brace; also what follows it.
fn labels(mut rest: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut found = BTreeMap::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some((found, after));
        }
        let (label, quoted) = rest.split_once("=\"")?;
        let (value, after) = quoted_value(quoted)?;
        found.insert(label.trim().to_owned(), value);
        rest = after;
    }
}

fn quoted_value(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                escaped => value.push(escaped),
            },
            plain => value.push(plain),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_labels_and_values() {
        let samples = Samples::parse(
            "# TYPE a counter\na{x=\"1\",y=\"a, \\\"b\\\" {c}\"} 3\na{x=\"2\"} 4 1700000000\n\
             b 1.5\nc{} 2\nbroken{x= 3\nno_value\n# EOF\n",
        );
        assert_eq!(samples.sum("a", &[]), Some(7.0));
        assert_eq!(samples.sum("a", &[("x", "2")]), Some(4.0));
        assert_eq!(samples.sum("a", &[("x", "3")]), None);
        assert_eq!(samples.sum("b", &[]), Some(1.5));
        assert_eq!(samples.sum("c", &[]), Some(2.0));
        assert_eq!(samples.names().collect::<Vec<_>>(), ["a", "a", "b", "c"]);
        let first = samples.named("a").next().unwrap();
        assert_eq!(first.labels["y"], "a, \"b\" {c}");
    }
}
