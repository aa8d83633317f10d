//! What a trace asks for, in words and tables.

use rudolph_charts::grouped;

use super::{cells_of, heads, table};
use crate::trace::{Advice, TraceRow};

/// The whole answer as text.
#[must_use]
pub fn advice_text(advice: &Advice) -> String {
    let mut text = opening(advice);
    let rows = table(heads_of_trace(), advice.rows.iter().map(cells_of_trace));
    text.push_str(&format!("\n{}\n{}\n\n", rows.text(), legend(advice)));
    let keys = advice.hottest.iter().take(10);
    let keys = keys.map(|hot| vec![shortened(&hot.key), grouped(100.0 * hot.share, 2)]);
    let head = ["hottest keys", "% of requests"].map(str::to_owned).to_vec();
    text.push_str(&table(head, keys).text());
    text
}

/// What was read, and what it is run on.
pub(crate) fn opening(advice: &Advice) -> String {
    let count = |number: usize| grouped(number as f64, 0);
    let unparsable = match advice.unparsable_lines {
        0 => String::new(),
        lines => format!(", {} lines without a key", grouped(lines as f64, 0)),
    };
    format!(
        "{} requests for {} keys{unparsable}; {} servers with {} keys cached each, {} requests/s\n\
         The hottest key is {:.2} of one server's fair share{}\n",
        count(advice.requests),
        count(advice.different_keys),
        advice.servers,
        count(advice.cache_keys),
        grouped(advice.rps, 0),
        advice.hottest_key_of_a_fair_share,
        if advice.hottest_key_of_a_fair_share > 1.0 {
            ": with one owner a key its server cannot be relieved"
        } else {
            ""
        },
    )
}

pub(crate) fn heads_of_trace() -> Vec<String> {
    let mut heads = heads();
    heads.push("servers enough".into());
    heads
}

pub(crate) fn cells_of_trace(row: &TraceRow) -> Vec<String> {
    let mut cells = cells_of(&row.row);
    cells.push(row.servers_enough.map_or("-".into(), |enough| enough.to_string()));
    cells
}

/// What the last column means.
pub(crate) fn legend(advice: &Advice) -> String {
    format!(
        "servers enough: the fewest with which p99 is no worse (by 2%) than with {} on all {}; -: worse even with all",
        advice.today, advice.servers
    )
}

fn shortened(key: &str) -> String {
    let mut short: String = key.chars().take(60).flat_map(char::escape_debug).collect();
    if key.chars().count() > 60 {
        short.push_str("...");
    }
    short
}
