use std::path::PathBuf;

use rudolph_workload::KeySpec;

use super::{Action, Contender, Event, Figure, Load, Quick, Servers, Spec};

/// Why a spec is refused: the field, what it holds, and what is allowed.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    #[error("{path:?} cannot be read: {source}")]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("there is no experiment {name:?}; allowed: {names}, or a file that ends in .toml")]
    Unknown { name: String, names: String },
    #[error("not TOML: {reason}")]
    NotToml { reason: String },
    #[error("{field}: {reason}")]
    Field { field: String, reason: String },
    #[error("{field} is {value}; allowed: {allowed}")]
    OutOfBounds { field: &'static str, value: String, allowed: &'static str },
    #[error("{field} names {contender}, who does not compete; contenders: {contenders}")]
    NotCompeting { field: &'static str, contender: Contender, contenders: String },
    #[error(transparent)]
    Workload(#[from] rudolph_workload::SpecError),
}

impl SpecError {
    pub(super) fn not_toml(error: toml::de::Error) -> Self {
        Self::NotToml { reason: one_line(&error.to_string()) }
    }

    pub(super) fn of_field(error: serde_path_to_error::Error<toml::de::Error>) -> Self {
        let field = match error.path().to_string() {
            path if path == "." => "the spec".to_owned(),
            path => path,
        };
        Self::Field { field, reason: one_line(error.inner().message()) }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn refuse(field: &'static str, value: impl ToString, allowed: &'static str) -> SpecError {
    SpecError::OutOfBounds { field, value: value.to_string(), allowed }
}

fn within<T: PartialOrd + ToString>(
    field: &'static str,
    value: T,
    low: T,
    high: T,
    allowed: &'static str,
) -> Result<(), SpecError> {
    if value >= low && value <= high { Ok(()) } else { Err(refuse(field, value, allowed)) }
}

pub(super) fn check(spec: &Spec) -> Result<(), SpecError> {
    let named = !spec.name.is_empty()
        && spec.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if !named {
        return Err(refuse(
            "the file's name",
            format!("{:?}", spec.name),
            "letters, digits, - and _",
        ));
    }
    within("repeats", spec.repeats, 1, 100, "1 to 100")?;
    within("contenders", spec.contenders.len(), 1, 64, "1 to 64 of them")?;
    check_servers(&spec.servers)?;
    check_load(&spec.load)?;
    spec.workload.validate()?;
    check_events("event", &spec.events, spec.load.seconds, spec.servers.count)?;
    check_names(spec)?;
    check_figures(spec)?;
    check_quick(&spec.quick, spec)
}

fn check_servers(servers: &Servers) -> Result<(), SpecError> {
    within("servers.count", servers.count, 1, 64, "1 to 64")?;
    within("servers.slots", servers.slots, 1, 1000, "1 to 1000")?;
    within("servers.hit_ms", servers.hit_ms, 0.0, 10_000.0, "0 to 10000")?;
    within("servers.miss_ms", servers.miss_ms, 0.0, 10_000.0, "0 to 10000")?;
    within("servers.cache_entries", servers.cache_entries, 0, 100_000_000, "0 to 100000000")?;
    within("servers.workers", servers.workers, 1, 64, "1 to 64")
}

fn check_load(load: &Load) -> Result<(), SpecError> {
    match (load.clients, load.rate) {
        (Some(clients), None) => within("load.clients", clients, 1, 10_000, "1 to 10000")?,
        (None, Some(rate)) => within("load.rate", rate, 0.1, 1e6, "0.1 to 1000000")?,
        (clients, rate) => {
            let value = format!("clients {clients:?} with rate {rate:?}");
            return Err(refuse("load", value, "either clients (closed loop) or rate (open loop)"));
        }
    }
    within("load.warm_requests", load.warm_requests, 0, 10_000_000, "0 to 10000000")?;
    within("load.warm_up_s", load.warm_up_s, 0, 3600, "0 to 3600")?;
    within("load.seconds", load.seconds, 1, 86_400, "1 to 86400")
}

/// Follows the servers through the events: nobody is killed twice, nobody restarted who runs.
fn check_events(
    field: &'static str,
    events: &[Event],
    seconds: u64,
    servers: usize,
) -> Result<(), SpecError> {
    let mut running = vec![true; servers];
    let mut last = 0;
    for event in events {
        if event.at_s < last || event.at_s >= seconds {
            return Err(refuse(
                field,
                format!("at_s {}", event.at_s),
                "rising, below load.seconds",
            ));
        }
        last = event.at_s;
        let allowed = "kill of a server that runs, restart of one that was killed, add";
        let state = running.get_mut(event.server);
        match (event.action, state) {
            (Action::Add, _) => running.push(true),
            (Action::Kill, Some(runs)) if *runs => *runs = false,
            (Action::Restart, Some(runs)) if !*runs => *runs = true,
            (action, _) => {
                return Err(refuse(
                    field,
                    format!("{action:?} of server {}", event.server),
                    allowed,
                ));
            }
        }
    }
    Ok(())
}

fn check_names(spec: &Spec) -> Result<(), SpecError> {
    compete("reference", std::slice::from_ref(&spec.reference), &spec.contenders)?;
    compete("heroes", &spec.heroes, &spec.contenders)?;
    for expect in &spec.expectations {
        compete("expect.contender", std::slice::from_ref(&expect.contender), &spec.contenders)?;
        compete("expect.of", expect.target.others(), &spec.contenders)?;
    }
    compete("quick.contenders", &spec.quick.contenders, &spec.contenders)?;
    compete("quick.contenders", std::slice::from_ref(&spec.reference), &spec.quick.contenders)
}

fn compete(
    field: &'static str,
    named: &[Contender],
    contenders: &[Contender],
) -> Result<(), SpecError> {
    match named.iter().find(|contender| !contenders.contains(contender)) {
        None => Ok(()),
        Some(contender) => Err(SpecError::NotCompeting {
            field,
            contender: contender.clone(),
            contenders: contenders.iter().map(Contender::name).collect::<Vec<_>>().join(", "),
        }),
    }
}

fn check_figures(spec: &Spec) -> Result<(), SpecError> {
    for figure in &spec.figures {
        match figure {
            Figure::Servers { contender, .. } => {
                compete("figure.contender", std::slice::from_ref(contender), &spec.contenders)?;
            }
            Figure::SharePerAlpha => {
                if !matches!(spec.workload.keys, KeySpec::Zipf { ramp: Some(_), .. }) {
                    let allowed = "only with workload.keys.ramp";
                    return Err(refuse("figure.kind", "share_per_alpha", allowed));
                }
            }
            Figure::Bars { .. } | Figure::Scatter { .. } | Figure::Seconds { .. } => {}
        }
    }
    Ok(())
}

fn check_quick(quick: &Quick, spec: &Spec) -> Result<(), SpecError> {
    within("quick.repeats", quick.repeats, 1, 100, "1 to 100")?;
    within("quick.seconds", quick.seconds, 1, 3600, "1 to 3600")?;
    within("quick.contenders", quick.contenders.len(), 1, 64, "1 to 64 of them")?;
    check_events("quick.events", &quick.events, quick.seconds, spec.servers.count)
}
