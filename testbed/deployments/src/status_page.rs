//! What the status page behind a gateway says.

use std::net::SocketAddr;

use serde_json::Value;

use crate::{Failure, get};

/// How many servers it shows; 0 while it has nothing to show.
pub async fn servers_shown(page: SocketAddr) -> Result<usize, Failure> {
    let body = get(page, "/status.json").await?;
    let status: Value =
        serde_json::from_str(&body).map_err(|error| Failure::unreadable("/status.json", error))?;
    let servers = status.pointer("/filter/servers").and_then(Value::as_array);
    Ok(servers.map_or(0, Vec::len))
}
