//! A new configuration in a running VM: a second root context, and later the first one goes.

use crate::common::watch::Shared;
use crate::common::{Gateway, STRATEGIES, Setup};

/// Gives every worker a new configuration while the old root still serves its last requests.
fn reconfigure(gateway: &mut Gateway, setup: &Setup) -> Vec<u32> {
    let json = setup.json();
    gateway.setup = setup.clone();
    let add = |worker: &mut rudolph_mock_host::Worker| {
        let old = worker.root();
        worker.add_root(&json).expect("the configuration is taken");
        old
    };
    gateway.workers.iter_mut().map(add).collect()
}

fn remove(gateway: &mut Gateway, roots: &[u32]) {
    for (worker, root) in gateway.workers.iter_mut().zip(roots) {
        worker.remove_root(*root).expect("the old root goes");
    }
}

#[test]
fn requests_go_on_and_versions_do_not_go_back() {
    for (from, to) in STRATEGIES.into_iter().zip(["rotation", "spread", "pin", "static", "lpt"]) {
        let mut gateway = Gateway::start(3, &Setup::servers(5).strategy(from));
        gateway.tick_rounds(30);
        let version = gateway.agreed_version();
        let under_way: Vec<_> = (0..20).map(|i| gateway.open(1, &format!("k{i}"))).collect();
        let old = reconfigure(&mut gateway, &Setup::servers(8).strategy(to));
        for _ in 0..10 {
            gateway.tick_all();
            for (worker, root) in old.iter().enumerate() {
                gateway.workers[worker].tick_root(*root).unwrap();
            }
        }
        assert!(gateway.agreed_version() > version, "{from} to {to}");
        remove(&mut gateway, &old);
        under_way.into_iter().for_each(|stream| gateway.finish(1, stream));
        gateway.tick_rounds(10);
        assert_eq!(gateway.request(2, "k").owners.len(), 3);
        assert_eq!(gateway.shared().plan().unwrap().members.len(), 8);
        assert_eq!(gateway.shared().living(), 3);
    }
}

#[test]
fn the_new_root_has_a_plan_after_its_first_ticks() {
    for strategy in STRATEGIES {
        let mut gateway = Gateway::start(2, &Setup::servers(5).strategy(strategy));
        reconfigure(&mut gateway, &Setup::servers(6).strategy(strategy));
        // With one owner a key the first plan too waits for its time.
        gateway.tick_rounds(if strategy == "spread" { 1 } else { 3 });
        assert_eq!(gateway.request(1, "k").owners.len(), 3, "{strategy}");
    }
}

#[test]
fn the_old_root_releases_its_slot() {
    let before = Setup::servers(5);
    let mut gateway = Gateway::start(3, &before);
    let old = reconfigure(&mut gateway, &Setup::servers(6));
    gateway.tick_rounds(3);
    remove(&mut gateway, &old);
    let slots = Shared::of(&gateway.host, before.config().digest);
    assert_eq!(slots.living(), 0);
}

/// Reloads with ever new configurations, `pause` rounds apart; the most keys and bytes there were.
fn reloads(times: usize, pause: usize, reach: fn(usize) -> Setup) -> (usize, usize) {
    let mut gateway = Gateway::start(2, &Setup::servers(5));
    let mut most = (0, 0);
    for i in 0..times {
        let version = gateway.agreed_version();
        let old = reconfigure(&mut gateway, &reach(i));
        gateway.tick_rounds(pause);
        remove(&mut gateway, &old);
        assert_eq!(gateway.request(0, "k").owners.len(), 3, "reload {i}");
        assert!(gateway.agreed_version() > version, "reload {i}");
        let data = gateway.host.shared_data();
        most = (most.0.max(data.keys().len()), most.1.max(data.total_bytes()));
    }
    let memory = gateway.workers[0].memory_bytes();
    assert!(memory < 8 << 20, "{memory} bytes after {times} reloads");
    most
}

fn numbered_by_admin(i: usize) -> Setup {
    Setup::admin().with("stat_prefix", &format!("\"reload_{i}\""))
}

fn numbered(i: usize) -> Setup {
    Setup::servers(3 + i % 5).with("stat_prefix", &format!("\"reload_{i}\""))
}

#[test]
fn two_hundred_reloads_leave_a_bounded_store() {
    let (keys, bytes) = reloads(200, 50, numbered);
    // 64 arenas of an epoch, a plan and two slots, and the directory.
    assert!(keys <= 64 * 4 + 1, "{keys} keys");
    assert!(bytes <= 1 << 20, "{bytes} bytes");
}

#[test]
fn two_hundred_reloads_in_a_hurry_still_agree() {
    let (keys, bytes) = reloads(200, 5, numbered);
    assert!(keys <= 64 * 4 + 1, "{keys} keys");
    assert!(bytes <= 1 << 20, "{bytes} bytes");
}

#[test]
fn eighty_reloads_by_admin_in_two_minutes_leave_nobody_without_a_plan() {
    reloads(80, 15, numbered_by_admin);
}
