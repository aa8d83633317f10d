//! Finding the key in a request's headers.

use rudolph_core::hash::KeyHash;
use rudolph_core::key::{HeaderSource, KeyFinder, KeySource, MAX_KEY_BYTES};

/// Headers with any bytes as values.
struct Headers<'a> {
    values: [(&'static str, &'a [u8]); 4],
}

impl HeaderSource for Headers<'_> {
    fn header(&mut self, name: &str) -> Option<Vec<u8>> {
        let (_, value) = self.values.iter().find(|(found, _)| *found == name)?;
        Some(value.to_vec())
    }
}

/// Four header values, separated by newlines; the last may hold more.
fn headers(bytes: &[u8]) -> Headers<'_> {
    let mut values = bytes.splitn(4, |byte| *byte == b'\n');
    let names = [":path", "cookie", "x-key", ":authority"];
    Headers { values: names.map(|name| (name, values.next().unwrap_or_default())) }
}

/// Each source finds what a slow reading of it finds, a key is never empty nor longer than what counts, and the first
/// source that is present wins.
pub fn key(bytes: &[u8]) {
    let mut request = headers(bytes);
    let (path, cookie) = (request.values[0].1, request.values[1].1);
    let sources = [
        (KeySource::Header("x-key".into()), present(request.values[2].1.to_vec())),
        (KeySource::Authority, present(request.values[3].1.to_vec())),
        (KeySource::Path, present(path_alone(path).to_vec())),
        (KeySource::PathSegment(2), segment(path, 2)),
        (KeySource::QueryParameter("k".into()), parameter(path, b"k")),
        (KeySource::Cookie("k".into()), cookie_value(cookie, b"k")),
    ];
    let mut first = None;
    for (source, slow) in &sources {
        let slow = slow.clone().map(|mut key| {
            key.truncate(MAX_KEY_BYTES);
            key
        });
        let finder = KeyFinder { sources: vec![source.clone()], hash_tag: false };
        assert_eq!(finder.find(&mut request), slow, "{source:?}");
        first = first.or(slow);
    }
    let all = || sources.iter().map(|(source, _)| source.clone()).collect();
    let whole = KeyFinder { sources: all(), hash_tag: false }.find(&mut request);
    assert_eq!(whole, first);
    let tagged = KeyFinder { sources: all(), hash_tag: true }.find(&mut request);
    assert_eq!(tagged.is_some(), whole.is_some());
    if let (Some(tag), Some(whole)) = (tagged, whole) {
        assert!(!tag.is_empty() && tag.len() <= MAX_KEY_BYTES);
        let braced = [b"{", &tag[..], b"}"].concat();
        let holds = whole.windows(braced.len()).any(|part| part == braced);
        assert!(tag == whole || holds, "{tag:?} is no tag of {whole:?}");
        assert_eq!(KeyHash::of(&tag), KeyHash::of(&tag.clone()));
    }
}

fn present(value: Vec<u8>) -> Option<Vec<u8>> {
    if value.is_empty() { None } else { Some(value) }
}

fn path_alone(target: &[u8]) -> &[u8] {
    let end = target.iter().position(|byte| b"?#".contains(byte)).unwrap_or(target.len());
    &target[..end]
}

fn segment(target: &[u8], n: usize) -> Option<Vec<u8>> {
    let parts: Vec<&[u8]> = path_alone(target).split(|byte| *byte == b'/').collect();
    parts.get(n).and_then(|part| present(part.to_vec()))
}

fn parameter(target: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    let begin = target.iter().position(|byte| *byte == b'?')? + 1;
    let query = &target[begin..];
    let end = query.iter().position(|byte| *byte == b'#').unwrap_or(query.len());
    for pair in query[..end].split(|byte| *byte == b'&') {
        if let Some(equals) = pair.iter().position(|byte| *byte == b'=')
            && decoded(&pair[..equals]) == name
        {
            return present(decoded(&pair[equals + 1..]));
        }
    }
    None
}

/// Percent-decoding, one byte at a time.
fn decoded(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut out, mut at) = (Vec::new(), 0);
    while at < text.len() {
        match (text[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 2;
            }
            (b'+', ..) => out.push(b' '),
            (byte, ..) => out.push(byte),
        }
        at += 1;
    }
    out
}

fn cookie_value(header: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    for pair in header.split(|byte| *byte == b';') {
        let pair = pair.trim_ascii();
        if let Some(equals) = pair.iter().position(|byte| *byte == b'=')
            && &pair[..equals] == name
        {
            let value = &pair[equals + 1..];
            let quoted = value.len() >= 2 && value.starts_with(b"\"") && value.ends_with(b"\"");
            let value = if quoted { &value[1..value.len() - 1] } else { value };
            return present(value.to_vec());
        }
    }
    None
}
