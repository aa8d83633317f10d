//! Values in the shared data that nobody here wrote are refused, counted and replaced, and routing goes on.

use rudolph_core::agreement::arena;
use rudolph_core::wire::records;
use rudolph_mock_host::{Hostcall, Status};

use crate::common::watch::{Shared, directory_key};
use crate::common::{Gateway, Random, STRATEGIES, Setup};

const WORKERS: usize = 3;

/// The directory is looked at every 5 s, the poll and the epoch more often.
const ROUNDS_TO_REPLACE: usize = 60;

type Damage = fn(&[u8]) -> Vec<u8>;

fn damages() -> Vec<(&'static str, Damage)> {
    vec![
        ("one bit flipped", |bytes| {
            let mut bytes = bytes.to_vec();
            let last = bytes.len() - 1;
            bytes[last] ^= 0x40;
            bytes
        }),
        ("checksum torn", |bytes| {
            let mut bytes = bytes.to_vec();
            bytes[8] ^= 1;
            bytes
        }),
        ("cut in half", |bytes| bytes[..bytes.len() / 2].to_vec()),
        ("cut to one byte", |bytes| bytes[..1].to_vec()),
        ("empty", |_| Vec::new()),
        ("longer", |bytes| [bytes, b"more"].concat()),
        ("foreign", |_| {
            b"{\"owner\": \"another plugin\", \"text\": \"long enough to be read\"}".to_vec()
        }),
        ("older format", |bytes| {
            let mut bytes = bytes.to_vec();
            bytes[4] -= 1;
            bytes
        }),
        ("newer format", |bytes| {
            let mut bytes = bytes.to_vec();
            bytes[4] += 1;
            bytes
        }),
        ("another kind", |bytes| {
            let mut bytes = bytes.to_vec();
            bytes[5] = 99;
            bytes
        }),
    ]
}

/// Whether the value can be read again.
fn is_sound(key: &str, bytes: &[u8], config: u64) -> bool {
    let what = key
        .rsplit_once('/')
        .map_or(key, |(rest, last)| if rest.ends_with("slot") { "slot" } else { last });
    match what {
        "directory" => records::open_directory(bytes).is_ok(),
        "epoch" => records::open_epoch(config, bytes).is_ok(),
        "plan" => records::open_plan(config, bytes).is_ok(),
        "roster" => records::open_roster(config, bytes).is_ok(),
        "poll" => records::open_poll(config, bytes).is_ok(),
        "slot" => records::open_slot(config, bytes).is_ok(),
        other => panic!("a new kind of value {other}: teach the test to read it"),
    }
}

fn keys(gateway: &Gateway) -> Vec<String> {
    let text = |key: Vec<u8>| String::from_utf8(key).expect("keys are text");
    gateway.host.shared_data().keys().into_iter().map(text).collect()
}

/// Rounds until the value can be read again, all the while routing.
fn replaced_within(gateway: &mut Gateway, key: &str, context: &str) {
    let config = gateway.setup.config().digest;
    for _ in 0..ROUNDS_TO_REPLACE {
        gateway.tick_all();
        for worker in 0..WORKERS {
            let routed = gateway.request(worker, "k");
            assert_eq!(routed.owners.len(), 3, "{context}: {routed:?}");
        }
        let bytes = gateway.host.shared_data().get(key).unwrap();
        if is_sound(key, &bytes, config) {
            return;
        }
    }
    panic!("{context}: not replaced in {ROUNDS_TO_REPLACE} ticks");
}

fn every_key_heals(strategy: &str) {
    let mut gateway = Gateway::start(WORKERS, &Setup::admin().strategy(strategy));
    gateway.tick_rounds(20);
    let keys = keys(&gateway);
    assert!(keys.len() >= 5 + WORKERS, "{keys:?}");
    for key in &keys {
        for (name, damage) in damages() {
            let context = format!("{strategy}, {key}, {name}");
            let version = gateway.agreed_version();
            let refused = gateway.counter("shared_data.refused");
            let bytes = gateway.host.shared_data().get(key).unwrap();
            gateway.host.shared_data().put_raw(key, &damage(&bytes));
            gateway.watch.overlook(&gateway.host);
            replaced_within(&mut gateway, key, &context);
            gateway.tick_rounds(5);
            assert!(gateway.counter("shared_data.refused") > refused, "{context}: not counted");
            assert!(gateway.agreed_version() >= version, "{context}");
        }
    }
    gateway.tick_rounds(120);
    assert_eq!(gateway.shared().living(), WORKERS, "{strategy}: slots that nobody renews are free");
}

#[test]
fn every_damaged_value_is_refused_counted_and_replaced() {
    for strategy in ["spread", "rotation", "lpt"] {
        every_key_heals(strategy);
    }
}

#[test]
fn a_refused_value_is_counted_by_each_worker_once() {
    let mut gateway = Gateway::start(WORKERS, &Setup::servers(5).strategy("static"));
    // Nobody replaces it while nobody ticks but one who looks at it each time.
    let key = gateway.shared().key("plan");
    gateway.workers[0].fail_hostcalls(Hostcall::SetSharedData, Status::InternalFailure, 1000);
    gateway.host.shared_data().put_raw(key, b"foreign");
    gateway.watch.overlook(&gateway.host);
    for _ in 0..50 {
        gateway.advance_ms(100);
        gateway.tick(0);
    }
    assert_eq!(gateway.counter("shared_data.refused"), 1);
}

#[test]
fn an_older_plan_put_back_is_not_followed_and_is_replaced() {
    for strategy in STRATEGIES {
        let random = Random::of(0x01d);
        let mut gateway = Gateway::start(WORKERS, &Setup::servers(5).strategy(strategy));
        let shared = gateway.shared();
        let key = shared.key("plan");
        let old = gateway.host.shared_data().get(&key).unwrap();
        for _ in 0..50 {
            for _ in 0..60 {
                gateway.request(random.below(WORKERS), &random.key(100));
            }
            gateway.tick_all();
        }
        gateway.tick_rounds(3);
        let version = gateway.agreed_version();
        gateway.host.shared_data().put_raw(&key, &old);
        gateway.watch.overlook(&gateway.host);
        gateway.tick_rounds(20);
        assert!(gateway.agreed_version() >= version, "{strategy}");
        assert!(strategy == "static" || shared.plan().unwrap().version > version, "{strategy}");
    }
}

#[test]
fn all_shared_data_lost_at_once_comes_back() {
    for setup in [Setup::servers(5), Setup::admin().strategy("rotation")] {
        let mut gateway = Gateway::start(WORKERS, &setup);
        let version = gateway.agreed_version();
        gateway.host.shared_data().erase();
        gateway.tick_rounds(70);
        assert!(gateway.agreed_version() >= version);
        assert_eq!(gateway.shared().living(), WORKERS);
        assert_eq!(gateway.request(0, "k").owners.len(), 3);
    }
}

#[test]
fn another_configurations_values_are_left_alone() {
    let mut gateway = Gateway::start(2, &Setup::servers(5));
    let other = Setup::servers(7).strategy("rotation");
    gateway.setup = other.clone();
    gateway.add_worker();
    gateway.add_worker();
    gateway.tick_rounds(100);
    let first = Shared::of(&gateway.host, Setup::servers(5).config().digest);
    let second = Shared::of(&gateway.host, other.config().digest);
    assert_ne!(first.arena(), second.arena());
    assert_eq!((first.living(), second.living()), (2, 2));
    assert_eq!(first.plan().unwrap().members.len(), 5);
    assert_eq!(second.plan().unwrap().members.len(), 7);
    assert_eq!(gateway.counter("shared_data.refused"), 0);
    let keys = keys(&gateway);
    assert!(keys.iter().all(|key| key.starts_with("rudolph/1/")), "{keys:?}");
    assert!(keys.contains(&arena::key(1, "plan")) && keys.contains(&directory_key()));
}

#[test]
fn versions_of_the_store_may_wrap() {
    let mut gateway = Gateway::start(WORKERS, &Setup::servers(5));
    let version = gateway.agreed_version();
    gateway.host.shared_data().set_last_version(u32::MAX - 40);
    gateway.tick_rounds(100);
    assert!(gateway.agreed_version() >= version);
    assert_eq!(gateway.shared().living(), WORKERS);
    assert_eq!(gateway.shared().slots().len(), WORKERS);
}

#[test]
fn a_version_is_never_used_twice_though_its_plan_was_lost() {
    let mut gateway = Gateway::start(2, &Setup::admin());
    let key = gateway.shared().key("plan");
    let version = gateway.agreed_version();
    gateway.admin.endpoints.pop();
    // Worker 0 alone polls, plans and publishes.
    for _ in 0..50 {
        if gateway.shared().plan().unwrap().version > version {
            break;
        }
        gateway.advance_ms(50);
        gateway.tick(0);
    }
    gateway.host.shared_data().put_raw(key, b"torn");
    gateway.watch.overlook(&gateway.host);
    gateway.advance_ms(50);
    gateway.tick(1);
    gateway.tick_rounds(5);
    gateway.agreed_version();
}

#[test]
fn two_configurations_survive_a_broken_directory() {
    let (first, second) = (Setup::servers(5).strategy("pin"), Setup::servers(7).strategy("lpt"));
    for broken in [&b""[..], b"foreign", b"RDLF\x00 older, and long enough to be read"] {
        let mut gateway = Gateway::start(2, &first);
        gateway.setup = second.clone();
        gateway.add_worker();
        gateway.add_worker();
        gateway.tick_rounds(20);
        gateway.host.shared_data().put_raw(directory_key(), broken);
        for _ in 0..150 {
            gateway.tick_all();
            for worker in 0..4 {
                assert_eq!(gateway.request(worker, "k").owners.len(), 3, "worker {worker}");
            }
        }
        let versions = gateway.versions();
        assert!(versions[0] == versions[1] && versions[2] == versions[3], "{versions:?}");
        for setup in [&first, &second] {
            let shared = Shared::of(&gateway.host, setup.config().digest);
            assert_eq!((shared.living(), shared.slots().len()), (2, 2));
        }
    }
}
