//! What a user of the gateway relies on.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use rudolph_deployments::{Answers, Failure, Gateway, eventually, get, numbered_keys};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::processes::Witness;

const KEYS: usize = 1000;
const PATIENCE: Duration = Duration::from_secs(60);

/// The filter's own counters, as the admin interface tells them, without what a text holds before `rudolph.`.
pub(crate) async fn counters(admin: SocketAddr) -> Result<BTreeMap<String, u64>, Failure> {
    let text = get(admin, "/stats?filter=wasmcustom").await?;
    let line = |line: &str| {
        let (name, value) = line.split_once(": ")?;
        Some((name.split_once("rudolph.")?.1.to_owned(), value.parse().ok()?))
    };
    Ok(text.lines().filter_map(line).collect())
}

fn value(of: &BTreeMap<String, u64>, name: &str) -> u64 {
    of.get(name).copied().unwrap_or_default()
}

/// Until the filter has made a plan of so many servers.
pub(crate) async fn plans_with(admin: SocketAddr, servers: usize) -> Result<String, Failure> {
    let attempt = async || {
        let found = value(&counters(admin).await?, "servers");
        Failure::unless(found == servers as u64, "servers in the plan", servers, found)
    };
    eventually(PATIENCE, attempt).await?;
    Ok(format!("{servers} servers"))
}

/// The gauge of servers tells of the first worker that has the plan. The others have it a tick later; until then they
/// leave the choice to the fallback policy. So many connections meet each of them.
pub(crate) async fn every_worker_plans_with(
    gateway: Gateway,
    admin: SocketAddr,
    servers: usize,
) -> Result<String, Failure> {
    const CONNECTIONS: u64 = 32;
    plans_with(admin, servers).await?;
    let attempt = async || {
        let before = counters(admin).await?;
        for key in numbered_keys("first", CONNECTIONS as usize) {
            gateway.get(&key).await?;
        }
        let counted = async || {
            let after = counters(admin).await?;
            let rise = |names: &[&str]| -> u64 {
                names.iter().map(|name| value(&after, name) - value(&before, name)).sum()
            };
            let without = rise(&["requests.no_plan", "requests.no_server"]);
            let seen = without + rise(&["requests.owner", "requests.spread", "requests.spilled"]);
            Failure::unless(seen >= CONNECTIONS, "requests counted", CONNECTIONS, seen)?;
            Ok(without)
        };
        let without = eventually(PATIENCE, counted).await?;
        Failure::unless(without == 0, "requests to workers without a plan", 0, without)
    };
    eventually(PATIENCE, attempt).await?;
    Ok(format!("{servers} servers"))
}

/// Each key meets one server, every server has keys, and it was the filter who chose.
pub(crate) async fn keeps_keys(
    gateway: Gateway,
    admin: SocketAddr,
    servers: usize,
) -> Result<Answers, Failure> {
    let keys = numbered_keys("cart", KEYS);
    let before = counters(admin).await?;
    let first = gateway.servers_of(&keys).await?;
    let second = gateway.servers_of(&keys).await?;
    let moved = first.moved_in(&second);
    let found = moved.join(", ");
    Failure::unless(moved.is_empty(), "keys that met another server", "none", found)?;
    let met = first.servers().len();
    Failure::unless(met == servers, "servers that have keys", servers, met)?;
    // Workers publish what they counted with their next tick.
    let counted = async || {
        let after = counters(admin).await?;
        let rise = |name: &str| value(&after, name) - value(&before, name);
        let by_filter = rise("requests.owner") + rise("requests.spread");
        let all = 2 * KEYS as u64;
        Failure::unless(by_filter >= all, "requests that the filter routed", all, by_filter)?;
        Ok(rise("requests.fallback") + rise("requests.no_plan") + rise("requests.no_server"))
    };
    let strays = eventually(PATIENCE, counted).await?;
    Failure::unless(strays == 0, "requests that the fallback policy routed", 0, strays)?;
    Ok(first)
}

/// A client that names a server itself is sent where its key belongs all the same.
pub(crate) async fn ignores_clients(
    gateway: SocketAddr,
    homes: &Answers,
) -> Result<String, Failure> {
    let servers: Vec<String> = homes.servers().into_iter().map(str::to_owned).collect();
    let mut tried = 0;
    for key in numbered_keys("cart", 60) {
        let Some(home) = homes.server_of(&key) else { continue };
        for named in servers.iter().filter(|server| server.as_str() != home) {
            let headers = format!("x-key: {key}\r\nx-rudolph-upstream: {named}");
            let met = ask(gateway, &format!("/kv/{key}"), &headers).await?;
            Failure::unless(met == home, format!("{key}, whose client wants {named}"), home, met)?;
            tried += 1;
        }
    }
    // Without a key the filter has nothing to say, and the client's word counts as little.
    let mut met = Vec::new();
    for named in servers.iter().cycle().take(40) {
        let headers = format!("x-rudolph-upstream: {named}");
        met.push((ask(gateway, "/kv/none", &headers).await?, named.clone()));
    }
    let obeyed = met.iter().filter(|(server, named)| server == named).count();
    Failure::unless(
        obeyed < met.len(),
        "requests without a key that the client led",
        "not all",
        obeyed,
    )?;
    Ok(format!("{tried} requests with a key, {} without", met.len()))
}

/// Who answered a request with these headers.
async fn ask(gateway: SocketAddr, path: &str, headers: &str) -> Result<String, Failure> {
    let broken = |error: std::io::Error| Failure::unreadable(format!("{gateway}{path}"), error);
    let mut stream = TcpStream::connect(gateway).await.map_err(broken)?;
    let head =
        format!("GET {path} HTTP/1.1\r\nhost: {gateway}\r\nconnection: close\r\n{headers}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.map_err(broken)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.map_err(broken)?;
    let text = String::from_utf8_lossy(&answer);
    let server = text.lines().find_map(|line| line.strip_prefix("x-server: "));
    server.map(|server| server.trim().to_owned()).ok_or_else(|| {
        let line = text.lines().next().unwrap_or_default().to_owned();
        Failure::unmet(format!("{gateway}{path}"), "an answer of a server", line)
    })
}

/// Servers never see where the filter sent a request.
pub(crate) fn hides_the_header(witness: &Witness) -> Result<String, Failure> {
    let (requests, leaks) = witness.seen();
    Failure::unless(requests >= 50, "requests that the witness got", "50 or more", requests)?;
    Failure::unless(leaks == 0, "requests with x-rudolph-* at a server", 0, leaks)?;
    Ok(format!("{requests} requests seen"))
}

/// After a server's death only its keys have other homes.
pub(crate) async fn moves_only(
    gateway: Gateway,
    homes: &Answers,
    dead: SocketAddr,
) -> Result<String, Failure> {
    let now = gateway.servers_of(&numbered_keys("cart", KEYS)).await?;
    let dead = dead.to_string();
    let moved = homes.moved_in(&now);
    let strays: Vec<&str> =
        moved.iter().copied().filter(|key| homes.server_of(key) != Some(&dead)).collect();
    Failure::unless(
        strays.is_empty(),
        "keys of other servers that moved",
        "none",
        strays.join(", "),
    )?;
    let left = now.counts().get(dead.as_str()).copied().unwrap_or_default();
    Failure::unless(left == 0, "keys that met the dead server", 0, left)?;
    Ok(format!("{} of {KEYS} keys moved", moved.len()))
}
