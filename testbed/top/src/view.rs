//! The document as lines of text.

use crate::document::{Document, FilterState, HotKeyState, ServerState};

const BAR_CELLS: usize = 24;
const HOT_KEYS: usize = 8;

/// How it is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) color: bool,
    pub(crate) rows: u16,
}

/// What was counted at the last look, for requests a second.
#[derive(Debug, Default)]
pub(crate) struct Memory(Option<(String, u64, u64)>);

impl Look {
    fn paint(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

pub(crate) fn lines(document: &Document, memory: &mut Memory, look: Look) -> Vec<String> {
    let title = look.paint("1", &plain(&document.title));
    let Some(state) = &document.filter else {
        return vec![title, "no filter has told anything yet".to_owned()];
    };
    let mut lines = vec![format!("{title}  {}", head(state, memory.rate(document, state)))];
    if document.filters.len() > 1 {
        let name = |filter: &crate::document::FilterName| {
            let mark = if filter.id == state.id { "*" } else { "" };
            format!("{mark}{} {} {}", plain(&filter.name), filter.strategy, filter.id)
        };
        let names: Vec<String> = document.filters.iter().map(name).collect();
        lines.push(format!("filters (--filter ID): {}", names.join(", ")));
    }
    lines.push(balance(state, look));
    lines.extend(state.alarms.iter().map(|alarm| look.paint("1;31", &format!("! {alarm}"))));
    lines.push(String::new());
    servers(state, look, &mut lines);
    hot_keys(state, look, &mut lines);
    workers(state, look, &mut lines);
    causes(state, look, &mut lines);
    lines
}

impl Memory {
    fn rate(&mut self, document: &Document, state: &FilterState) -> Option<f64> {
        let own = |name: &str| name.starts_with("requests.") && name != "requests.fallback";
        let count: u64 =
            state.metrics.iter().filter(|(name, _)| own(name)).map(|(_, count)| count).sum();
        let before = self.0.replace((state.id.clone(), document.now_ms, count));
        let (id, at, past) = before?;
        let elapsed = document.now_ms.checked_sub(at).filter(|elapsed| *elapsed > 0)?;
        let more = count.checked_sub(past)?;
        (id == state.id).then(|| more as f64 * 1000.0 / elapsed as f64)
    }
}

/// Text that came from elsewhere may hold what a terminal obeys.
fn plain(text: &str) -> String {
    let shown = |character: char| match character {
        control if control.is_control() => control.escape_debug().to_string(),
        other => other.to_string(),
    };
    text.chars().map(shown).collect()
}

fn head(state: &FilterState, rate: Option<f64>) -> String {
    let mut parts = vec![state.strategy.clone()];
    match &state.plan {
        Some(plan) => parts.push(format!("plan {}", plan.version)),
        None => parts.push("no plan yet".to_owned()),
    }
    if let Some(rotation) = state.plan.as_ref().and_then(|plan| plan.rotation) {
        parts.push(format!("rotation {rotation}"));
    }
    parts.extend(state.epoch.map(|epoch| format!("epoch {epoch}")));
    parts.push(format!("{} servers", state.servers.len()));
    parts.extend(rate.map(|rate| format!("{rate:.0} requests/s")));
    parts.join(", ")
}

fn times(load: Option<f64>) -> String {
    load.map_or_else(|| "-".to_owned(), |load| format!("{load:.2}"))
}

fn balance(state: &FilterState, look: Look) -> String {
    let peak = look.paint("1", &times(state.load.peak_over_mean));
    let plain = times(state.load.plain_peak_over_mean);
    format!("busiest over mean {peak}, hashing alone {plain}")
}

fn servers(state: &FilterState, look: Look, lines: &mut Vec<String>) {
    let names = state.servers.iter().map(|server| &server.address);
    let out = state.left_out.iter().map(|server| &server.address);
    let width = names.chain(out).map(String::len).max().unwrap_or(0).max(6);
    let mut order: Vec<&ServerState> = state.servers.iter().collect();
    let most = usize::from(look.rows);
    if order.len() > most {
        order.sort_by(|a, b| b.load.unwrap_or(0.0).total_cmp(&a.load.unwrap_or(0.0)));
    }
    lines.push(look.paint(
        "2",
        &format!(
            "{:<width$}  {:<BAR_CELLS$}  {:>5}  {:>5}  {:>9}  weight",
            "server", "load, | is the mean", "now", "5 min", "in flight"
        ),
    ));
    let shown = order.len().min(most);
    for server in &order[..shown] {
        let learned = match server.learned {
            learned if learned < 1.0 => format!(" x {learned:.2}"),
            _ => String::new(),
        };
        lines.push(format!(
            "{:<width$}  {}  {:>5}  {:>5}  {:>9}  {}{learned}",
            plain(&server.address),
            bar(server.load.unwrap_or(0.0), look),
            times(server.load),
            times(server.load_5m),
            server.in_flight,
            server.weight,
        ));
    }
    if shown < order.len() {
        lines.push(look.paint("2", &format!("and {} less busy", order.len() - shown)));
    }
    for server in &state.left_out {
        let text = format!("{:<width$}  {}", plain(&server.address), plain(&server.reason));
        lines.push(look.paint("31", &text));
    }
}

/// Twice the mean fills it; the mean is marked.
fn bar(load: f64, look: Look) -> String {
    let filled = ((load / 2.0 * BAR_CELLS as f64).round() as usize).min(BAR_CELLS);
    let cell = |at: usize| match at {
        at if at == BAR_CELLS / 2 => '|',
        at if at < filled => '#',
        _ => ' ',
    };
    let text: String = (0..BAR_CELLS).map(cell).collect();
    look.paint(if load > 1.25 { "33" } else { "34" }, &text)
}

fn hot_keys(state: &FilterState, look: Look, lines: &mut Vec<String>) {
    if state.hot_keys.is_empty() {
        return;
    }
    lines.push(String::new());
    lines.push(look.paint("2", &format!("{:<24}  {:>6}  served by", "hot key", "share")));
    for key in state.hot_keys.iter().take(HOT_KEYS) {
        let name: String =
            plain(key.key.as_deref().unwrap_or(&key.hash)).chars().take(24).collect();
        let share = key.share * 100.0;
        lines.push(format!("{name:<24}  {share:>5.1}%  {}", owners(state, key)));
    }
}

fn owners(state: &FilterState, key: &HotKeyState) -> String {
    if key.owners.len() > 4 {
        return format!("{} servers", key.owners.len());
    }
    let name = |owner: &u16| state.servers.get(usize::from(*owner)).map(|server| &server.address);
    let names = key.owners.iter().filter_map(name).map(|name| plain(name));
    names.collect::<Vec<_>>().join(", ")
}

fn workers(state: &FilterState, look: Look, lines: &mut Vec<String>) {
    lines.push(String::new());
    let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let one = |worker: &crate::document::WorkerState| {
        let text = format!(
            "{}: plan {} of epoch {}",
            worker.slot,
            number(worker.plan),
            number(worker.epoch)
        );
        if worker.agrees { text } else { look.paint("1;31", &format!("{text}, behind")) }
    };
    let workers: Vec<String> = state.workers.iter().map(one).collect();
    lines.push(format!("{}{}", look.paint("2", "workers  "), workers.join("  ")));
}

fn causes(state: &FilterState, look: Look, lines: &mut Vec<String>) {
    for cause in state.causes.iter().filter(|cause| cause.recent > 0 || cause.matters) {
        let text = format!("{}: {} in a minute, {} ever", cause.text, cause.recent, cause.total);
        lines.push(if cause.matters { look.paint("1;31", &text) } else { look.paint("2", &text) });
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
