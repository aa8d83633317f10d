//! Workers that come late, die, stall or leave.

use rudolph_mock_host::{Configuration, Hostcall, Status, WorkerError, try_configuration};

use crate::common::{Gateway, ONE_OWNER, Random, STRATEGIES, Setup, module};

/// Everything is in order: one version, a slot a worker, owners for every key.
fn all_well(gateway: &mut Gateway, context: &str) {
    gateway.tick_rounds(12);
    gateway.agreed_version();
    for worker in 0..gateway.workers.len() {
        let routed = gateway.request(worker, "k");
        assert_eq!(routed.owners.len(), 3, "{context}: {routed:?}");
    }
}

#[test]
fn a_late_worker_follows_the_plan_on_its_first_tick() {
    for strategy in STRATEGIES {
        let mut gateway = Gateway::start(3, &Setup::servers(5).strategy(strategy));
        gateway.tick_rounds(50);
        let version = gateway.agreed_version();
        gateway.add_worker();
        gateway.tick(3);
        assert_eq!(gateway.request(3, "k").plan, version, "{strategy}");
        assert_eq!(gateway.agreed_version(), version);
    }
}

#[test]
fn a_worker_that_comes_while_a_plan_waits_follows_the_one_in_force() {
    for strategy in ONE_OWNER.into_iter().filter(|strategy| *strategy != "static") {
        let random = Random::of(0x1a7e);
        let mut gateway = Gateway::start(2, &Setup::servers(5).strategy(strategy));
        let waits = |gateway: &Gateway| {
            gateway.shared().plan().is_some_and(|plan| plan.activate_at_ms > gateway.now_ms())
        };
        for _ in 0..100 {
            if waits(&gateway) {
                break;
            }
            for _ in 0..60 {
                gateway.request(random.below(2), &random.key(100));
            }
            gateway.tick_all();
        }
        assert!(waits(&gateway), "{strategy}: no plan ever waits");
        gateway.add_worker();
        gateway.tick(2);
        let versions = gateway.versions();
        assert_eq!(versions[2], versions[0], "{strategy}");
    }
}

#[test]
fn until_it_has_a_plan_a_worker_ticks_fast_and_then_as_configured() {
    let mut gateway = Gateway::cold(1, &Setup::servers(5).with("tick_ms", "250"));
    let period = |gateway: &Gateway| {
        let worker = &gateway.workers[0];
        worker.tick_period(worker.root()).unwrap().as_millis()
    };
    assert_eq!(period(&gateway), 20);
    gateway.tick(0);
    assert_eq!(period(&gateway), 250);
}

#[test]
fn a_tick_period_that_the_host_refuses_is_asked_for_again() {
    let mut gateway = Gateway::cold(1, &Setup::servers(5));
    gateway.workers[0].fail_hostcalls(
        Hostcall::SetTickPeriodMilliseconds,
        Status::InternalFailure,
        1,
    );
    gateway.tick_rounds(5);
    let worker = &gateway.workers[0];
    assert_eq!(worker.tick_period(worker.root()).unwrap().as_millis(), 100);
}

#[test]
fn the_throw_away_vm_leaves_no_trace() {
    let mut gateway = Gateway::cold(1, &Setup::servers(5));
    let configuration = Configuration::plugin(Setup::servers(5).json());
    try_configuration(module(), &gateway.host, &configuration).unwrap();
    assert_eq!(gateway.host.shared_data().keys(), Vec::<Vec<u8>>::new());
    gateway.tick_rounds(5);
    let bytes = gateway.host.shared_data().keys();
    try_configuration(module(), &gateway.host, &configuration).unwrap();
    assert_eq!(gateway.host.shared_data().keys(), bytes);
}

/// Kills worker 1 at its n-th host call from now, ticking it alone so that it claims and plans epochs.
/// `false`: it made fewer calls.
fn dies_at(gateway: &mut Gateway, n: u64) -> bool {
    gateway.advance_ms(2000);
    gateway.workers[1].trap_after_hostcalls(n);
    for _ in 0..5 {
        gateway.advance_ms(100);
        match gateway.try_tick(1) {
            Ok(()) => {}
            Err(WorkerError::Trapped { .. }) => return true,
            Err(other) => panic!("call {n}: {other}"),
        }
    }
    gateway.workers[1].trap_after_hostcalls(0);
    false
}

fn dies_anywhere(setup: &Setup, context: &str) {
    let random = Random::of(0xdead);
    let mut gateway = Gateway::start(3, setup);
    let mut n = 1;
    loop {
        for _ in 0..60 {
            gateway.request(random.below(3), &random.key(100));
        }
        let died = dies_at(&mut gateway, n);
        if died {
            gateway.tick_all_but(&[1]);
            gateway.reload(1);
        }
        all_well(&mut gateway, &format!("{context}, call {n}"));
        if !died {
            break;
        }
        n += 1;
    }
    assert!(n > 20, "{context}: only {n} host calls in five ticks");
    assert_eq!(gateway.counter("shared_data.refused"), 0, "{context}: nothing was torn");
    // The leases of the dead end.
    gateway.tick_rounds(130);
    assert_eq!(gateway.shared().living(), 3, "{context}");
    assert!(gateway.shared().slots().len() < 16, "{context}: slots of the dead are used again");
}

#[test]
fn a_worker_may_die_between_any_two_host_calls_of_its_ticks() {
    for strategy in STRATEGIES {
        dies_anywhere(&Setup::servers(5).strategy(strategy), strategy);
    }
    dies_anywhere(&Setup::admin(), "by admin");
    dies_anywhere(&Setup::admin().strategy("rotation"), "rotation by admin");
}

#[test]
fn a_worker_may_die_in_its_first_ticks() {
    for strategy in ["spread", "rotation"] {
        for n in 1..60 {
            let mut gateway = Gateway::cold(2, &Setup::admin().strategy(strategy));
            if dies_at(&mut gateway, n) {
                gateway.reload(1);
            }
            // The answer to a poll may have died with it: the next one is due in a second.
            gateway.tick_rounds(10);
            all_well(&mut gateway, &format!("{strategy}, call {n}"));
        }
    }
}

#[test]
fn a_stalled_worker_rejoins() {
    for strategy in STRATEGIES {
        for seconds in [3, 60] {
            let mut gateway = Gateway::start(3, &Setup::servers(5).strategy(strategy));
            let random = Random::of(seconds);
            for _ in 0..seconds * 10 {
                for _ in 0..20 {
                    gateway.request(random.below(2), &random.key(100));
                }
                gateway.tick_all_but(&[2]);
            }
            gateway.tick_rounds(3);
            gateway.agreed_version();
            all_well(&mut gateway, strategy);
            gateway.tick_rounds(30);
            assert_eq!(gateway.shared().living(), 3, "{strategy}, {seconds} s");
            assert_eq!(gateway.gauge("workers"), Some(3), "{strategy}, {seconds} s");
        }
    }
}

#[test]
fn a_worker_that_wakes_looks_for_the_plan_before_its_first_request() {
    for strategy in ONE_OWNER {
        let mut gateway = Gateway::start(3, &Setup::admin().strategy(strategy));
        gateway.admin.endpoints.remove(0);
        for _ in 0..30 {
            gateway.tick_all_but(&[2]);
        }
        for i in 0..50 {
            let key = format!("key-{i}");
            assert_eq!(gateway.request(2, &key), gateway.request(0, &key), "{strategy}");
        }
    }
}

#[test]
fn a_slot_whose_lease_ended_is_taken_over_and_its_old_holder_takes_another() {
    let mut gateway = Gateway::start(2, &Setup::servers(5));
    for _ in 0..600 {
        gateway.tick_all_but(&[1]);
    }
    assert_eq!(gateway.shared().living(), 1);
    gateway.add_worker();
    gateway.tick(2);
    assert_eq!(gateway.shared().slots().len(), 2, "the silent slot is used again");
    gateway.tick_rounds(3);
    assert_eq!(gateway.shared().slots().len(), 3);
    assert_eq!(gateway.shared().living(), 3);
    all_well(&mut gateway, "three slots");
}

#[test]
fn a_worker_that_ends_gives_its_slot_back() {
    let mut gateway = Gateway::start(2, &Setup::servers(5));
    for _ in 0..20 {
        gateway.workers.remove(1).shut_down().unwrap();
        assert_eq!(gateway.shared().living(), 1);
        gateway.add_worker();
        gateway.tick_all();
        assert_eq!((gateway.shared().living(), gateway.shared().slots().len()), (2, 2));
    }
}

#[test]
fn workers_that_die_one_after_the_other_leave_few_slots() {
    let mut gateway = Gateway::start(2, &Setup::servers(5));
    for _ in 0..100 {
        gateway.reload(1);
        gateway.tick_rounds(10);
    }
    assert!(gateway.shared().slots().len() <= 13, "a lease is 10 s and a life was 1 s");
    gateway.agreed_version();
}
