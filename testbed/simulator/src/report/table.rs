//! Rows as text in columns.

use super::Row;

/// A column: its head and how it shows a row.
#[derive(Clone, Copy)]
pub struct Column {
    head: &'static str,
    show: fn(&Row) -> String,
}

impl std::fmt::Debug for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.head)
    }
}

impl Column {
    /// All columns, in the order in which they are shown.
    pub const ALL: [Self; 13] = [
        Self { head: "requests/s", show: |row| thousands(row.rps) },
        Self { head: "mean ms", show: |row| ms(row.mean_ms) },
        Self { head: "p50", show: |row| ms(row.p50_ms) },
        Self { head: "p90", show: |row| ms(row.p90_ms) },
        Self { head: "p99", show: |row| ms(row.p99_ms) },
        Self { head: "p99.9", show: |row| ms(row.p999_ms) },
        Self { head: "worst s", show: |row| ms(row.worst_second_p99_ms) },
        Self { head: "hit %", show: |row| format!("{:.1}", row.hit_percent) },
        Self { head: "peak/mean", show: |row| format!("{:.2}", row.peak_over_mean) },
        Self {
            head: "moved keys/s",
            show: |row| row.moved_keys_per_s.map_or("-".into(), thousands),
        },
        Self { head: "copies a key", show: |row| format!("{:.2}", row.copies_a_key) },
        Self { head: "db reads/s", show: |row| thousands(row.database_reads_per_s) },
        Self { head: "errors", show: |row| row.errors.to_string() },
    ];
}

/// The heads of all columns.
pub(crate) fn heads() -> Vec<String> {
    let columns = Column::ALL.iter().map(|column| column.head);
    std::iter::once("strategy").chain(columns).map(str::to_owned).collect()
}

/// A row in all columns.
pub(crate) fn cells_of(row: &Row) -> Vec<String> {
    let cells = Column::ALL.iter().map(|column| (column.show)(row));
    std::iter::once(row.strategy.clone()).chain(cells).collect()
}

/// Adds a table of all columns to the text.
pub fn print_table(rows: &[Row], out: &mut String) {
    let lines: Vec<Vec<String>> =
        std::iter::once(heads()).chain(rows.iter().map(cells_of)).collect();
    aligned(&lines, out);
}

/// Adds lines of cells: the first cell to the left, the others to the right.
pub(crate) fn aligned(lines: &[Vec<String>], out: &mut String) {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for line in lines {
        for (at, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let text =
                if at == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
            out.push_str(&text);
        }
        out.push('\n');
    }
}

fn ms(value: f64) -> String {
    if value >= 1000.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// A whole number with separators.
pub(crate) fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        let shown = [0.0, 7.4, 999.6, 12_345.0, 1_234_567.0].map(thousands);
        assert_eq!(shown, ["0", "7", "1,000", "12,345", "1,234,567"]);
    }
}
