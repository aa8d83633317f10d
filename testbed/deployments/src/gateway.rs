use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use bytes::Bytes;
use hyper::Method;
use rudolph_load_generator::encode_key;

use crate::Failure;
use crate::http::{Connection, HttpError, Page};

/// Envoy as a client of the testbed's servers sees it.
#[derive(Debug, Clone, Copy)]
pub struct Gateway {
    address: SocketAddr,
}

/// What one request got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    /// Who answered; nobody where the gateway did itself.
    pub server: Option<String>,
    /// `hit` or `miss`.
    pub cache: Option<String>,
    pub body: Bytes,
}

impl From<Page> for Reply {
    fn from(page: Page) -> Self {
        let header = |name| page.header(name).map(str::to_owned);
        Self {
            status: page.status,
            server: header("x-server"),
            cache: header("x-cache"),
            body: page.body,
        }
    }
}

/// Which server answered for each key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers(BTreeMap<String, String>);

impl Answers {
    #[must_use]
    pub fn servers(&self) -> BTreeSet<&str> {
        self.0.values().map(String::as_str).collect()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub fn server_of(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// The keys that another server answered for later.
    #[must_use]
    pub fn moved_in<'a>(&'a self, later: &Self) -> Vec<&'a str> {
        let moved = self.0.iter().filter(|(key, server)| later.0.get(*key) != Some(server));
        moved.map(|(key, _)| key.as_str()).collect()
    }

    /// How many of the keys each server answered for.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for server in self.0.values() {
            *counts.entry(server.as_str()).or_default() += 1;
        }
        counts
    }
}

impl Gateway {
    #[must_use]
    pub fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub async fn get(&self, key: &str) -> Result<Reply, HttpError> {
        self.ask(Method::GET, key, Bytes::new()).await
    }

    pub async fn put(&self, key: &str, value: impl Into<Bytes>) -> Result<Reply, HttpError> {
        self.ask(Method::PUT, key, value.into()).await
    }

    async fn ask(&self, method: Method, key: &str, body: Bytes) -> Result<Reply, HttpError> {
        ask(&mut Connection::open(self.address).await?, method, key, body).await
    }

    /// Reads each key once. Any answer that no server gave, or that is not 200, is a failure.
    ///
    /// Many keys asked once are cold, which is what homes are about; few keys asked often become hot and are served by
    /// several servers under `spread`.
    pub async fn servers_of(&self, keys: &[String]) -> Result<Answers, Failure> {
        let mut connection = Connection::open(self.address).await?;
        let mut answers = BTreeMap::new();
        for key in keys {
            let reply = ask(&mut connection, Method::GET, key, Bytes::new()).await?;
            match (reply.status, reply.server) {
                (200, Some(server)) => answers.insert(key.clone(), server),
                (status, server) => {
                    let found = format!("{status} from {server:?}");
                    return Err(Failure::unmet(format!("key {key}"), "200 from a server", found));
                }
            };
        }
        Ok(Answers(answers))
    }
}

async fn ask(
    connection: &mut Connection,
    method: Method,
    key: &str,
    body: Bytes,
) -> Result<Reply, HttpError> {
    let mut encoded = Vec::with_capacity(key.len());
    encode_key(key.as_bytes(), &mut encoded);
    let encoded = String::from_utf8_lossy(&encoded);
    let path = format!("/kv/{encoded}");
    let page = connection.send(method, &path, &[("x-key", encoded.as_ref())], body).await?;
    Ok(page.into())
}

/// Different keys, and others under another prefix.
#[must_use]
pub fn numbered_keys(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}-{number}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(pairs: &[(&str, &str)]) -> Answers {
        let owned = pairs.iter().map(|(key, server)| ((*key).to_owned(), (*server).to_owned()));
        Answers(owned.collect())
    }

    #[test]
    fn tells_what_moved_and_who_answered() {
        let before = answers(&[("a", "s1"), ("b", "s2"), ("c", "s1")]);
        let after = answers(&[("a", "s1"), ("b", "s3")]);
        assert_eq!(before.moved_in(&before), Vec::<&str>::new());
        assert_eq!(before.moved_in(&after), ["b", "c"]);
        assert_eq!(before.servers(), BTreeSet::from(["s1", "s2"]));
        assert_eq!(before.counts(), BTreeMap::from([("s1", 2), ("s2", 1)]));
        assert_eq!((before.len(), before.server_of("b")), (3, Some("s2")));
    }
}
