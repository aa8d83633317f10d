//! What a run is told in: rows, as a table, as JSON and as a page of charts.

mod advice;
mod charts;
mod json;
mod page;
mod row;
mod table;

pub use advice::advice_text;
pub use json::{Section, Summary};
pub use page::{advice_page, page};
pub use row::Row;
pub(crate) use table::{cells_of, heads, table, table_of};
