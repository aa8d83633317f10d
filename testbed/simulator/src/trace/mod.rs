//! What would it do for me: somebody's own keys, as lines of a file, through every strategy.
//!
//! [`read`] opens plain and compressed files and finds the key of each line (`key_of_line`); `intern` numbers the keys;
//! `advice` runs them and says what they ask for.

mod advice;
mod intern;
mod key_of_line;
mod read;

pub use advice::{Advice, HotKey, Question, TraceRow, advise};
pub use key_of_line::KeyOfLine;
pub use read::{Trace, TraceError, read};
