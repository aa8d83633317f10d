//! RESP2, both ways: what servers say to their Redis and to each other.

use bytes::{Buf, Bytes, BytesMut};

/// No key, value or page of an index is longer.
const MOST_BULK_BYTES: usize = 32 << 20;
const MOST_PARTS: usize = 4_096;
/// Redis answers SCAN so.
const MOST_DEPTH: usize = 2;
/// A line is a word, a number or an error.
const MOST_LINE_BYTES: usize = 1_024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Simple(String),
    Error(String),
    Integer(i64),
    Bulk(Bytes),
    Nil,
    Array(Vec<Self>),
}

/// What is no RESP, in the words of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProtocolError {
    #[error("Protocol error: expected one of + - : $ *, got byte {0}")]
    Kind(u8),
    #[error("Protocol error: a line is longer than {MOST_LINE_BYTES} bytes")]
    LongLine,
    #[error("Protocol error: invalid length or number")]
    Number,
    #[error("Protocol error: a bulk string is longer than {MOST_BULK_BYTES} bytes")]
    LongBulk,
    #[error("Protocol error: more than {MOST_PARTS} parts")]
    ManyParts,
    #[error("Protocol error: more than {MOST_DEPTH} arrays in each other")]
    Nested,
    #[error("Protocol error: a bulk string does not end with CRLF")]
    Unended,
}

/// Takes the first whole value out of the buffer; `None` if more bytes must come.
pub(crate) fn take(buffer: &mut BytesMut) -> Result<Option<Value>, ProtocolError> {
    let Some(length) = whole(buffer, 0, MOST_DEPTH)? else {
        return Ok(None);
    };
    let mut bytes = buffer.split_to(length).freeze();
    Ok(Some(read(&mut bytes)))
}

/// Where the value that begins at `at` ends.
fn whole(bytes: &[u8], at: usize, depth: usize) -> Result<Option<usize>, ProtocolError> {
    let Some(line) = line(&bytes[at..])? else {
        return Ok(None);
    };
    let (kind, text) = (line[0], &line[1..]);
    let after = at + line.len() + 2;
    match kind {
        b'+' | b'-' => Ok(Some(after)),
        b':' => number(text).map(|_| Some(after)),
        b'$' => match number(text)? {
            -1 => Ok(Some(after)),
            length => bulk_end(bytes, after, length),
        },
        b'*' if depth == 0 => Err(ProtocolError::Nested),
        b'*' => {
            let parts = number(text)?;
            if !(0..=MOST_PARTS as i64).contains(&parts) {
                return Err(ProtocolError::ManyParts);
            }
            let mut end = after;
            for _ in 0..parts {
                match whole(bytes, end, depth - 1)? {
                    Some(next) => end = next,
                    None => return Ok(None),
                }
            }
            Ok(Some(end))
        }
        other => Err(ProtocolError::Kind(other)),
    }
}

fn bulk_end(bytes: &[u8], start: usize, length: i64) -> Result<Option<usize>, ProtocolError> {
    let length = usize::try_from(length).map_err(|_| ProtocolError::Number)?;
    if length > MOST_BULK_BYTES {
        return Err(ProtocolError::LongBulk);
    }
    let end = start + length + 2;
    if bytes.len() < end {
        return Ok(None);
    }
    if &bytes[end - 2..end] != b"\r\n" {
        return Err(ProtocolError::Unended);
    }
    Ok(Some(end))
}

/// The line at the start, without its end; at least one byte.
fn line(bytes: &[u8]) -> Result<Option<&[u8]>, ProtocolError> {
    if let Some(first) = bytes.first()
        && !b"+-:$*".contains(first)
    {
        return Err(ProtocolError::Kind(*first));
    }
    let looked_at = &bytes[..bytes.len().min(MOST_LINE_BYTES)];
    match looked_at.windows(2).position(|pair| pair == b"\r\n") {
        Some(end) => Ok(Some(&bytes[..end])),
        None if looked_at.len() == MOST_LINE_BYTES => Err(ProtocolError::LongLine),
        None => Ok(None),
    }
}

fn number(text: &[u8]) -> Result<i64, ProtocolError> {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(ProtocolError::Number)
}

/// Reads a value that is known to be whole and sound.
fn read(bytes: &mut Bytes) -> Value {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n").unwrap_or(bytes.len());
    let line = bytes.split_to(end);
    bytes.advance(bytes.len().min(2));
    let text = || String::from_utf8_lossy(&line[1..]).into_owned();
    let length = || number(&line[1..]).unwrap_or(0);
    match line.first() {
        Some(b'+') => Value::Simple(text()),
        Some(b':') => Value::Integer(length()),
        Some(b'$') if length() < 0 => Value::Nil,
        Some(b'$') => {
            let bulk = bytes.split_to(length() as usize);
            bytes.advance(2);
            Value::Bulk(bulk)
        }
        Some(b'*') => Value::Array((0..length()).map(|_| read(bytes)).collect()),
        _ => Value::Error(text()),
    }
}

/// Adds a command, or an array of an answer.
pub(crate) fn write_array(parts: &[&[u8]], out: &mut BytesMut) {
    write_head(b'*', parts.len(), out);
    for part in parts {
        write_bulk(part, out);
    }
}

pub(crate) fn write_bulk(bytes: &[u8], out: &mut BytesMut) {
    write_head(b'$', bytes.len(), out);
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

pub(crate) fn write_head(kind: u8, mut number: usize, out: &mut BytesMut) {
    let mut digits = [0; 20];
    let mut from = digits.len();
    loop {
        from -= 1;
        digits[from] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&[kind]);
    out.extend_from_slice(&digits[from..]);
    out.extend_from_slice(b"\r\n");
}

/// Adds an error, whose text may be of someone else, as the one line that it must be.
pub(crate) fn write_error(text: &str, out: &mut BytesMut) {
    let line: String =
        text.chars().take(400).map(|c| if c.is_control() { ' ' } else { c }).collect();
    out.extend_from_slice(b"-");
    out.extend_from_slice(line.as_bytes());
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
#[path = "resp_tests.rs"]
mod tests;
