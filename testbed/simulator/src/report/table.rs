//! Rows as tables.

use rudolph_charts::{Row as Line, Table, grouped};

use super::Row;

/// A column: its head and how it shows a row.
#[derive(Clone, Copy)]
struct Column {
    head: &'static str,
    show: fn(&Row) -> String,
}

impl Column {
    /// All columns, in the order in which they are shown.
    const ALL: [Self; 13] = [
        Self { head: "requests/s", show: |row| grouped(row.rps, 0) },
        Self { head: "mean ms", show: |row| ms(row.mean_ms) },
        Self { head: "p50", show: |row| ms(row.p50_ms) },
        Self { head: "p90", show: |row| ms(row.p90_ms) },
        Self { head: "p99", show: |row| ms(row.p99_ms) },
        Self { head: "p99.9", show: |row| ms(row.p999_ms) },
        Self { head: "worst second", show: |row| ms(row.worst_second_p99_ms) },
        Self { head: "hit %", show: |row| format!("{:.1}", row.hit_percent) },
        Self { head: "peak/mean", show: |row| format!("{:.2}", row.peak_over_mean) },
        Self {
            head: "moved keys/s",
            show: |row| row.moved_keys_per_s.map_or("-".into(), |moved| grouped(moved, 0)),
        },
        Self { head: "copies a key", show: |row| format!("{:.2}", row.copies_a_key) },
        Self { head: "db reads/s", show: |row| grouped(row.database_reads_per_s, 0) },
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

/// The rows in all columns.
pub(crate) fn table_of(rows: &[Row]) -> Table {
    table(heads(), rows.iter().map(cells_of))
}

/// Lines of cells under their heads.
pub(crate) fn table(head: Vec<String>, lines: impl Iterator<Item = Vec<String>>) -> Table {
    Table { head, rows: lines.map(Line::new).collect() }
}

fn ms(value: f64) -> String {
    grouped(value, if value >= 1000.0 { 0 } else { 2 })
}
