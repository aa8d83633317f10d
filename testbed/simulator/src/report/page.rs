//! Everything that a run found, as one HTML page.

use rudolph_charts::{Page, Section as Part};

use super::advice::{cells_of_trace, heads_of_trace, legend, opening};
use super::charts::{FIGURES, servers_enough, timeline};
use super::{Row, Section, Summary, table, table_of};
use crate::run::Outcome;
use crate::scenario::Variant;
use crate::trace::Advice;

/// The page of a scenario, with the command that made it.
#[must_use]
pub fn page(
    variants: &[Variant],
    outcomes: &[Outcome],
    summary: &Summary,
    command: &str,
) -> String {
    let mut sections = Vec::new();
    if let Some((field, swept)) = swept_number(summary) {
        sections.push(Part {
            id: "sweep".into(),
            heading: format!("Over {field}"),
            figures: FIGURES.iter().map(|figure| figure.lines(field, &swept)).collect(),
            ..Part::default()
        });
    }
    let bars = sections.is_empty();
    for (at, section) in summary.sections.iter().enumerate() {
        let own: Vec<&Outcome> = outcomes.iter().filter(|o| o.variant == at).collect();
        let mut figures: Vec<String> = timeline(&variants[at].scenario, &own).into_iter().collect();
        if bars {
            let rows: Vec<&Row> = section.rows.iter().collect();
            figures.extend(FIGURES.iter().map(|figure| figure.bars(&rows, "")));
        }
        let conditions = section.conditions_text();
        sections.push(Part {
            id: format!("conditions-{at}"),
            heading: if conditions.is_empty() { "Results".into() } else { conditions },
            figures,
            table: Some(table_of(&section.rows)),
            ..Part::default()
        });
    }
    let title = if summary.title.is_empty() { "Simulation" } else { &summary.title };
    Page { title: title.into(), sections, footer: vec![format!("`{command}`")], ..Page::default() }
        .html()
}

/// The page of a trace.
#[must_use]
pub fn advice_page(advice: &Advice, command: &str) -> String {
    let rows: Vec<&Row> = advice.rows.iter().map(|row| &row.row).collect();
    let hottest = advice.hottest.iter().map(|hot| {
        let share = 100.0 * hot.share;
        vec![
            hot.key.clone(),
            format!("{share:.2}"),
            format!("{:.3}", hot.share * advice.servers as f64),
        ]
    });
    // All answer what arrives, so requests a second tell nothing here.
    let mut figures = vec![servers_enough(advice)];
    figures.extend(FIGURES[1..].iter().map(|figure| figure.bars(&rows, "")));
    let results = Part {
        id: "strategies".into(),
        heading: "Each strategy on these keys".into(),
        figures,
        table: Some(table(heads_of_trace(), advice.rows.iter().map(cells_of_trace))),
        notes: vec![legend(advice)],
        ..Part::default()
    };
    let keys = Part {
        id: "hottest".into(),
        heading: "The hottest keys".into(),
        table: Some(table(
            vec!["key".into(), "% of requests".into(), "of one server's fair share".into()],
            hottest,
        )),
        ..Part::default()
    };
    Page {
        title: "What it would do for these keys".into(),
        lead: opening(advice).replace('\n', ". "),
        sections: vec![results, keys],
        footer: vec![format!("`{command}`")],
    }
    .html()
}

/// The one field that a sweep varies, if it is a number.
fn swept_number(summary: &Summary) -> Option<(&str, Vec<(f64, &Section)>)> {
    let first = summary.sections.first()?;
    let (field, _) = first.conditions.first_key_value().filter(|_| first.conditions.len() == 1)?;
    let number = |section: &Section| match section.conditions.get(field)? {
        toml::Value::Integer(value) => Some(*value as f64),
        toml::Value::Float(value) => Some(*value),
        _ => None,
    };
    let swept: Option<Vec<_>> =
        summary.sections.iter().map(|section| Some((number(section)?, section))).collect();
    swept.filter(|swept| swept.len() > 1).map(|swept| (field.as_str(), swept))
}
