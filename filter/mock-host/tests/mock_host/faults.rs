use rudolph_mock_host::{Callback, Hostcall, Status, TrapReason, WorkerError};

use crate::support::{PLAIN, notes, solo};

const THREE_WRITES: &str = r#"
(data (i32.const 256) "abc")
(func $write (param $key i32)
  (call $note (call $set_shared (local.get $key) (i32.const 1) (i32.const 256) (i32.const 1) (i32.const 0))))
(func (export "proxy_on_tick") (param i32)
  (call $write (i32.const 256))
  (call $write (i32.const 257))
  (call $write (i32.const 258))
  (call $publish))
"#;

#[test]
fn a_worker_can_die_between_any_two_host_calls() {
    for n in 1..=4 {
        let (host, mut worker) = solo(THREE_WRITES);
        worker.trap_after_hostcalls(n);
        let trapped =
            WorkerError::Trapped { callback: Callback::Tick, reason: TrapReason::Injected };
        assert_eq!(worker.tick(), Err(trapped));
        let written = host.shared_data().keys().len() as u64;
        assert_eq!(
            written,
            n - 1,
            "what came before the trap stays, the trapped call does nothing"
        );
        assert_eq!(worker.trap(), Some(&TrapReason::Injected));
    }
}

#[test]
fn the_count_goes_on_over_callbacks_and_can_be_taken_back() {
    let (_host, mut worker) = solo(THREE_WRITES);
    worker.trap_after_hostcalls(6);
    worker.tick().unwrap();
    assert!(worker.tick().is_err());
    worker.reload().unwrap();
    worker.tick().unwrap();
    worker.trap_after_hostcalls(1);
    worker.trap_after_hostcalls(0);
    worker.tick().unwrap();
}

#[test]
fn a_trapped_worker_refuses_everything_until_reloaded() {
    let (host, mut worker) = solo(THREE_WRITES);
    let stream = worker.request(&PLAIN).unwrap();
    worker.trap_after_hostcalls(1);
    worker.tick().unwrap_err();
    assert_eq!(worker.tick(), Err(WorkerError::WorkerTrapped));
    assert_eq!(worker.request(&PLAIN).unwrap_err(), WorkerError::WorkerTrapped);
    assert_eq!(worker.fail_http_call(4), Err(WorkerError::WorkerTrapped));
    assert_eq!(worker.add_root("new"), Err(WorkerError::WorkerTrapped));
    assert_eq!(host.live_workers(), 1);

    worker.reload().unwrap();
    assert_eq!(worker.trap(), None);
    worker.finish(stream).unwrap();
    assert_eq!(worker.last().runs, 0, "a stream of the old VM ends without a call");
    worker.tick().unwrap();
    assert_eq!(notes(&host), [0, 0, 0], "the fresh VM has none of the old one's memory");
}

#[test]
fn chosen_host_calls_can_refuse() {
    let (host, mut worker) = solo(THREE_WRITES);
    worker.fail_hostcalls(Hostcall::SetSharedData, Status::InternalFailure, 2);
    worker.tick().unwrap();
    assert_eq!(notes(&host), [10, 10, 0]);
    assert_eq!(host.shared_data().keys(), [b"c".to_vec(), b"out".to_vec()]);
    assert_eq!(worker.hostcalls().get(Hostcall::SetSharedData), 4, "refused calls count");
}

#[test]
fn an_endless_loop_becomes_a_trap() {
    let (_host, mut worker) =
        solo(r#"(func (export "proxy_on_tick") (param i32) (loop $again (br $again)))"#);
    worker.set_fuel_limit(100_000);
    let trapped = WorkerError::Trapped { callback: Callback::Tick, reason: TrapReason::OutOfFuel };
    assert_eq!(worker.tick(), Err(trapped));
    assert!(worker.last().fuel >= 100_000);
}

#[test]
fn a_panic_of_the_module_is_a_trap_with_a_reason() {
    let (_host, mut worker) = solo(r#"(func (export "proxy_on_tick") (param i32) unreachable)"#);
    let error = worker.tick().unwrap_err().to_string();
    assert_eq!(error, "trap in proxy_on_tick: wasm trap: wasm `unreachable` instruction executed");
}

#[test]
fn a_trap_in_a_request_leaves_its_headers_half_changed() {
    let (_host, mut worker) = solo(
        r#"(data (i32.const 256) "x-a x-b")
        (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
          (drop (call $remove_header (i32.const 0) (i32.const 256) (i32.const 3)))
          (drop (call $remove_header (i32.const 0) (i32.const 260) (i32.const 3)))
          (i32.const 0))"#,
    );
    worker.trap_after_hostcalls(2);
    worker.request(&[("x-a", "1"), ("x-b", "2")]).unwrap_err();
    let left = worker.headers_at_trap().unwrap();
    assert_eq!((left.get("x-a"), left.get("x-b")), (None, Some(b"2".as_slice())));
}
