//! A request's path: the owners list replaces whatever the client wrote, or the header goes.

use std::collections::BTreeSet;

use rudolph_mock_host::{Action, Callback, Hostcall, RequestOptions, Status, Stream};

use crate::common::admin::Endpoint;
use crate::common::gateway::{Routed, UPSTREAM};
use crate::common::{Gateway, Random, STRATEGIES, Setup, address};

const SPOOFED: &str = "10.6.6.6:666";

fn send(gateway: &mut Gateway, headers: &[(&str, &[u8])]) -> Stream {
    let stream = gateway.workers[0].request(headers).expect("a request does not trap");
    assert_eq!(stream.action, Action::Continue);
    assert_eq!(stream.local_response, None);
    stream
}

/// Sends a request whose client wrote the header itself, twice.
fn spoof(gateway: &mut Gateway, key: Option<&[u8]>) -> Stream {
    let mut headers: Vec<(&str, &[u8])> = vec![(":method", b"GET"), (":path", b"/")];
    headers.extend([(UPSTREAM, SPOOFED.as_bytes()), ("X-Rudolph-Upstream", SPOOFED.as_bytes())]);
    headers.extend(key.map(|key| ("x-key", key)));
    send(gateway, &headers)
}

#[test]
fn a_key_has_three_distinct_owners_among_the_members() {
    for strategy in STRATEGIES {
        let mut gateway = Gateway::start(1, &Setup::servers(5).strategy(strategy));
        let members: BTreeSet<String> = (0..5).map(address).collect();
        for i in 0..500 {
            let routed = gateway.request(0, &format!("key-{i}"));
            let owners: BTreeSet<String> = routed.owners.iter().cloned().collect();
            assert_eq!((routed.owners.len(), owners.len()), (3, 3), "{strategy}: {routed:?}");
            assert!(owners.is_subset(&members), "{strategy}: {routed:?}");
        }
    }
}

#[test]
fn the_owners_list_is_as_long_as_asked_or_as_there_are_servers() {
    for (servers, owners, length) in [(5, 1, 1), (5, 5, 5), (9, 8, 8), (2, 3, 2), (1, 3, 1)] {
        for strategy in STRATEGIES {
            let setup = Setup::servers(servers).strategy(strategy);
            let mut gateway = Gateway::start(1, &setup.with("owners", &owners.to_string()));
            let routed = gateway.request(0, "k");
            let distinct: BTreeSet<&String> = routed.owners.iter().collect();
            assert_eq!(distinct.len(), length, "{strategy}, {owners} of {servers}: {routed:?}");
        }
    }
}

/// Its key is read and its header written; where a key has one owner the clock tells which plan holds.
#[test]
fn a_request_costs_two_host_calls_and_the_clock_where_plans_switch_at_once() {
    for strategy in STRATEGIES {
        let setup = Setup::servers(5).strategy(strategy).without_debug();
        let mut gateway = Gateway::start(1, &setup);
        let before = gateway.workers[0].totals(Callback::RequestHeaders).hostcalls.total();
        let stream = gateway.open(0, "k");
        assert_eq!(Routed::of(&stream).owners.len(), 3);
        gateway.finish(0, stream);
        let calls = &gateway.workers[0].totals(Callback::RequestHeaders).hostcalls;
        let clock = calls.get(Hostcall::GetCurrentTimeNanoseconds);
        assert_eq!(clock, u64::from(strategy != "spread"), "{strategy}");
        assert_eq!(calls.total() - before - clock, 2, "{strategy}: {calls:?}");
    }
}

#[test]
fn a_clients_own_header_is_replaced() {
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    let stream = spoof(&mut gateway, Some(b"k"));
    let values = stream.headers.get_all(UPSTREAM);
    assert_eq!(values.len(), 1);
    assert!(!values[0].windows(SPOOFED.len()).any(|window| window == SPOOFED.as_bytes()));
}

#[test]
fn a_clients_own_header_is_removed_where_there_is_no_key_no_plan_or_no_server() {
    let removed = |gateway: &mut Gateway, key: Option<&[u8]>, reason: &str| {
        let stream = spoof(gateway, key);
        assert_eq!(stream.headers.get(UPSTREAM), None, "{reason}");
        assert_eq!(Routed::of(&stream).reason, reason);
        gateway.finish(0, stream);
        gateway.tick_all();
        assert_eq!(gateway.counter(&format!("requests.{reason}")), 1);
    };
    for strategy in STRATEGIES {
        let mut gateway = Gateway::start(1, &Setup::servers(5).strategy(strategy));
        removed(&mut gateway, None, "no_key");
        let mut gateway = Gateway::cold(1, &Setup::servers(5).strategy(strategy));
        removed(&mut gateway, Some(b"k"), "no_plan");
        let mut gateway = Gateway::cold(1, &Setup::admin().strategy(strategy));
        gateway.admin.endpoints.clear();
        gateway.tick_rounds(10);
        removed(&mut gateway, Some(b"k"), "no_server");
    }
}

#[test]
fn any_bytes_are_a_key() {
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    let long = vec![b'x'; 64 << 10];
    let keys: [&[u8]; 6] = [b"\xff\xfe\x00\x80", b" ", b"\0", &long, "\u{1f98c}".as_bytes(), b"{}"];
    for key in keys {
        let owners: Vec<Vec<String>> =
            (0..3).map(|_| Routed::of(&spoof(&mut gateway, Some(key))).owners).collect();
        assert_eq!(owners[0].len(), 3, "{:?}", key.escape_ascii().to_string());
        assert_eq!(owners[0], owners[1]);
    }
    let empty = spoof(&mut gateway, Some(b""));
    assert_eq!(Routed::of(&empty).reason, "no_key", "an empty value counts as absent");
}

#[test]
fn every_source_of_a_key_may_be_absent() {
    let sources = [
        r#"[{"header":"x-key"}]"#,
        r#"[{"cookie":"id"}]"#,
        r#"[{"query_parameter":"id"}]"#,
        r#"[{"path_segment":2}]"#,
        r#"["path"]"#,
        r#"["authority"]"#,
    ];
    for source in sources {
        let mut gateway = Gateway::start(1, &Setup::servers(5).key(source));
        let with: [(&str, &[u8]); 4] = [
            (":path", b"/a/42?id=42"),
            (":authority", b"42"),
            ("x-key", b"42"),
            ("cookie", b"a=b; id=42"),
        ];
        let routed = Routed::of(&send(&mut gateway, &with));
        assert_eq!(routed.owners.len(), 3, "{source}");
        if source != r#"["path"]"# {
            let mut by_header = Gateway::start(1, &Setup::servers(5));
            assert_eq!(by_header.request(0, "42").owners, routed.owners, "{source}");
        }
        let routed = Routed::of(&send(&mut gateway, &[("x-other", b"1")]));
        assert_eq!((routed.owners.len(), routed.reason.as_str()), (0, "no_key"), "{source}");
    }
}

#[test]
fn the_first_source_that_is_present_wins_and_hash_tags_hold_keys_together() {
    let setup = Setup::servers(5).key(r#"[{"header":"x-key"},"path"]"#).with("hash_tag", "true");
    let mut gateway = Gateway::start(1, &setup);
    let mut owner = |headers: &[(&str, &[u8])]| Routed::of(&send(&mut gateway, headers)).owners;
    let tagged = owner(&[("x-key", b"a{user-7}b"), (":path", b"/x")]);
    assert_eq!(tagged, owner(&[("x-key", b"{user-7}"), (":path", b"/y")]));
    assert_eq!(tagged, owner(&[(":path", b"/c/{user-7}/d")]));
}

#[test]
fn the_debug_header_is_there_only_if_asked_for() {
    let json = Setup::servers(5).without_debug().json();
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    let stream = send(&mut gateway, &[("x-key", b"k"), ("x-debug", b"plan=9999")]);
    let text = String::from_utf8_lossy(stream.headers.get("x-debug").unwrap()).into_owned();
    let parts: Vec<&str> = text.split(' ').map(|part| part.split('=').next().unwrap()).collect();
    assert_eq!(parts, ["bin", "plan", "reason"], "{text}");
    assert!(!text.contains("9999"));
    gateway.workers[0].add_root(json).unwrap();
    gateway.tick_rounds(10);
    let stream = send(&mut gateway, &[("x-key", b"k")]);
    assert_eq!(stream.headers.get("x-debug"), None);
}

#[test]
fn gateways_that_never_talk_agree() {
    let mut one = Gateway::start(1, &Setup::servers(20));
    let mut other = Gateway::start(3, &Setup::admin());
    other.admin.endpoints = (0..20).rev().map(|i| Endpoint::healthy(&address(i))).collect();
    other.tick_rounds(15);
    for i in 0..500 {
        let key = format!("key-{i}");
        assert_eq!(one.request(0, &key).owners, other.request(2, &key).owners, "{key}");
    }
}

#[test]
fn in_flight_counts_return_to_zero() {
    let random = Random::of(0x1f);
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    for _ in 0..50 {
        gateway.request(0, "hot");
    }
    let mut open = Vec::new();
    for _ in 0..2000 {
        if open.len() < 40 && random.below(2) == 0 {
            open.push(gateway.open(0, "hot"));
        } else if !open.is_empty() {
            let stream = open.swap_remove(random.below(open.len()));
            gateway.finish(0, stream);
        }
    }
    for stream in open {
        gateway.finish(0, stream);
    }
    // Each of the next goes to a server that has none in flight, so a count that was left over would show.
    let open: Vec<Stream> = (0..5).map(|_| gateway.open(0, "hot")).collect();
    let met: BTreeSet<String> =
        open.iter().map(|stream| Routed::of(stream).owner().to_owned()).collect();
    assert_eq!(met.len(), 5, "{met:?}");
}

#[test]
fn requests_that_another_server_answered_are_counted() {
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    let owners = gateway.request(0, "k").owners;
    let answered_by = [&owners[0], &owners[1], &owners[2], &SPOOFED.to_owned()];
    for server in answered_by {
        // The first request of a tick is always looked at.
        gateway.tick_all();
        let options =
            RequestOptions::default().with_property(&["upstream", "address"], server.as_bytes());
        let stream = gateway.workers[0].request_with(&[("x-key", "k")], &options).unwrap();
        gateway.finish(0, stream);
    }
    gateway.tick_all();
    assert_eq!(gateway.counter("retries_to_successor"), 2);
    assert_eq!(gateway.counter("requests.fallback"), 1);
    assert_eq!(gateway.counter("requests.owner"), 5);
}

#[test]
fn every_request_is_counted_under_one_outcome() {
    let random = Random::of(0x0c);
    let mut gateway = Gateway::cold(2, &Setup::admin());
    for round in 0..100 {
        for _ in 0..20 {
            let worker = random.below(2);
            gateway.request(worker, &random.key(50));
            gateway.request(worker, "");
        }
        gateway.tick_all();
        if round == 50 {
            gateway.admin.endpoints.clear();
        }
    }
    let outcomes = ["owner", "spread", "spilled", "no_key", "no_plan", "no_server"];
    let counts = outcomes.map(|outcome| gateway.counter(&format!("requests.{outcome}")));
    assert_eq!(counts.iter().sum::<u64>(), 4000, "{counts:?}");
    assert!(counts[0] > 0 && counts[3] == 2000 && counts[4] > 0 && counts[5] > 0, "{counts:?}");
}

#[test]
fn host_calls_that_fail_on_a_request_let_it_go_on() {
    use Status::{BadArgument, InternalFailure, InvalidMemoryAccess, NotFound, Unimplemented};
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    let calls = [
        Hostcall::GetHeaderMapValue,
        Hostcall::ReplaceHeaderMapValue,
        Hostcall::RemoveHeaderMapValue,
        Hostcall::GetProperty,
    ];
    for call in calls {
        for status in [NotFound, BadArgument, InternalFailure, InvalidMemoryAccess, Unimplemented] {
            gateway.workers[0].fail_hostcalls(call, status, 1);
            for key in [Some(&b"k"[..]), None] {
                let stream = spoof(&mut gateway, key);
                gateway.finish(0, stream);
            }
            gateway.workers[0].fail_hostcalls(call, status, 0);
            assert_eq!(gateway.request(0, "k").owners.len(), 3, "{call:?} {status:?}");
        }
    }
    gateway.tick_all();
    assert_eq!(gateway.counter("host_calls_failed"), 10);
}
