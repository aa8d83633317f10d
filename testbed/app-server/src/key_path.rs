use rudolph_workload::MAX_KEY_BYTES;

/// Why a path names no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeyPathError {
    #[error("no such path; there are /kv/KEY, /healthz and /metrics")]
    NoSuchPath,
    #[error("the key is empty; allowed: 1 to 1024 bytes")]
    Empty,
    #[error("the key is longer than 1024 bytes")]
    TooLong,
    #[error("the key holds a % that two hexadecimal digits do not follow")]
    BadEscape,
    #[error("the key holds a /; write it as %2F")]
    Slash,
}

/// The key in `/kv/KEY`, any bytes, percent-encoded where HTTP asks for it.
pub(crate) fn key_of(path: &str) -> Result<Vec<u8>, KeyPathError> {
    decode(path.strip_prefix("/kv/").ok_or(KeyPathError::NoSuchPath)?)
}

/// The key at which a scan ends, which it leaves out: the `to=KEY` of a query. `None`: no scan is asked for.
pub(crate) fn end_of_scan(query: Option<&str>) -> Option<Result<Vec<u8>, KeyPathError>> {
    query?.split('&').find_map(|pair| pair.strip_prefix("to=")).map(decode)
}

fn decode(encoded: &str) -> Result<Vec<u8>, KeyPathError> {
    let mut key = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let (byte, after) = match (byte, after) {
            (b'/', _) => return Err(KeyPathError::Slash),
            (b'%', [high, low, after @ ..]) => (hex(*high, *low)?, after),
            (b'%', _) => return Err(KeyPathError::BadEscape),
            plain => plain,
        };
        key.push(byte);
        rest = after;
    }
    match key.len() {
        0 => Err(KeyPathError::Empty),
        1..=MAX_KEY_BYTES => Ok(key),
        _ => Err(KeyPathError::TooLong),
    }
}

fn hex(high: u8, low: u8) -> Result<u8, KeyPathError> {
    Ok(digit(high)? << 4 | digit(low)?)
}

fn digit(byte: u8) -> Result<u8, KeyPathError> {
    match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        b'A'..=b'F' => Ok(byte - b'A' + 10),
        _ => Err(KeyPathError::BadEscape),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_any_bytes() {
        assert_eq!(key_of("/kv/a-b").unwrap(), b"a-b");
        assert_eq!(key_of("/kv/%00%fF%2f+%25").unwrap(), b"\x00\xff/+%");
        assert_eq!(key_of(&format!("/kv/{}", "%41".repeat(1024))).unwrap().len(), 1024);
    }

    #[test]
    fn a_scan_has_an_end() {
        assert_eq!(end_of_scan(None), None);
        assert_eq!(end_of_scan(Some("from=a")), None);
        assert_eq!(end_of_scan(Some("x=1&to=%7B3%7Dk9")), Some(Ok(b"{3}k9".to_vec())));
        assert_eq!(end_of_scan(Some("to=")), Some(Err(KeyPathError::Empty)));
        assert_eq!(end_of_scan(Some("to=%zz")), Some(Err(KeyPathError::BadEscape)));
    }

    #[test]
    fn refuses_what_is_no_key() {
        for (path, error) in [
            ("/", KeyPathError::NoSuchPath),
            ("/kv", KeyPathError::NoSuchPath),
            ("/kv/", KeyPathError::Empty),
            ("/kv/a/b", KeyPathError::Slash),
            ("/kv/%", KeyPathError::BadEscape),
            ("/kv/%4", KeyPathError::BadEscape),
            ("/kv/%zz", KeyPathError::BadEscape),
        ] {
            assert_eq!(key_of(path), Err(error), "{path}");
        }
        assert_eq!(key_of(&format!("/kv/{}", "x".repeat(1025))), Err(KeyPathError::TooLong));
    }
}
