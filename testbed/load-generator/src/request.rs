use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Uri,
    header::{HOST, HeaderName, HeaderValue},
};
use rudolph_workload::{KeyId, KeyStream, Operation, derived_value};

const X_KEY: HeaderName = HeaderName::from_static("x-key");

/// One request, ready to send, and to send again on another connection if the first had closed.
#[derive(Clone, Debug)]
pub struct PreparedRequest {
    pub key: KeyId,
    /// `/kv/KEY`, the key percent-encoded; the part after the prefix is also the `x-key` header.
    pub path: Bytes,
    /// A write carries its value.
    pub value: Option<Bytes>,
}

const PREFIX: &[u8] = b"/kv/";

impl PreparedRequest {
    /// The stream's next request at `now_ns`.
    pub(crate) fn draw(stream: &mut KeyStream, now_ns: u64, scratch: &mut Vec<u8>) -> Self {
        let step = stream.next(now_ns);
        scratch.clear();
        stream.write_key(step.key, scratch);
        let mut path = Vec::with_capacity(PREFIX.len() + scratch.len());
        path.extend_from_slice(PREFIX);
        encode_key(scratch, &mut path);
        let write = || Bytes::from(derived_value(scratch, step.value_bytes));
        Self {
            key: step.key,
            path: path.into(),
            value: (step.operation == Operation::Write).then(write),
        }
    }

    /// `None` cannot happen for an encoded path; there is no panic here to rely on it.
    pub(crate) fn to_http(&self, host: &HeaderValue) -> Option<Request<Full<Bytes>>> {
        let key = self.path.slice(PREFIX.len()..);
        let mut request = Request::new(Full::new(self.value.clone().unwrap_or_default()));
        *request.uri_mut() = Uri::from_maybe_shared(self.path.clone()).ok()?;
        if self.value.is_some() {
            *request.method_mut() = Method::PUT;
        }
        let headers = request.headers_mut();
        headers.insert(HOST, host.clone());
        headers.insert(X_KEY, HeaderValue::from_maybe_shared(key).ok()?);
        Some(request)
    }
}

/// Appends the key with every byte but letters, digits and `-._~{}` percent-encoded. Braces go out as they are, which HTTP
/// allows in a header and which everybody takes in a path: the filter looks for them, if they mark a hash tag.
pub fn encode_key(key: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in key {
        if byte.is_ascii_alphanumeric() || b"-._~{}".contains(&byte) {
            out.push(byte);
        } else {
            let digits = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
            out.push(b'%');
            out.extend_from_slice(&digits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_encoded_whole() {
        let mut out = Vec::new();
        encode_key(b"{7}aZ9-._~ /%\x00\xff", &mut out);
        assert_eq!(out, b"{7}aZ9-._~%20%2F%25%00%FF");
    }

    #[test]
    fn the_header_and_the_path_hold_the_same_key() {
        let request = PreparedRequest {
            key: KeyId(0),
            path: Bytes::from_static(b"/kv/{0007}a%20b"),
            value: Some(Bytes::from_static(b"v")),
        };
        let http = request.to_http(&HeaderValue::from_static("h")).unwrap();
        assert_eq!(http.uri().path(), "/kv/{0007}a%20b");
        assert_eq!(http.headers()["x-key"], "{0007}a%20b");
        assert_eq!(http.method(), Method::PUT);
    }
}
