//! What the status page behind a gateway says.

use std::net::SocketAddr;

use rudolph_load_generator::encode_key;
use serde_json::Value;

use crate::{Failure, get};

/// All that the page shows.
pub async fn status_of(page: SocketAddr) -> Result<Value, Failure> {
    json_of(page, "/status.json").await
}

/// How many servers it shows; 0 while it has nothing to show.
pub async fn servers_shown(page: SocketAddr) -> Result<usize, Failure> {
    let status = status_of(page).await?;
    let servers = status.pointer("/filter/servers").and_then(Value::as_array);
    Ok(servers.map_or(0, Vec::len))
}

/// The servers of a key in their order, each with its role.
pub async fn owners_of(page: SocketAddr, key: &str) -> Result<Vec<(String, String)>, Failure> {
    let mut path = b"/explain?key=".to_vec();
    encode_key(key.as_bytes(), &mut path);
    let explanation = json_of(page, &String::from_utf8_lossy(&path)).await?;
    let text = |owner: &Value, field: &str| owner[field].as_str().unwrap_or_default().to_owned();
    let owners = explanation["owners"].as_array().into_iter().flatten();
    Ok(owners.map(|owner| (text(owner, "address"), text(owner, "role"))).collect())
}

async fn json_of(page: SocketAddr, path: &str) -> Result<Value, Failure> {
    let body = get(page, path).await?;
    serde_json::from_str(&body).map_err(|error| Failure::unreadable(path, error))
}
