//! Random configurations, sound and broken.

use serde_json::{Map, Value, json};

use super::Rng;

/// Mostly sound values, so that the one that is not decides.
pub fn random(rng: &mut Rng) -> Value {
    let json = if rng.chance(0.15) { status(rng) } else { route(rng) };
    if rng.chance(0.5) { broken(rng, json) } else { json }
}

fn status(rng: &mut Rng) -> Value {
    let fields: [Field; 3] = [
        ("title", |rng| pick(rng, &["Rudolph", "é", "a b", "<b>"])),
        ("refresh_ms", |rng| whole(rng, 250, 60_000)),
        ("hosts", |rng| (0..rng.below(18)).map(|_| header(rng)).collect()),
    ];
    let mut json = group(rng, &fields);
    json["mode"] = json!("status");
    json
}

fn route(rng: &mut Rng) -> Value {
    let mut json = json!({ "key": key(rng), "membership": membership(rng) });
    let fields: [Field; 13] = [
        ("mode", |_| json!("route")),
        ("clear_keys", boolean),
        ("strategy", |rng| pick(rng, &["spread", "pin", "rotation", "lpt", "static"])),
        ("hash_tag", boolean),
        ("owners", |rng| whole(rng, 1, 8)),
        ("upstream_header", header),
        (
            "debug_header",
            |rng| if rng.chance(0.3) { pick(rng, &["", "X-Key"]) } else { header(rng) },
        ),
        ("replicas", |rng| group(rng, &[("count", |r| whole(r, 1, 8)), ("header", header)])),
        ("stat_prefix", |rng| pick(rng, &["rudolph", "a.b_C9", "a", "A"])),
        ("tick_ms", |rng| whole(rng, 10, 1000)),
        ("epoch_ms", |rng| whole(rng, 10, 3_600_000)),
        ("pin", |rng| {
            group(rng, &[("keys", |r| whole(r, 1, 512)), ("tolerance", |r| number(r, 1.0, 2.0))])
        }),
        ("rotation", rotation),
    ];
    for (name, value) in fields {
        if rng.chance(0.25) {
            json[name] = value(rng);
        }
    }
    if rng.chance(0.25) {
        json["spread"] = spread(rng);
    }
    json
}

type Field = (&'static str, fn(&mut Rng) -> Value);

fn group(rng: &mut Rng, fields: &[Field]) -> Value {
    let mut map = Map::new();
    for (name, value) in fields {
        if rng.chance(0.5) {
            map.insert((*name).to_owned(), value(rng));
        }
    }
    Value::Object(map)
}

fn rotation(rng: &mut Rng) -> Value {
    group(rng, &[("candidates", |r| whole(r, 1, 256)), ("lambda", |r| number(r, 0.0, 1000.0))])
}

fn spread(rng: &mut Rng) -> Value {
    let fields: [Field; 10] = [
        ("hot_keys", boolean),
        ("proportional", boolean),
        ("least_in_flight", boolean),
        ("online", boolean),
        ("spill", boolean),
        ("learn_weights", boolean),
        ("hot_threshold", |r| number(r, 0.0001, 1.0)),
        ("share_per_copy", |r| number(r, 0.001, 1.0)),
        ("max_copies", |r| whole(r, 0, 5000)),
        ("miss_penalty_ms", |r| number(r, 0.0, 60_000.0)),
    ];
    group(rng, &fields)
}

fn boolean(rng: &mut Rng) -> Value {
    json!(rng.chance(0.5))
}

fn pick(rng: &mut Rng, words: &[&str]) -> Value {
    json!(words[rng.below(words.len())])
}

fn whole(rng: &mut Rng, least: u64, most: u64) -> Value {
    match rng.below(12) {
        0 | 1 => json!(least),
        2 | 3 => json!(most),
        4 => json!(most as f64),
        _ => json!(rng.between(least as usize, most as usize)),
    }
}

fn number(rng: &mut Rng, least: f64, most: f64) -> Value {
    match rng.below(4) {
        0 => json!(least),
        1 => json!(most),
        2 => json!(most as u64),
        _ => json!(least + rng.unit() * (most - least)),
    }
}

fn header(rng: &mut Rng) -> Value {
    pick(rng, &["x-key", "X-Key", "x-other", "A.b_9", "x-rudolph-upstream", "x-rudolph-debug"])
}

fn key(rng: &mut Rng) -> Value {
    let count = if rng.chance(0.05) { rng.below(20) } else { rng.between(1, 3) };
    (0..count).map(|_| key_source(rng)).collect()
}

fn key_source(rng: &mut Rng) -> Value {
    match rng.below(6) {
        0 => json!("path"),
        1 => json!("authority"),
        2 => json!({ "header": header(rng) }),
        3 => json!({ "cookie": plain_name(rng) }),
        4 => json!({ "query_parameter": plain_name(rng) }),
        _ => json!({ "path_segment": rng.between(1, 64) }),
    }
}

/// Now and then one character of all that a byte can be.
fn plain_name(rng: &mut Rng) -> Value {
    if rng.chance(0.1) {
        return json!(char::from(rng.below(256) as u8).to_string());
    }
    pick(rng, &["session", "a~b", "!#$%'()*+", "user-id", "x:y/z[0]{1}|^`<>?@\\"])
}

fn membership(rng: &mut Rng) -> Value {
    if rng.chance(0.5) {
        let count = if rng.chance(0.05) { 0 } else { rng.between(1, 3) };
        let servers: Vec<Value> = (0..count).map(|_| server(rng)).collect();
        return json!({ "source": "static", "servers": servers });
    }
    let mut json = json!({
        "source": "envoy_admin",
        "cluster": cluster(rng),
        "admin_cluster": cluster(rng),
    });
    if rng.chance(0.3) {
        json["poll_interval_ms"] = whole(rng, 100, 600_000);
    }
    json
}

fn cluster(rng: &mut Rng) -> Value {
    match rng.below(10) {
        0 => json!("é".repeat(rng.between(120, 260))),
        1 => json!("a".repeat(rng.between(254, 258))),
        _ => pick(rng, &["app", "outbound|80||app.shop.svc.cluster.local", "a b"]),
    }
}

fn server(rng: &mut Rng) -> Value {
    const ADDRESSES: [&str; 16] = [
        "1.2.3.4:5",
        "1.2.3.4:0005",
        "255.255.255.255:65535",
        "[::1]:80",
        "[0:0::1]:80",
        "[2001:db8::7]:80",
        "[::ffff:1.2.3.4]:80",
        "[fe80::1%3]:80",
        "[::1::]:80",
        "[12345::]:80",
        "1.2.3.4:0",
        "1.2.3.4:65536",
        "256.2.3.4:80",
        "01.2.3.4:80",
        "localhost:80",
        "[1.2.3.4]:80",
    ];
    // The first half is sound.
    let most = if rng.chance(0.1) { ADDRESSES.len() } else { 8 };
    let mut json = json!({ "address": ADDRESSES[rng.below(most)] });
    if rng.chance(0.4) {
        json["weight"] = whole(rng, 1, 1_000_000);
    }
    json
}

/// With one field replaced, removed or added somewhere.
fn broken(rng: &mut Rng, mut json: Value) -> Value {
    let mut paths = vec![String::new()];
    collect(&json, String::new(), &mut paths);
    let path = paths[rng.below(paths.len())].clone();
    let at = json.pointer_mut(&path).unwrap();
    match (rng.below(4), &mut *at) {
        (0, Value::Object(map)) => {
            let name = map.keys().nth(rng.below(map.len().max(1))).cloned();
            map.remove(&name.unwrap_or_default());
        }
        (1, Value::Object(map)) => {
            let name = [
                "unknown",
                "cluster",
                "servers",
                "poll_interval_ms",
                "weight",
                "header",
                "title",
                "mode",
            ];
            map.insert(name[rng.below(name.len())].to_owned(), junk(rng));
        }
        (2, Value::Array(list)) if !list.is_empty() => list.push(list[0].clone()),
        _ => *at = junk(rng),
    }
    json
}

fn collect(json: &Value, path: String, into: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match json {
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        _ => Vec::new(),
    };
    for (name, value) in children {
        let path = format!("{path}/{name}");
        into.push(path.clone());
        collect(value, path, into);
    }
}

fn junk(rng: &mut Rng) -> Value {
    let numbers = [-1.0, 0.0, 0.000_01, 0.5, 1.000_01, 2.000_01, 1e9, 1e300];
    let wholes = [-1, 0, 1, 9, 65, 99, 257, 513, 1001, 5001, 600_001, 1_000_001, 3_600_001];
    match rng.below(9) {
        0 => Value::Null,
        1 => json!([]),
        2 => json!({}),
        3 => boolean(rng),
        4 => json!(numbers[rng.below(numbers.len())]),
        5 | 6 => json!(wholes[rng.below(wholes.len())]),
        7 => json!("a".repeat([63, 64, 65, 255, 256, 257][rng.below(6)])),
        _ => pick(
            rng,
            &[
                "", "path", "static", "spread", "status", "a b", "a\nb", "a-b", "é", "a;b", "5",
                "x\n",
            ],
        ),
    }
}
