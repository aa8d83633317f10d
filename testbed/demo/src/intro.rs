//! What is said before the table: what was started, and where.

use rudolph_cluster::{Cluster, ServerSettings};

use crate::options::Options;
use crate::style::Style;

pub(crate) fn intro(
    options: &Options,
    workers: u32,
    settings: &ServerSettings,
    cluster: &Cluster,
) -> Vec<String> {
    let addresses = cluster.server_addresses();
    let ends = [addresses.first(), addresses.last()]
        .map(|end| end.map_or_else(String::new, ToString::to_string));
    let filter = match options.strategy.baseline() {
        None => format!("filter, strategy {}", options.strategy.name()),
        Some(policy) => format!("no filter, policy {policy}"),
    };
    let reshuffle = match options.reshuffle_seconds {
        0.0 => "never reshuffled".to_owned(),
        seconds => format!("reshuffled every {seconds} s"),
    };
    let mut lines = vec![
        format!("  servers  {}, {} to {}", addresses.len(), ends[0], ends[1]),
        format!(
            "           each {} slots, hits {} ms, misses {} ms, {} keys cached",
            settings.slots,
            settings.hit.as_millis(),
            settings.miss.as_millis(),
            settings.cache_entries,
        ),
        format!("  Envoy    http://{}, {workers} workers, {filter}", cluster.envoy_address()),
        format!("  admin    {}", cluster.admin_address()),
        format!("  config   {}", cluster.config_file().display()),
        format!(
            "  load     {} clients, {} keys, Zipf {}, {reshuffle}, seed {}",
            options.clients, options.keys, options.alpha, options.seed,
        ),
        format!(
            "  try      curl -i -H 'x-key: cart-17' http://{}/kv/cart-17",
            cluster.envoy_address()
        ),
        "  table    off home: requests that went to another server of their hot key".to_owned(),
    ];
    if let Some(address) = cluster.status_address() {
        lines.push(format!(
            "  look     http://{address}  the status page: shards, hot keys, and why"
        ));
    }
    lines.push(String::new());
    lines
}

pub(crate) fn heading(style: Style, options: &Options) -> String {
    let end = match options.seconds {
        0 => "Ctrl-C ends it".to_owned(),
        seconds => format!("{seconds} s"),
    };
    format!("{} {}", style.bold("Rudolph demo"), style.faint(&format!("({end})")))
}
