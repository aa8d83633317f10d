//! A header map: bytes, in order, several values a name.

use std::fmt;
use std::ops::Range;

#[derive(Clone, Debug)]
struct Entry {
    name: Range<usize>,
    value: Range<usize>,
}

/// Headers of a request or of a callout's response, as Envoy holds them: names in lower case,
/// pseudo headers before the others, values any bytes.
///
/// Unlike Envoy, `add` never joins the values of well-known headers with commas.
#[derive(Clone, Default)]
pub struct Headers {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

impl Headers {
    /// Headers with these names and values, in this order.
    pub fn from_pairs<N: AsRef<[u8]>, V: AsRef<[u8]>>(pairs: &[(N, V)]) -> Self {
        let mut headers = Self::default();
        headers.extend_from(pairs);
        headers
    }

    pub(crate) fn extend_from<N: AsRef<[u8]>, V: AsRef<[u8]>>(&mut self, pairs: &[(N, V)]) {
        for (name, value) in pairs {
            self.add(name.as_ref(), value.as_ref());
        }
    }

    fn store(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    fn is_named(&self, entry: &Entry, name: &[u8]) -> bool {
        self.bytes[entry.name.clone()].eq_ignore_ascii_case(name)
    }

    fn pseudo_end(&self) -> usize {
        let is_pseudo = |entry: &Entry| self.bytes.get(entry.name.start) == Some(&b':');
        self.entries.iter().take_while(|entry| is_pseudo(entry)).count()
    }

    /// Adds a value after those already there.
    pub fn add(&mut self, name: &[u8], value: &[u8]) {
        let name_at = self.store(name);
        self.bytes[name_at.clone()].make_ascii_lowercase();
        let entry = Entry { name: name_at, value: self.store(value) };
        if name.starts_with(b":") {
            self.entries.insert(self.pseudo_end(), entry);
        } else {
            self.entries.push(entry);
        }
    }

    /// Removes every value of a name and adds this one: Envoy's `setCopy`.
    pub fn replace(&mut self, name: &[u8], value: &[u8]) {
        self.remove(name);
        self.add(name, value);
    }

    /// Removes every value of a name.
    pub fn remove(&mut self, name: &[u8]) {
        let bytes = &self.bytes;
        self.entries.retain(|entry| !bytes[entry.name.clone()].eq_ignore_ascii_case(name));
    }

    /// Removes all, keeping the memory for the next request.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }

    /// The first value of a name: the one that `proxy_get_header_map_value` gives.
    pub fn get(&self, name: impl AsRef<[u8]>) -> Option<&[u8]> {
        self.find(name.as_ref()).map(|at| &self.bytes[at])
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<Range<usize>> {
        let entry = self.entries.iter().find(|entry| self.is_named(entry, name))?;
        Some(entry.value.clone())
    }

    pub(crate) fn at(&self, place: Range<usize>) -> &[u8] {
        self.bytes.get(place).unwrap_or_default()
    }

    /// Every value of a name, in order.
    pub fn get_all(&self, name: impl AsRef<[u8]>) -> Vec<&[u8]> {
        let name = name.as_ref();
        self.iter()
            .filter(|(stored, _)| stored.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .collect()
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries
            .iter()
            .map(|entry| (&self.bytes[entry.name.clone()], &self.bytes[entry.value.clone()]))
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        f.debug_list().entries(self.iter().map(|(name, value)| (text(name), text(value)))).finish()
    }
}

impl PartialEq for Headers {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Headers {}
