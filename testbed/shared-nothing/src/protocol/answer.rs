use super::{Protocol, Span, Sum, number};

/// What a partition has to say about one operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer<'a> {
    Value { key: &'a [u8], value: &'a [u8], flags: u32 },
    NoValue,
    Stored,
}

impl Answer<'_> {
    #[inline]
    pub(crate) fn write(self, protocol: Protocol, out: &mut Vec<u8>) {
        match (protocol, self) {
            (Protocol::Redis, Self::Value { value, .. }) => bulk(out, value),
            (Protocol::Redis, Self::NoValue) => out.extend_from_slice(b"$-1\r\n"),
            (Protocol::Redis, Self::Stored) => out.extend_from_slice(b"+OK\r\n"),
            (Protocol::Memcached, Self::Value { key, value, flags }) => {
                out.extend_from_slice(b"VALUE ");
                out.extend_from_slice(key);
                out.push(b' ');
                number::put(out, u64::from(flags));
                out.push(b' ');
                number::put(out, value.len() as u64);
                out.extend_from_slice(b"\r\n");
                out.extend_from_slice(value);
                out.extend_from_slice(b"\r\n");
            }
            // The END that follows the last key says it.
            (Protocol::Memcached, Self::NoValue) => {}
            (Protocol::Memcached, Self::Stored) => out.extend_from_slice(b"STORED\r\n"),
        }
    }
}

pub(super) fn bulk(out: &mut Vec<u8>, value: &[u8]) {
    out.push(b'$');
    number::put(out, value.len() as u64);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

impl Sum {
    /// The answer once every partition has given its part.
    pub(crate) fn write(self, total: u64, threads: usize, out: &mut Vec<u8>) {
        match self {
            Self::Count => {
                out.push(b':');
                number::put(out, total);
                out.extend_from_slice(b"\r\n");
            }
            Self::Populate { .. } => out.extend_from_slice(b"+OK\r\n"),
            Self::Stats => {
                let version = env!("CARGO_PKG_VERSION");
                let stats = format!(
                    "STAT pid {}\r\nSTAT version {version}\r\nSTAT threads {threads}\r\n\
                     STAT curr_items {total}\r\nEND\r\n",
                    std::process::id()
                );
                out.extend_from_slice(stats.as_bytes());
            }
        }
    }

    /// The same with its spans in another buffer.
    pub(crate) fn copied(self, from: &[u8], to: &mut Vec<u8>) -> Self {
        match self {
            Self::Populate { count, prefix: Some(prefix), value_bytes } => {
                let prefix = Some(Span::put(to, prefix.of(from)));
                Self::Populate { count, prefix, value_bytes }
            }
            other => other,
        }
    }
}
