//! Rows as JSON: what `--json` prints.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Row;
use crate::run::Outcome;
use crate::scenario::Variant;

/// One scenario of a sweep with its rows.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    /// The fields of the sweep, with their values here.
    pub conditions: BTreeMap<String, toml::Value>,
    /// The hottest key's share, in fair shares of a server: over 1, one owner a key cannot keep up.
    pub hottest_key_of_a_fair_share: f64,
    pub rows: Vec<Row>,
}

/// Everything that a run found.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub title: String,
    pub sections: Vec<Section>,
}

impl Summary {
    /// Puts outcomes to their variants.
    #[must_use]
    pub fn of(variants: &[Variant], outcomes: &[Outcome]) -> Self {
        let rows = |at: usize| {
            let own = outcomes.iter().filter(|outcome| outcome.variant == at);
            own.map(|outcome| Row::of(&outcome.strategy, &outcome.measured)).collect()
        };
        let section = |(at, variant): (usize, &Variant)| Section {
            conditions: variant.label.iter().cloned().collect(),
            hottest_key_of_a_fair_share: variant.scenario.hottest_share()
                * variant.scenario.servers.count as f64,
            rows: rows(at),
        };
        let title = variants.first().map_or("", |variant| &variant.scenario.title);
        Self {
            title: title.to_owned(),
            sections: variants.iter().enumerate().map(section).collect(),
        }
    }

    /// All tables, each under its conditions.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        if !self.title.is_empty() {
            text.push_str(&format!("{}\n", self.title));
        }
        for section in &self.sections {
            let hottest = section.hottest_key_of_a_fair_share;
            let heading =
                [section.conditions_text(), format!("hottest key {hottest:.2} of a fair share")];
            let heading: Vec<String> =
                heading.into_iter().filter(|part| !part.is_empty()).collect();
            text.push_str(&format!("\n{}\n", heading.join("; ")));
            text.push_str(&super::table_of(&section.rows).text());
        }
        text
    }
}

impl Section {
    /// `servers.count = 20, arrivals.clients = 256`.
    #[must_use]
    pub fn conditions_text(&self) -> String {
        let pairs =
            self.conditions.iter().map(|(field, value)| format!("{field} = {}", shown(value)));
        pairs.collect::<Vec<_>>().join(", ")
    }
}

/// A value in one line; a table without the quotes and types that only a file needs.
fn shown(value: &toml::Value) -> String {
    match value {
        toml::Value::Table(table) => {
            let fields = table.iter().map(|(name, value)| format!("{name} {}", shown(value)));
            fields.collect::<Vec<_>>().join(", ")
        }
        toml::Value::Array(values) if values.len() > 3 => format!("{} of them", values.len()),
        toml::Value::Array(values) => {
            format!("[{}]", values.iter().map(shown).collect::<Vec<_>>().join("; "))
        }
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
