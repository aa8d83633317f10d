//! Servers die, stop, return and multiply under clients whose gateways disagree; what clients saw must be what one
//! register a key could have answered.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod support;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use rudolph_replicated_store::client::Client;
use rudolph_workload::SplitMix64;
use rustix::process::Signal;
use support::history::History;
use support::views::{View, views};
use support::{Store, stores};

const SEED: u64 = 0x5e7;
const CLIENTS: u64 = 6;
const KEYS: u64 = 12;

/// What the clients believe: the servers, and what gateways may name.
type Shared = Arc<RwLock<(Vec<SocketAddr>, Vec<View>)>>;

fn seed() -> u64 {
    std::env::var("RUDOLPH_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(SEED)
}

/// Each request goes to any server, with or without the list of any view.
fn one_client(seed: u64, number: u64, shared: &Shared, history: &History, stop: &AtomicBool) {
    let mut random = SplitMix64::for_purpose(seed, number);
    let mut client = Client::new(([127, 0, 0, 1], 1).into());
    while !stop.load(Ordering::Relaxed) {
        let key = format!("key-{}", random.next_below(KEYS));
        let list = {
            let shared = shared.read().unwrap();
            let (servers, views) = &*shared;
            client.turn_to(servers[random.next_below(servers.len() as u64) as usize]);
            let view = random.next_below(2 * views.len() as u64) as usize;
            views.get(view).map(|view| view.list(&key))
        };
        let done = if random.next_below(2) == 0 {
            history.read(&key, || client.get(&key, list.as_deref()))
        } else {
            history.write(&key, |value| client.put(&key, list.as_deref(), value.as_bytes()))
        };
        // A dead server refuses at once: the others should have their turn too.
        std::thread::sleep(Duration::from_millis(if done { 1 } else { 5 }));
    }
}

fn share(store: &Store, shared: &Shared) {
    let servers = store.addresses();
    let views = views(&servers);
    *shared.write().unwrap() = (servers, views);
}

fn under_clients(mut store: Store, faults: impl FnOnce(&mut Store, &Shared)) {
    let (seed, history) = (seed(), History::default());
    let (shared, stop) = (Shared::default(), AtomicBool::new(false));
    share(&store, &shared);
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (shared, history, stop) = (&shared, &history, &stop);
            scope.spawn(move || one_client(seed, number, shared, history, stop));
        }
        let faulted =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| faults(&mut store, &shared)));
        stop.store(true, Ordering::Relaxed);
        if let Err(panic) = faulted {
            std::panic::resume_unwind(panic);
        }
    });
    store.settle();
    for server in store.servers.values() {
        let mut client = Client::new(server.address);
        for key in 0..KEYS {
            let key = format!("key-{key}");
            assert!(history.read(&key, || client.get(&key, None)), "{key} at {}", server.address);
        }
    }
    let events = history.check(seed);
    assert!(events > 500, "seed {seed}: only {events} events");
    eprintln!("seed {seed}: {events} events");
}

fn rest() {
    std::thread::sleep(Duration::from_millis(300));
}

#[test]
fn one_dies_one_comes_and_the_dead_returns_with_old_data() {
    for redis in stores() {
        under_clients(Store::start(3, redis), |store, shared| {
            rest();
            store.kill(1);
            rest();
            store.settle();
            share(store, shared);
            rest();
            store.add();
            store.settle();
            share(store, shared);
            rest();
            store.restart(1);
            rest();
            store.settle();
            share(store, shared);
            store.kill(0);
            rest();
            store.settle();
            share(store, shared);
            rest();
        });
    }
}

#[test]
fn one_is_stopped_until_it_is_left_out_and_goes_on() {
    under_clients(Store::start(3, None), |store, shared| {
        rest();
        store.servers[&2].signal(Signal::STOP);
        std::thread::sleep(Duration::from_millis(2_600));
        // The gateways found out too.
        let servers = store.addresses()[..2].to_vec();
        *shared.write().unwrap() = (servers.clone(), vec![View::of(&servers)]);
        std::thread::sleep(Duration::from_millis(500));
        store.servers[&2].signal(Signal::CONT);
        share(store, shared);
        rest();
        store.settle();
        rest();
    });
}

fn put(server: SocketAddr, key: &str, list: Option<&str>, value: &str) {
    let answer = Client::new(server).put(key, list, value.as_bytes()).unwrap();
    assert_eq!(answer.status, 204, "{}", String::from_utf8_lossy(&answer.body));
}

fn get(server: SocketAddr, key: &str, list: Option<&str>) -> String {
    let answer = Client::new(server).get(key, list).unwrap();
    let body = String::from_utf8(answer.body).unwrap();
    assert_eq!(answer.status, 200, "{key}: {body}");
    body
}

#[test]
fn a_stopped_server_that_goes_on_does_not_answer_with_what_it_had() {
    let store = Store::start(3, None);
    let addresses = store.addresses();
    let all = View::of(&addresses);
    let key =
        (0..).map(|i| format!("k{i}")).find(|key| all.replicas(key)[0] == addresses[2].to_string());
    let key = key.unwrap();
    // Through the server itself: it knows that all have it, and would answer alone.
    put(addresses[2], &key, None, "old");
    store.servers[&2].signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(2_300));
    let others = View::of(&addresses[..2]);
    put(addresses[0], &key, Some(&others.list(&key)), "new");
    store.servers[&2].signal(Signal::CONT);
    // A gateway that never noticed still names it first.
    assert_eq!(get(addresses[2], &key, Some(&all.list(&key))), "new");
    assert_eq!(get(addresses[2], &key, None), "new");
    let doubts = store.servers[&2].status().unwrap()["doubts"].as_u64();
    assert!(doubts >= Some(1), "it never doubted");
}

#[test]
fn a_server_that_is_no_replica_serves_the_newest_value_from_its_cache() {
    let store = Store::start(3, None);
    let addresses = store.addresses();
    let view = View::of(&addresses);
    let key = "hot";
    let (list, owners) = (view.list(key), view.replicas(key));
    let extra = addresses.iter().find(|address| !owners.contains(&&*address.to_string()));
    let extra = *extra.unwrap();
    for value in ["one", "two", "three"] {
        put(owners[0].parse().unwrap(), key, Some(&list), value);
        for _ in 0..3 {
            assert_eq!(get(extra, key, Some(&list)), value);
        }
    }
    let status = store.servers.values().find(|server| server.address == extra).unwrap().status();
    let status = status.unwrap();
    // Each value was fetched once; it is a cache and holds no replica.
    assert_eq!((&status["forwarded"], &status["keys"]), (&3.into(), &0.into()), "{status}");
}

/// With three losses one after another, every key must have been brought to a new server after each.
#[test]
fn what_a_lost_server_had_is_brought_to_others() {
    for redis in stores() {
        let mut store = Store::start(5, redis);
        let keys: Vec<String> = (0..300).map(|i| format!("key-{i}")).collect();
        let mut client = Client::new(store.addresses()[0]);
        for (i, key) in keys.iter().enumerate() {
            assert_eq!(client.put(key, None, i.to_string().as_bytes()).unwrap().status, 204);
        }
        for lost in [0, 3, 1] {
            store.kill(lost);
            store.settle();
        }
        let total: u64 = store
            .servers
            .values()
            .map(|server| server.status().unwrap()["keys"].as_u64().unwrap())
            .sum();
        assert_eq!(total, 600, "two servers are left, and each has everything");
        for server in store.servers.values() {
            let mut client = Client::new(server.address);
            for (i, key) in keys.iter().enumerate() {
                let answer = client.get(key, None).unwrap();
                assert_eq!(
                    (answer.status, answer.body),
                    (200, i.to_string().into_bytes()),
                    "{key}"
                );
            }
            let status = server.status().unwrap();
            assert!(status["fetched"].as_u64() > Some(50), "{status}");
            assert_eq!(status["forwarded"], 0, "{status}");
        }
    }
}

#[test]
fn a_list_of_servers_that_are_gone_is_not_enough_to_lose_a_write() {
    let mut store = Store::start(3, None);
    let addresses = store.addresses();
    let key = "k";
    let view = View::of(&addresses);
    let list = view.list(key);
    let owners = view.replicas(key);
    put(addresses[0], key, Some(&list), "before");
    let number = addresses.iter().position(|address| address.to_string() == owners[0]).unwrap();
    store.kill(number);
    // No gateway has noticed yet: the list names the dead.
    let other = store.addresses()[0];
    put(other, key, Some(&list), "after");
    assert_eq!(get(other, key, Some(&list)), "after");
    let holders = store.servers.values().filter(|server| server.status().unwrap()["keys"] == 1);
    assert_eq!(holders.count(), 2, "a third server took the place of the dead one");
}
