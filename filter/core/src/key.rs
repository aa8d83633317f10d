//! Where a request's key is: an ordered list of places, of which the first that is present wins.

use std::borrow::Cow;

/// A longer key is cut for hashing: nobody shards on more, and hashing stays bounded.
pub const MAX_KEY_BYTES: usize = 4096;

/// One place to look for the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// A request header, by lower-case name.
    Header(String),
    /// A cookie, by name.
    Cookie(String),
    /// A parameter of the query string, by name.
    QueryParameter(String),
    /// The n-th segment of the path, from 1.
    PathSegment(usize),
    /// The path without its query.
    Path,
    /// The authority (`Host`).
    Authority,
}

/// Reads one request header by lower-case name; `None` when the request has none.
pub trait HeaderSource {
    /// The bytes of the header's value.
    fn header(&mut self, name: &str) -> Option<Vec<u8>>;
}

/// Finds keys in requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFinder {
    /// Tried in order.
    pub sources: Vec<KeySource>,
    /// Whether a key is reduced to its `{hash tag}`.
    pub hash_tag: bool,
}

impl KeyFinder {
    /// The key of a request, or `None` if no source is present. An empty value counts as absent.
    pub fn find(&self, request: &mut impl HeaderSource) -> Option<Vec<u8>> {
        self.sources.iter().find_map(|source| source.read(request)).map(|key| self.reduce(key))
    }

    /// What of a key's bytes names its shard.
    #[must_use]
    pub fn reduce(&self, mut key: Vec<u8>) -> Vec<u8> {
        key.truncate(MAX_KEY_BYTES);
        if !self.hash_tag {
            return key;
        }
        match hash_tag(&key) {
            Some(tag) => tag.to_vec(),
            None => key,
        }
    }
}

impl KeySource {
    fn read(&self, request: &mut impl HeaderSource) -> Option<Vec<u8>> {
        let value = match self {
            Self::Header(name) => request.header(name)?,
            Self::Cookie(name) => cookie(&request.header("cookie")?, name.as_bytes())?.to_vec(),
            Self::QueryParameter(name) => query_parameter(&request.header(":path")?, name)?,
            Self::PathSegment(n) => path_segment(&request.header(":path")?, *n)?.to_vec(),
            Self::Path => path(&request.header(":path")?).to_vec(),
            Self::Authority => request.header(":authority")?,
        };
        (!value.is_empty()).then_some(value)
    }
}

/// The part between the first `{` and the next `}`, if there is one and it is not empty.
fn hash_tag(key: &[u8]) -> Option<&[u8]> {
    let open = key.iter().position(|&byte| byte == b'{')?;
    let rest = &key[open + 1..];
    let close = rest.iter().position(|&byte| byte == b'}')?;
    (close > 0).then(|| &rest[..close])
}

fn cookie<'a>(header: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    header.split(|&byte| byte == b';').find_map(|pair| {
        let (found, value) = split_once(pair.trim_ascii(), b'=')?;
        (found == name).then(|| unquoted(value))
    })
}

fn unquoted(value: &[u8]) -> &[u8] {
    match value {
        [b'"', inner @ .., b'"'] => inner,
        _ => value,
    }
}

fn path(target: &[u8]) -> &[u8] {
    target.split(|&byte| byte == b'?' || byte == b'#').next().unwrap_or_default()
}

fn path_segment(target: &[u8], n: usize) -> Option<&[u8]> {
    path(target).split(|&byte| byte == b'/').skip(1).nth(n.checked_sub(1)?)
}

fn query_parameter(target: &[u8], name: &str) -> Option<Vec<u8>> {
    let (_, query) = split_once(target, b'?')?;
    let query = query.split(|&byte| byte == b'#').next()?;
    query.split(|&byte| byte == b'&').find_map(|pair| {
        let (found, value) = split_once(pair, b'=')?;
        (*percent_decoded(found) == *name.as_bytes()).then(|| percent_decoded(value).into_owned())
    })
}

/// So that `a%2Fb` and `a/b` are one key, as they are to a server. A malformed escape stays as it is.
#[must_use]
pub fn percent_decoded(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.iter().any(|&byte| byte == b'%' || byte == b'+') {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'+', _) => out.push(b' '),
            (b'%', [high, low, after @ ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => {
                    out.push(high << 4 | low);
                    rest = after;
                }
                _ => out.push(b'%'),
            },
            (byte, _) => out.push(*byte),
        }
    }
    Cow::Owned(out)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

fn split_once(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let position = text.iter().position(|&byte| byte == at)?;
    Some((&text[..position], &text[position + 1..]))
}
