//! The servers that should hold a key, for servers that store what they are sent.

use super::check::{header_name, refuse, within};
use super::{ConfigError, MAX_OWNERS, Strategy, raw};
use crate::key::KeySource;

/// What the server that gets a request is told of the key's other servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replicas {
    /// The first so many servers of the key's rendezvous order.
    pub count: usize,
    /// The request header that names them.
    pub header: String,
}

/// `taken` are the headers that Rudolph writes already.
pub(super) fn replicas(
    given: Option<raw::Object<raw::Replicas>>,
    strategy: Strategy,
    taken: &[&str],
    key: &[KeySource],
) -> Result<Option<Replicas>, ConfigError> {
    let Some(raw::Object(given)) = given else {
        return Ok(None);
    };
    if !matches!(strategy, Strategy::Spread | Strategy::Pin) {
        return refuse("replicas", "this field", "only with the strategy \"spread\" or \"pin\"");
    }
    let count = within("replicas.count", given.count, 1..=MAX_OWNERS as u64)? as usize;
    let header = header_name("replicas.header", &given.header)?;
    if taken.contains(&header.as_str()) || key.contains(&KeySource::Header(header.clone())) {
        return refuse("replicas.header", header, "a header that the configuration names once");
    }
    Ok(Some(Replicas { count, header }))
}
