//! Range placement in a plain Envoy: a route for each block of keys writes its server into a header, and the cluster
//! sends the request there. Keys are of one width, so a block of ten, a hundred, a thousand keys is a prefix of the path.

use std::net::SocketAddr;

use rudolph_workload::{Ranges, name_of};
use serde_json::{Value, json};

use crate::render::at;

/// What a route writes and the cluster reads; a client's own is replaced.
pub(crate) const HEADER: &str = "x-range-server";

/// So many names of twelve digits there are.
const NAMES: u64 = 1_000_000_000_000;

const ROUTES: &str = "/route_config/virtual_hosts/0/routes";

/// Puts the routes in place of the shipped ones.
pub(crate) fn place(manager: &mut Value, span: u64, servers: &[SocketAddr]) -> Result<(), String> {
    let ranges = Ranges::even(span.min(NAMES), servers.len());
    let routes = at(manager, ROUTES)?.as_array_mut().ok_or("routes: not a list")?;
    let shipped = std::mem::take(routes);
    for (prefix, part) in prefixes(&ranges) {
        let Some(server) = servers.get(part) else { continue };
        for route in &shipped {
            let mut route = route.clone();
            route["match"]["prefix"] = format!("/kv/{prefix}").into();
            route["request_headers_to_add"] = json!([{
                "header": { "key": HEADER, "value": server.to_string() },
                "append_action": "OVERWRITE_IF_EXISTS_OR_ADD",
            }]);
            routes.push(route);
        }
    }
    // Whatever is no key, and first a header that a client sent.
    for mut route in shipped {
        route["request_headers_to_remove"] = json!([HEADER]);
        routes.push(route);
    }
    Ok(())
}

/// Prefixes of keys with the part that they belong to, in the order in which they are to be tried: the last part, which
/// is open, takes what no other does.
fn prefixes(ranges: &Ranges) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (part, ends) in ranges.starts().windows(2).enumerate() {
        for (start, size) in blocks(ends[0], ends[1]) {
            let mut name = name_of(start);
            name.truncate(name.len() - size as usize);
            found.push((String::from_utf8_lossy(&name).into_owned(), part));
        }
    }
    found.push(("k".to_owned(), ranges.starts().len() - 1));
    found
}

/// `from..to` in as few blocks as possible that are each all numbers with the same leading digits: where it starts, and
/// how many digits are free.
fn blocks(from: u64, to: u64) -> Vec<(u64, u32)> {
    let mut blocks = Vec::new();
    let mut at = from;
    while at < to {
        let mut free = 0;
        while at.is_multiple_of(10_u64.pow(free + 1)) && at + 10_u64.pow(free + 1) <= to {
            free += 1;
        }
        blocks.push((at, free));
        at += 10_u64.pow(free);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use rudolph_workload::SplitMix64;

    use super::*;

    /// As Envoy does: the first prefix that fits.
    fn part_by_prefix(prefixes: &[(String, usize)], number: u64) -> Option<usize> {
        let name = String::from_utf8(name_of(number)).unwrap();
        prefixes.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, part)| *part)
    }

    #[test]
    fn prefixes_say_what_the_ranges_say() {
        const SEED: u64 = 23;
        let mut rng = SplitMix64::new(SEED);
        for _ in 0..200 {
            let span = 1 + rng.next_below(100_000);
            let ranges = Ranges::even(span, 1 + rng.next_below(20) as usize);
            let prefixes = prefixes(&ranges);
            for _ in 0..200 {
                let number = rng.next_below(2 * span);
                let found = part_by_prefix(&prefixes, number);
                assert_eq!(found, Some(ranges.part(number)), "seed {SEED}: {number} of {span}");
            }
            for start in ranges.starts() {
                assert_eq!(part_by_prefix(&prefixes, *start), Some(ranges.part(*start)));
            }
        }
    }

    #[test]
    fn even_tenths_are_a_prefix_each() {
        let prefixes = prefixes(&Ranges::even(1_000_000, 5));
        assert_eq!(prefixes[0], ("k0000000".to_owned(), 0));
        assert_eq!(prefixes.len(), 9, "two for each of four servers, and the last: {prefixes:?}");
    }
}
