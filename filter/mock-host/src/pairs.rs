//! The byte form in which the ABI passes header maps:
//! count, then every name's and value's length, then every name and value, each ended by a zero byte.

use crate::headers::Headers;

const WORD: usize = 4;

/// Writes the map into `out`, which is emptied first. No headers, no bytes.
pub(crate) fn serialise(headers: &Headers, out: &mut Vec<u8>) {
    out.clear();
    if headers.is_empty() {
        return;
    }
    push_length(out, headers.len());
    for (name, value) in headers.iter() {
        push_length(out, name.len());
        push_length(out, value.len());
    }
    for (name, value) in headers.iter() {
        push_ended(out, name);
        push_ended(out, value);
    }
}

fn push_length(out: &mut Vec<u8>, length: usize) {
    // A VM's memory is addressed by 32 bits: longer values cannot reach it anyway.
    out.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
}

fn push_ended(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
    out.push(0);
}

/// Reads a map; malformed bytes are an empty map, as in Envoy.
pub(crate) fn parse(bytes: &[u8]) -> Headers {
    parse_checked(bytes).unwrap_or_default()
}

fn parse_checked(bytes: &[u8]) -> Option<Headers> {
    let count = length_at(bytes, 0)?;
    let mut at = count.checked_mul(2 * WORD)?.checked_add(WORD)?;
    if at > bytes.len() {
        return None;
    }
    let mut headers = Headers::default();
    for entry in 0..count {
        let lengths = WORD + entry * 2 * WORD;
        let name = ended_at(bytes, &mut at, length_at(bytes, lengths)?)?;
        let value = ended_at(bytes, &mut at, length_at(bytes, lengths + WORD)?)?;
        headers.add(name, value);
    }
    Some(headers)
}

fn length_at(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at.checked_add(WORD)?)?.first_chunk::<WORD>()?;
    usize::try_from(u32::from_le_bytes(*word)).ok()
}

fn ended_at<'a>(bytes: &'a [u8], at: &mut usize, length: usize) -> Option<&'a [u8]> {
    let end = at.checked_add(length)?;
    let found = bytes.get(*at..end)?;
    *at = end + 1;
    Some(found)
}
