//! The header that tells a server which servers should hold the key.

use rudolph_mock_host::{Callback, Hostcall, Stream};

use crate::common::gateway::Routed;
use crate::common::{Gateway, Setup};

const REPLICAS: &str = "x-rudolph-replicas";
const SPOOFED: &[u8] = b"10.6.6.6:666";

fn setup(strategy: &str) -> Setup {
    Setup::servers(5).strategy(strategy).with("replicas", r#"{"count":2}"#)
}

/// A request whose client wrote the header itself, twice.
fn spoof(gateway: &mut Gateway, key: Option<&[u8]>) -> Stream {
    let mut headers: Vec<(&str, &[u8])> = vec![(":method", b"GET"), (":path", b"/")];
    headers.extend([(REPLICAS, SPOOFED), ("X-Rudolph-Replicas", SPOOFED)]);
    headers.extend(key.map(|key| ("x-key", key)));
    gateway.workers[0].request(&headers).expect("a request does not trap")
}

fn replicas(stream: &Stream) -> Vec<String> {
    let values = stream.headers.get_all(REPLICAS);
    assert_eq!(values.len(), 1, "{values:?}");
    let text = String::from_utf8(values[0].to_vec()).expect("the filter writes text");
    text.split(',').map(str::to_owned).collect()
}

#[test]
fn a_cold_keys_replicas_are_its_first_owners() {
    for strategy in ["spread", "pin"] {
        let mut gateway = Gateway::start(1, &setup(strategy));
        for i in 0..300 {
            let stream = spoof(&mut gateway, Some(format!("key-{i}").as_bytes()));
            assert_eq!(replicas(&stream), Routed::of(&stream).owners[..2], "{strategy}");
            gateway.finish(0, stream);
        }
    }
}

#[test]
fn a_hot_keys_replicas_stay_while_its_servers_take_turns() {
    let mut gateway = Gateway::start(1, &setup("spread"));
    let first = spoof(&mut gateway, Some(b"hot"));
    let (home, expected) = (Routed::of(&first).owner().to_owned(), replicas(&first));
    assert_eq!(home, expected[0]);
    let mut elsewhere = 0;
    for _ in 0..200 {
        let stream = spoof(&mut gateway, Some(b"hot"));
        assert_eq!(replicas(&stream), expected);
        elsewhere += u32::from(!expected.contains(&Routed::of(&stream).owner().to_owned()));
    }
    assert!(elsewhere > 20, "{elsewhere} of 200 went beyond the replicas");
}

#[test]
fn a_clients_own_header_is_removed_where_there_is_no_key_or_no_plan() {
    let mut gateway = Gateway::start(1, &setup("spread"));
    assert_eq!(spoof(&mut gateway, None).headers.get(REPLICAS), None);
    let mut gateway = Gateway::cold(1, &setup("pin"));
    assert_eq!(spoof(&mut gateway, Some(b"k")).headers.get(REPLICAS), None);
}

#[test]
fn it_costs_one_host_call_if_asked_for_and_none_if_not() {
    for (setup, expected) in [(Setup::servers(5), 0), (setup("spread"), 1)] {
        let mut gateway = Gateway::start(1, &setup.without_debug());
        for key in [Some(&b"k"[..]), None] {
            let calls = |gateway: &Gateway| {
                let totals = gateway.workers[0].totals(Callback::RequestHeaders);
                let header = [Hostcall::ReplaceHeaderMapValue, Hostcall::RemoveHeaderMapValue];
                header.map(|call| totals.hostcalls.get(call)).iter().sum::<u64>()
            };
            let before = calls(&gateway);
            let stream = spoof(&mut gateway, key);
            gateway.finish(0, stream);
            assert_eq!(calls(&gateway) - before, 1 + expected, "{key:?}");
        }
    }
}

#[test]
fn a_header_that_is_not_asked_for_is_left_alone() {
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    let stream = spoof(&mut gateway, Some(b"k"));
    assert_eq!(stream.headers.get_all(REPLICAS).len(), 2);
}
