//! Host calls that fail in a tick: no trap, and all is well again once they work.

use rudolph_mock_host::{Hostcall, Status};

use crate::common::{Gateway, Setup};

const CALLS: [Hostcall; 10] = [
    Hostcall::GetCurrentTimeNanoseconds,
    Hostcall::GetSharedData,
    Hostcall::SetSharedData,
    Hostcall::HttpCall,
    Hostcall::SetTickPeriodMilliseconds,
    Hostcall::DefineMetric,
    Hostcall::GetMetric,
    Hostcall::RecordMetric,
    Hostcall::IncrementMetric,
    Hostcall::Log,
];

const STATUSES: [Status; 10] = [
    Status::NotFound,
    Status::BadArgument,
    Status::SerializationFailure,
    Status::ParseFailure,
    Status::InvalidMemoryAccess,
    Status::Empty,
    Status::CasMismatch,
    Status::ResultMismatch,
    Status::InternalFailure,
    Status::Unimplemented,
];

/// A call fails so often in worker 1, while requests go on.
fn fails(gateway: &mut Gateway, call: Hostcall, status: Status, times: u64) {
    let context = format!("{call:?} {status:?} {times} times");
    gateway.workers[1].fail_hostcalls(call, status, times);
    for _ in 0..5 {
        gateway.tick_all();
        gateway.request(1, "k");
    }
    gateway.workers[1].fail_hostcalls(call, status, 0);
    // A poll that could not be sent is due again in a second.
    gateway.tick_rounds(12);
    gateway.agreed_version();
    assert_eq!(gateway.request(1, "k").owners.len(), 3, "{context}");
}

#[test]
fn every_host_call_may_fail_in_a_tick() {
    for strategy in ["spread", "rotation"] {
        let mut gateway = Gateway::start(3, &Setup::admin().strategy(strategy));
        for call in CALLS {
            for status in STATUSES {
                fails(&mut gateway, call, status, 2);
                // That a key is absent which is there would be no failure but a lie.
                if (call, status) != (Hostcall::GetSharedData, Status::NotFound) {
                    fails(&mut gateway, call, status, 1000);
                }
            }
        }
        gateway.tick_rounds(120);
        assert_eq!(gateway.shared().living(), 3, "{strategy}");
        assert!(gateway.shared().slots().len() < 16, "{strategy}");
    }
}

#[test]
fn every_host_call_may_fail_in_a_first_tick() {
    for strategy in ["spread", "rotation"] {
        for call in CALLS {
            for status in STATUSES {
                let mut gateway = Gateway::cold(2, &Setup::admin().strategy(strategy));
                fails(&mut gateway, call, status, 2);
            }
        }
    }
}

#[test]
fn while_the_store_fails_a_worker_keeps_its_plan_and_says_so_once() {
    let mut gateway = Gateway::start(2, &Setup::servers(5));
    let before = gateway.request(0, "k");
    gateway.host.log().take();
    let calls = u64::MAX;
    gateway.workers[0].fail_hostcalls(Hostcall::GetSharedData, Status::InternalFailure, calls);
    gateway.tick_rounds(200);
    assert_eq!(gateway.request(0, "k").owners, before.owners);
    assert!(gateway.counter("shared_data.failed") >= 190);
    gateway.workers[0].fail_hostcalls(Hostcall::GetSharedData, Status::InternalFailure, 0);
    gateway.tick_rounds(200);
    let lines: Vec<String> =
        gateway.host.log().take().into_iter().map(|line| line.message).collect();
    assert_eq!(lines.len(), 2, "one when it begins and one when it ends: {lines:?}");
    assert!(lines[0].contains("shared data fails") && lines[1].contains("works again"));
}

#[test]
fn without_a_store_a_static_list_still_routes() {
    // Every value is held by someone who never lets go.
    let mut gateway = Gateway::cold(1, &Setup::servers(5));
    let calls = u64::MAX;
    gateway.workers[0].fail_hostcalls(Hostcall::SetSharedData, Status::CasMismatch, calls);
    gateway.tick_rounds(10);
    assert_eq!(gateway.request(0, "k").owners.len(), 3);
    gateway.workers[0].fail_hostcalls(Hostcall::SetSharedData, Status::CasMismatch, 0);
    gateway.tick_rounds(10);
    gateway.add_worker();
    gateway.tick_rounds(10);
    gateway.agreed_version();
}
