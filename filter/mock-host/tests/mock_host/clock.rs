use std::time::Duration;

use rudolph_mock_host::{Host, Worker};

use crate::support::{module, solo, start};

const TELL_TIME: &str = r#"
(func (export "proxy_on_tick") (param i32)
  (drop (call $time (i32.const 32)))
  (drop (call $set_shared (i32.const 8) (i32.const 3) (i32.const 32) (i32.const 8) (i32.const 0))))
"#;

fn told(host: &Host, worker: &mut Worker) -> u64 {
    worker.tick().unwrap();
    let bytes = host.shared_data().get("out").unwrap();
    u64::from_le_bytes(*bytes.first_chunk().unwrap())
}

#[test]
fn time_moves_only_when_told() {
    let (host, mut worker) = solo(TELL_TIME);
    assert_eq!(told(&host, &mut worker), 0);
    host.clock().set_nanos(1_700_000_000_000_000_000);
    assert_eq!(told(&host, &mut worker), 1_700_000_000_000_000_000);
    host.clock().advance(Duration::from_millis(3));
    assert_eq!(told(&host, &mut worker), 1_700_000_000_003_000_000);
    host.clock().set_nanos(5);
    assert_eq!(told(&host, &mut worker), 5, "the wall clock can go back");
}

#[test]
fn workers_can_disagree() {
    let module = module(TELL_TIME);
    let host = Host::new();
    host.clock().set_nanos(1_000_000);
    let (mut right, mut wrong) = (start(&module, &host), start(&module, &host));
    wrong.clock().jump_nanos(500);
    assert_eq!(told(&host, &mut right), 1_000_000);
    assert_eq!(told(&host, &mut wrong), 1_000_500);
    wrong.clock().jump_nanos(-2_000_000);
    assert_eq!(told(&host, &mut wrong), 0, "no time before the epoch");
}

#[test]
fn a_clock_can_drift() {
    let (host, mut worker) = solo(TELL_TIME);
    host.clock().set_nanos(1_000_000_000);
    worker.clock().set_drift_ppm(100);
    assert_eq!(told(&host, &mut worker), 1_000_000_000, "drift starts now");
    host.clock().advance(Duration::from_secs(10));
    assert_eq!(told(&host, &mut worker), 11_001_000_000);
    worker.clock().set_drift_ppm(-100);
    host.clock().advance(Duration::from_secs(10));
    assert_eq!(told(&host, &mut worker), 21_000_000_000, "what it gained it loses");
}

#[test]
fn a_frozen_clock_leaps_when_thawed_and_survives_reload() {
    let (host, mut worker) = solo(TELL_TIME);
    host.clock().set_nanos(1_000);
    worker.clock().freeze();
    host.clock().set_nanos(2_000);
    worker.reload().unwrap();
    assert_eq!(told(&host, &mut worker), 1_000);
    worker.clock().thaw();
    assert_eq!(told(&host, &mut worker), 2_000);
}
