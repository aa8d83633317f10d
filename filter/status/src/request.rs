//! What a request to the status page asks for, or why it is refused.

use std::net::IpAddr;

use serde::Serialize;

use rudolph_core::key::percent_decoded;

/// What of a request matters here.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: Vec<u8>,
    /// With the query.
    pub path: Vec<u8>,
    pub authority: Vec<u8>,
}

/// What to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub status: u32,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Page,
    Status { filter: Option<u64> },
    Explain { filter: Option<u64>, key: Vec<u8>, without: Option<String> },
}

/// A request that is not answered, with a status and a reason for whoever sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Method(String),
    Host(String),
    Path(String),
    UnknownParameter { name: String, allowed: &'static str },
    RepeatedParameter(String),
    NoKey,
    FilterId(String),
    NoSuchFilter(u64),
    NoSuchServer(String),
}

impl Refusal {
    pub(crate) fn status(&self) -> u32 {
        match self {
            Self::Method(_) => 405,
            Self::Host(_) => 403,
            Self::Path(_) | Self::NoSuchFilter(_) => 404,
            Self::UnknownParameter { .. }
            | Self::RepeatedParameter(_)
            | Self::NoKey
            | Self::FilterId(_)
            | Self::NoSuchServer(_) => 400,
        }
    }

    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Method(method) => format!("method {method} is not allowed; allowed: GET, HEAD"),
            Self::Host(host) => format!(
                "host {host} is not allowed; allowed: an IP address, localhost, or a name in \"hosts\""
            ),
            Self::Path(path) => {
                format!("{path} is not here; here are /, /status.json and /explain?key=...")
            }
            Self::UnknownParameter { name, allowed } => {
                format!("parameter {name} is not known; allowed: {allowed}")
            }
            Self::RepeatedParameter(name) => format!("parameter {name} is there twice"),
            Self::NoKey => "parameter key is missing or empty".into(),
            Self::FilterId(id) => {
                format!("filter {id} is not allowed; allowed: an id from /status.json")
            }
            Self::NoSuchFilter(id) => format!("there is no filter {id:016x}"),
            Self::NoSuchServer(name) => {
                format!("without {name} is not allowed; allowed: a server of the plan")
            }
        }
    }
}

/// Text of a request as an answer may repeat it: short, and no more than text.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut short: String = text.chars().take(80).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    format!("{short:?}")
}

/// Reads a request. A name that is no address could be anybody's who makes a browser look here, so it must be allowed.
pub(crate) fn read(request: &Request, hosts: &[String]) -> Result<Asked, Refusal> {
    if !is_own_host(&request.authority, hosts) {
        return Err(Refusal::Host(shown(&request.authority)));
    }
    if request.method != b"GET" && request.method != b"HEAD" {
        return Err(Refusal::Method(shown(&request.method)));
    }
    let mut parts = request.path.splitn(2, |&byte| byte == b'?');
    let path = parts.next().unwrap_or_default();
    let query = parts.next().unwrap_or_default();
    match path {
        b"/" => Ok(Asked::Page),
        b"/status.json" => {
            let mut query = Query::read(query, &["filter"], "filter")?;
            Ok(Asked::Status { filter: query.filter()? })
        }
        b"/explain" => {
            let names = &["key", "filter", "without"];
            let mut query = Query::read(query, names, "key, filter, without")?;
            let key = query.take("key").filter(|key| !key.is_empty()).ok_or(Refusal::NoKey)?;
            let without = query.take("without").filter(|server| !server.is_empty());
            let without = without.map(|server| String::from_utf8_lossy(&server).into_owned());
            Ok(Asked::Explain { filter: query.filter()?, key, without })
        }
        other => Err(Refusal::Path(shown(other))),
    }
}

struct Query(Vec<(String, Vec<u8>)>);

impl Query {
    fn read(text: &[u8], names: &[&str], allowed: &'static str) -> Result<Self, Refusal> {
        let mut found: Vec<(String, Vec<u8>)> = Vec::new();
        for pair in text.split(|&byte| byte == b'&').filter(|pair| !pair.is_empty()) {
            let mut halves = pair.splitn(2, |&byte| byte == b'=');
            let name = percent_decoded(halves.next().unwrap_or_default()).into_owned();
            let value = percent_decoded(halves.next().unwrap_or_default()).into_owned();
            let Some(known) = names.iter().find(|known| known.as_bytes() == name) else {
                return Err(Refusal::UnknownParameter { name: shown(&name), allowed });
            };
            if found.iter().any(|(other, _)| other == known) {
                return Err(Refusal::RepeatedParameter((*known).into()));
            }
            found.push(((*known).into(), value));
        }
        Ok(Self(found))
    }

    fn take(&mut self, name: &str) -> Option<Vec<u8>> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.swap_remove(at).1)
    }

    fn filter(&mut self) -> Result<Option<u64>, Refusal> {
        let Some(id) = self.take("filter").filter(|id| !id.is_empty()) else {
            return Ok(None);
        };
        let text = std::str::from_utf8(&id).ok().filter(|text| text.len() == 16);
        let number = text.and_then(|text| u64::from_str_radix(text, 16).ok());
        number.map(Some).ok_or_else(|| Refusal::FilterId(shown(&id)))
    }
}

fn is_own_host(authority: &[u8], hosts: &[String]) -> bool {
    let Ok(text) = std::str::from_utf8(authority) else {
        return false;
    };
    let host = match text.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => text.split(':').next().unwrap_or_default(),
    };
    let host = host.to_ascii_lowercase();
    host.parse::<IpAddr>().is_ok() || host == "localhost" || hosts.contains(&host)
}

/// Headers of every answer: nothing is kept, guessed, framed or shared.
fn headers(content_type: &str, policy: &str) -> Vec<(&'static str, String)> {
    vec![
        ("content-type", content_type.into()),
        ("content-security-policy", policy.into()),
        ("cache-control", "no-store".into()),
        ("x-content-type-options", "nosniff".into()),
        ("referrer-policy", "no-referrer".into()),
        ("cross-origin-resource-policy", "same-origin".into()),
    ]
}

pub(crate) fn html(body: Vec<u8>, policy: &str) -> Response {
    Response { status: 200, headers: headers("text/html; charset=utf-8", policy), body }
}

pub(crate) fn json(status: u32, body: &impl Serialize) -> Response {
    // Nothing that is sent here can fail to be written: there are no maps with odd keys.
    let body = serde_json::to_vec(body).unwrap_or_default();
    let policy = "default-src 'none'; frame-ancestors 'none'";
    Response { status, headers: headers("application/json", policy), body }
}

pub(crate) fn refused(refusal: &Refusal) -> Response {
    #[derive(Serialize)]
    struct Error {
        error: String,
    }
    let mut response = json(refusal.status(), &Error { error: refusal.reason() });
    if matches!(refusal, Refusal::Method(_)) {
        response.headers.push(("allow", "GET, HEAD".into()));
    }
    response
}

/// Shared data did not answer: nothing can be told.
pub(crate) fn failed() -> Response {
    #[derive(Serialize)]
    struct Error {
        error: &'static str,
    }
    json(503, &Error { error: "Envoy's shared data fails" })
}
