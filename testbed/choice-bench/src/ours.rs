//! Ours, from the core that ships.

use std::sync::Arc;

use rudolph_core::config::Config;
use rudolph_core::hash::KeyHash;
use rudolph_core::plan::Plan;
use rudolph_core::planner::merge::merge;
use rudolph_core::planner::{self, Request};
use rudolph_core::router::Router;
use rudolph_core::servers::{Address, Members, Server};
use rudolph_core::table::Table;

use crate::chooser::{ChooserError, address};

/// The key's bin and its home: what the others do.
pub(crate) fn table(servers: usize) -> Result<impl FnMut(&[u8]) -> u64, ChooserError> {
    let config = config()?;
    let table = Table::of(&plan(&config, servers)?, &config);
    Ok(move |key: &[u8]| u64::from(table.home(table.bin(KeyHash::of(key))).0))
}

/// All that the filter does for a request: it also counts the key, sees whether it is hot, weighs servers' loads, lists
/// owners for retries, and hears that the request is over.
pub(crate) fn whole(servers: usize) -> Result<impl FnMut(&[u8]) -> u64, ChooserError> {
    let config = config()?;
    let plan = plan(&config, servers)?;
    let table = Table::of(&plan, &config);
    let mut router = Router::new(config);
    router.adopt(Arc::new(plan), Arc::new(table));
    Ok(move |key: &[u8]| match router.route(KeyHash::of(key)) {
        Ok(route) => {
            let home = route.owners().first().copied().map_or(u64::MAX, u64::from);
            router.finish(route.server);
            home
        }
        Err(_) => u64::MAX,
    })
}

fn config() -> Result<Arc<Config>, ChooserError> {
    let text = r#"{"strategy": "spread", "key": ["path"],
        "membership": {"source": "static", "servers": [{"address": "127.0.0.1:1"}]}}"#;
    let config = Config::from_json(text.as_bytes());
    config.map(Arc::new).map_err(|error| ChooserError::Config(format!("{error:?}")))
}

fn plan(config: &Config, servers: usize) -> Result<Plan, ChooserError> {
    let failed = |reason: String| ChooserError::Plan { servers, reason };
    let server = |i| Address::parse(&address(i)).map(|address| Server { address, weight: 1 });
    let members: Option<Vec<Server>> = (0..servers).map(server).collect();
    let members = Members::new(members.ok_or_else(|| failed("an address is refused".to_owned()))?);
    let loads = merge(config, &members, 2, &[]);
    let request = Request {
        config,
        members: &members,
        previous: None,
        loads: &loads,
        epoch: 2,
        version: 2,
        now_ms: 0,
    };
    let mut table = |plan: &Plan| Arc::new(Table::of(plan, config));
    let planned = planner::plan(&request, &mut table);
    planned.map(|planned| planned.plan).map_err(|error| failed(format!("{error:?}")))
}
