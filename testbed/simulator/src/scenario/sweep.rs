//! One file, many scenarios: each `[[sweep]]` names fields and the rows of values that they take, and several sweeps
//! are combined, each row with each.

use serde::Deserialize;

use super::{Scenario, ScenarioError};

/// Fields that change together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sweep {
    /// Dotted names: `["servers.count", "arrivals.clients"]`.
    fields: Vec<String>,
    /// A value for each field in each row.
    rows: Vec<Vec<toml::Value>>,
}

/// A scenario of a sweep.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What differs from the others: field and value.
    pub label: Vec<(String, toml::Value)>,
    pub scenario: Scenario,
}

/// Most scenarios of one file.
const MOST_VARIANTS: usize = 1000;

/// Reads a scenario file, without looking at its fields.
///
/// # Errors
/// It is no TOML.
pub fn parse(text: &str) -> Result<toml::Table, ScenarioError> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let line = |at: usize| text[..at].matches('\n').count() + 1;
        let field =
            error.span().map_or("the file".into(), |span| format!("line {}", line(span.start)));
        ScenarioError::Shape { field, problem: error.message().replace('\n', " ") }
    })
}

/// Reads a scenario file.
///
/// # Errors
/// The field that is wrong, and what is allowed.
pub fn read(text: &str) -> Result<Vec<Variant>, ScenarioError> {
    variants(parse(text)?)
}

/// The scenarios of a parsed file.
///
/// # Errors
/// The field that is wrong, and what is allowed.
pub fn variants(mut table: toml::Table) -> Result<Vec<Variant>, ScenarioError> {
    let sweeps = match table.remove("sweep") {
        None => Vec::new(),
        Some(value) => sweeps(value)?,
    };
    let mut made = vec![(Vec::new(), table)];
    for sweep in &sweeps {
        made = multiply(&made, sweep)?;
    }
    made.into_iter()
        .map(|(label, table)| {
            Ok(Variant { label, scenario: Scenario::from_toml(toml::Value::Table(table))? })
        })
        .collect()
}

fn sweeps(value: toml::Value) -> Result<Vec<Sweep>, ScenarioError> {
    let sweeps: Vec<Sweep> = serde_path_to_error::deserialize(value).map_err(|error| {
        let field = format!("sweep{}", error.path());
        ScenarioError::Shape { field, problem: error.into_inner().message().to_owned() }
    })?;
    let count = sweeps.iter().map(|sweep| sweep.rows.len()).product::<usize>();
    if count == 0 || count > MOST_VARIANTS {
        let allowed = format!("1 to {MOST_VARIANTS} scenarios in all");
        return super::check::refuse("sweep", format!("{count} scenarios"), allowed);
    }
    for (i, sweep) in sweeps.iter().enumerate() {
        if let Some(row) = sweep.rows.iter().find(|row| row.len() != sweep.fields.len()) {
            let value = format!("a row of {} values", row.len());
            let allowed = format!("{}, one for each of its fields", sweep.fields.len());
            return super::check::refuse(format!("sweep[{i}].rows"), value, allowed);
        }
    }
    Ok(sweeps)
}

type Labelled = (Vec<(String, toml::Value)>, toml::Table);

fn multiply(made: &[Labelled], sweep: &Sweep) -> Result<Vec<Labelled>, ScenarioError> {
    let mut product = Vec::with_capacity(made.len() * sweep.rows.len());
    for (label, table) in made {
        for row in &sweep.rows {
            let (mut label, mut table) = (label.clone(), table.clone());
            for (field, value) in sweep.fields.iter().zip(row) {
                set(&mut table, field, value)?;
                label.push((field.clone(), value.clone()));
            }
            product.push((label, table));
        }
    }
    Ok(product)
}

/// Sets a dotted field, making the tables on the way.
///
/// # Errors
/// What stands on the way is no table.
pub fn set(table: &mut toml::Table, field: &str, value: &toml::Value) -> Result<(), ScenarioError> {
    let (way, last) = field.rsplit_once('.').unwrap_or(("", field));
    let mut here = table;
    for name in way.split('.').filter(|name| !name.is_empty()) {
        let inner = here.entry(name).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        let toml::Value::Table(inner) = inner else {
            return super::check::refuse(
                field,
                "in something that is no table",
                "fields of tables",
            );
        };
        here = inner;
    }
    here.insert(last.to_owned(), value.clone());
    Ok(())
}
