//! The table, as text. Pure: the same second gives the same lines.

use crate::second::{FilterState, Second, ServerSecond};
use crate::style::Style;

/// The bar ends at twice the mean.
const BAR_CELLS: usize = 20;
const BAR_END: f64 = 2.0;
/// A server over this share of the mean is marked as hot, by a sign as well as by colour.
const HOT: f64 = 1.25;

/// One block of lines for one second; as many lines every second, as long as the servers are the same.
pub(crate) fn render(second: &Second, style: Style) -> Vec<String> {
    let width = second
        .servers
        .iter()
        .map(|server| server.name.len())
        .max()
        .unwrap_or(0)
        .max("server".len());
    let mut lines = vec![title(second, style), header(width, style)];
    let mean = mean_rate(&second.servers);
    lines.extend(second.servers.iter().map(|server| row(server, mean, width, style)));
    lines.push(totals(second, mean, width));
    lines.push(story(second, mean));
    lines.push(state(second, style));
    lines
}

fn title(second: &Second, style: Style) -> String {
    let name = style.bold(&format!("Rudolph, strategy {}", second.strategy));
    let total = second.total.map_or_else(String::new, |total| format!(" of {}", total.as_secs()));
    format!("{name}  {}{total} s  {} clients", second.elapsed.as_secs(), second.clients)
}

fn header(width: usize, style: Style) -> String {
    let load = format!("{:<bar$}", "load / mean", bar = BAR_CELLS + 7);
    style.faint(&format!(
        "{:<width$} {:>8}  {load} {:>6} {:>8}",
        "server", "req/s", "hit %", "p99 ms"
    ))
}

fn row(server: &ServerSecond, mean: f64, width: usize, style: Style) -> String {
    let share = if mean > 0.0 { server.rate / mean } else { 0.0 };
    let bar = bar(share, style);
    let (bar, mark) = if share > HOT { (style.warn(&bar), style.hot_mark()) } else { (bar, ' ') };
    let (hit, p99) = (tenths(server.hit_percent), tenths(server.p99_ms));
    format!(
        "{:<width$} {:>8.0}  {bar} {share:>5.2} {mark}{hit:>6} {p99:>8}",
        server.name, server.rate
    )
}

fn totals(second: &Second, mean: f64, width: usize) -> String {
    let rate: f64 = second.servers.iter().map(|server| server.rate).sum();
    let peak = peak_over_mean(second, mean);
    let (hit, p99) = (tenths(second.hit_percent), tenths(second.p99_ms));
    let label = "peak";
    format!("{:<width$} {rate:>8.0}  {label:>BAR_CELLS$} {peak:>5.2}  {hit:>6} {p99:>8}", "all")
}

fn peak_over_mean(second: &Second, mean: f64) -> f64 {
    let peak = second.servers.iter().map(|server| server.rate).fold(0.0, f64::max);
    if mean > 0.0 { peak / mean } else { 0.0 }
}

/// What the strategy does for the server that has most to do.
fn story(second: &Second, mean: f64) -> String {
    let (peak, plain) = (peak_over_mean(second, mean), second.plain_peak);
    format!("hottest server at {peak:.2} of the mean; hashing alone would put {plain:.2} on one")
}

fn state(second: &Second, style: Style) -> String {
    let mut parts = filter_parts(second.filter.as_ref());
    parts.push(format!("errors {}", second.errors));
    parts.join(style.separator())
}

fn filter_parts(filter: Option<&FilterState>) -> Vec<String> {
    let Some(filter) = filter else {
        return vec!["no filter, Envoy's own policy".to_owned()];
    };
    let number =
        |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let moved =
        filter.moved_percent.map_or_else(|| "-".to_owned(), |moved| format!("{moved:.2} %"));
    vec![
        format!("plan {}", number(filter.plan_version)),
        format!("rotation {}", number(filter.rotation)),
        format!("hot keys {}", number(filter.hot_keys)),
        format!("off home {}", whole_percent(filter.away_percent)),
        format!("moved {moved}"),
    ]
}

fn whole_percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.0} %"))
}

fn tenths(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
}

pub(crate) fn mean_rate(servers: &[ServerSecond]) -> f64 {
    if servers.is_empty() {
        return 0.0;
    }
    servers.iter().map(|server| server.rate).sum::<f64>() / servers.len() as f64
}

/// A bar of fixed width, from nothing to twice the mean; a mark stands at the mean where the bar does not cover it.
fn bar(share: f64, style: Style) -> String {
    let cells = share.clamp(0.0, BAR_END) / BAR_END * BAR_CELLS as f64;
    let full = cells.floor() as usize;
    let part = style.part_of_cell(cells - cells.floor());
    (0..BAR_CELLS)
        .map(|cell| match cell {
            _ if cell < full => style.full_cell(),
            _ if cell == full && part != ' ' => part,
            _ if cell == BAR_CELLS / 2 => style.mean_mark(),
            _ => ' ',
        })
        .collect()
}

#[cfg(test)]
mod tests;
