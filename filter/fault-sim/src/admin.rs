//! The admin interface: what it knows, and the many ways in which it may say so. Each answer comes with the lesson
//! that it teaches, computed here from what was meant and not from the text.

use std::fmt::Write as _;

use rudolph_core::servers::{Address, Members, Server};

use crate::random::Random;
use crate::scenario::address;

/// Health as Envoy writes it, and whether the server is usable.
const HEALTH: [(&str, bool); 8] = [
    (r#"{"eds_health_status":"HEALTHY"}"#, true),
    (r#"{"eds_health_status":"UNKNOWN"}"#, true),
    (r#"{"eds_health_status":"DEGRADED"}"#, true),
    (r#"{"eds_health_status":"DRAINING"}"#, false),
    (r#"{"eds_health_status":"UNHEALTHY"}"#, false),
    (r#"{"eds_health_status":"HEALTHY","failed_active_health_check":true}"#, false),
    (r#"{"eds_health_status":"HEALTHY","failed_outlier_check":true}"#, false),
    (r#"{"eds_health_status":"HEALTHY","pending_dynamic_removal":true}"#, false),
];

/// One endpoint of the cluster.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    address: String,
    weight: u32,
    priority: u32,
    health: usize,
}

impl Endpoint {
    pub(crate) fn healthy(i: usize) -> Self {
        Self { address: address(i), weight: 1, priority: 0, health: 0 }
    }

    fn by_chance(i: usize, random: &mut Random) -> Self {
        let health = if random.percent(75) { 0 } else { random.below(HEALTH.len()) };
        let weight = if random.percent(70) { 1 } else { 1 + random.below(4) as u32 };
        Self { address: address(i), weight, priority: u32::from(random.percent(10)), health }
    }

    fn is_usable(&self) -> bool {
        HEALTH[self.health].1
    }

    fn json(&self) -> String {
        let (ip, port) = self.address.rsplit_once(':').unwrap_or_default();
        let ip = ip.trim_matches(['[', ']']);
        let (health, _) = HEALTH[self.health];
        // Envoy leaves out what is zero.
        let priority = match self.priority {
            0 => String::new(),
            other => format!(r#","priority":{other}"#),
        };
        format!(
            r#"{{"address":{{"socket_address":{{"address":"{ip}","port_value":{port}}}}},"stats":[{{"name":"cx_total","value":"3"}}],"health_status":{health},"weight":{},"locality":{{}}{priority}}}"#,
            self.weight
        )
    }
}

/// The usable servers among endpoints, of the first priority that has one.
fn usable(endpoints: &[Endpoint]) -> Members {
    let first = endpoints.iter().filter(|it| it.is_usable()).map(|it| it.priority).min();
    let servers = endpoints
        .iter()
        .filter(|it| it.is_usable() && Some(it.priority) == first)
        .filter_map(|it| Some(Server { address: Address::parse(&it.address)?, weight: it.weight }));
    Members::new(servers.collect())
}

fn body(cluster: &str, endpoints: &[Endpoint], more: &str) -> String {
    let hosts: Vec<String> = endpoints.iter().map(Endpoint::json).collect();
    let admin = r#"{"name":"admin","host_statuses":[{"address":{"pipe":{"path":"/run/admin"}},"weight":1}]}"#;
    format!(
        r#"{{"cluster_statuses":[{admin},{more}{{"name":"{cluster}","host_statuses":[{}]}}]}}"#,
        hosts.join(",")
    )
}

/// An answer to a poll; without a status it fails inside Envoy.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: Option<&'static str>,
    pub(crate) body: Vec<u8>,
    /// The usable servers that it tells of; `None` where it tells nothing.
    pub(crate) lesson: Option<Members>,
    pub(crate) name: &'static str,
}

impl Answer {
    fn useless(name: &'static str, status: Option<&'static str>, body: impl Into<Vec<u8>>) -> Self {
        Self { status, body: body.into(), lesson: None, name }
    }

    pub(crate) fn timeout() -> Self {
        Self::useless("times out", Some("504"), "upstream request timeout")
    }
}

/// The admin interface.
#[derive(Clone, Debug)]
pub(crate) struct Admin {
    endpoints: Vec<Endpoint>,
}

impl Admin {
    pub(crate) fn new(random: &mut Random) -> Self {
        Self { endpoints: (0..1 + random.below(4)).map(Endpoint::healthy).collect() }
    }

    /// Servers change, and few stay few: a table takes its time to make.
    pub(crate) fn flap(&mut self, random: &mut Random) {
        match random.below(6) {
            0 => self.endpoints.clear(),
            1 if !self.endpoints.is_empty() => {
                let gone = random.below(self.endpoints.len());
                self.endpoints.remove(gone);
            }
            _ => {
                let count = random.pick(&[1, 1, 2, 2, 3, 3, 4, 8]);
                let mut chosen: Vec<usize> = (0..count).map(|_| random.below(9)).collect();
                chosen.sort_unstable();
                chosen.dedup();
                self.endpoints =
                    chosen.into_iter().map(|i| Endpoint::by_chance(i, random)).collect();
            }
        }
    }

    /// At rest there are usable servers.
    pub(crate) fn recover(&mut self, random: &mut Random) {
        if usable(&self.endpoints).is_empty() {
            self.endpoints = (0..1 + random.below(3)).map(Endpoint::healthy).collect();
        }
    }

    pub(crate) fn truth(&self) -> Members {
        usable(&self.endpoints)
    }

    pub(crate) fn well(&self) -> Answer {
        Answer {
            status: Some("200"),
            body: body("app", &self.endpoints, "").into(),
            lesson: Some(self.truth()),
            name: "well",
        }
    }

    /// Any of the bad answers.
    pub(crate) fn badly(&self, random: &mut Random) -> Answer {
        let well = self.well();
        match random.below(9) {
            0 => Answer::useless("with 503", Some("503"), well.body),
            1 => Answer::useless("by failing", None, ""),
            2 => {
                let cut = random.below(well.body.len());
                Answer::useless("cut", Some("200"), &well.body[..cut])
            }
            3 => Answer::useless("with noise", Some("200"), noise(random)),
            4 => Answer { body: huge(&self.endpoints), name: "hugely", ..well },
            5 => lie(random),
            6 => Answer::useless(
                "of another cluster",
                Some("200"),
                body("apps", &self.endpoints, ""),
            ),
            7 => Answer::useless("deeply nested", Some("200"), "[".repeat(100_000)),
            _ => malformed(random),
        }
    }
}

fn noise(random: &mut Random) -> Vec<u8> {
    (0..random.below(300)).map(|_| random.next() as u8).collect()
}

/// A true answer among hundreds of other clusters.
fn huge(endpoints: &[Endpoint]) -> Vec<u8> {
    let others: Vec<Endpoint> = (0..20).map(Endpoint::healthy).collect();
    let hosts: Vec<String> = others.iter().map(Endpoint::json).collect();
    let hosts = hosts.join(",");
    let mut more = String::new();
    for i in 0..60 {
        let _ = write!(more, r#"{{"name":"other-{i}","host_statuses":[{hosts}]}},"#);
    }
    body("app", endpoints, &more).into()
}

/// Well formed and false; who polls has nothing else to believe.
fn lie(random: &mut Random) -> Answer {
    let mut endpoints: Vec<Endpoint> =
        (0..4).map(|i| Endpoint::by_chance(20 + i, random)).collect();
    endpoints.truncate(random.below(5));
    Answer {
        status: Some("200"),
        body: body("app", &endpoints, "").into(),
        lesson: Some(usable(&endpoints)),
        name: "with a lie",
    }
}

/// JSON of the wrong shape.
fn malformed(random: &mut Random) -> Answer {
    let body = random.pick(&[
        "",
        "null",
        "[]",
        r#"{"cluster_statuses":7}"#,
        r#"{"cluster_statuses":[{"name":"app","host_statuses":[{"address":7}]}]}"#,
        r#"{"cluster_statuses":[{"name":"app","host_statuses":[{"address":{"socket_address":{"address":"10.0.0.1","port_value":-1}}}]}]}"#,
        r#"{"cluster_statuses":[{"name":"app","host_statuses":[{"address":{},"weight":99999999999}]}]}"#,
        r#"{"cluster_statuses":[{"name":"app"}]} trailing"#,
    ]);
    Answer::useless("malformed", Some("200"), body)
}
