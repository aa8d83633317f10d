use rudolph_mock_host::{Host, SharedData, Status, try_configuration};

use crate::support::{module, notes, solo, start};

#[test]
fn version_is_compared_only_if_present_and_not_zero() {
    let shared = SharedData::default();
    assert_eq!(shared.set(b"k", b"first", 77), Ok(()), "an absent key takes any version");
    let version = shared.get_versioned("k").unwrap().1;
    assert_eq!(shared.set(b"k", b"stale", version + 1), Err(Status::CasMismatch));
    assert_eq!(shared.get("k").unwrap(), b"first");
    assert_eq!(shared.set(b"k", b"second", version), Ok(()));
    assert_eq!(shared.set(b"k", b"stale", version), Err(Status::CasMismatch));
    assert_eq!(shared.set(b"k", b"blind", 0), Ok(()));
    assert_eq!(shared.get("k").unwrap(), b"blind");
}

#[test]
fn two_creators_both_succeed() {
    let shared = SharedData::default();
    assert_eq!(shared.set(b"k", b"one", 0), Ok(()));
    assert_eq!(shared.set(b"k", b"two", 0), Ok(()));
    assert_eq!(shared.get("k").unwrap(), b"two");
}

#[test]
fn versions_are_one_sequence_for_all_keys_without_zero() {
    let shared = SharedData::default();
    let version_of = |key: &str| {
        shared.set(key.as_bytes(), b"v", 0).unwrap();
        shared.get_versioned(key).unwrap().1
    };
    assert_eq!((version_of("a"), version_of("b"), version_of("a")), (1, 2, 3));
    shared.set_last_version(u32::MAX - 1);
    assert_eq!((version_of("a"), version_of("b")), (u32::MAX, 1));
}

#[test]
fn test_helpers_see_and_damage_values() {
    let shared = SharedData::default();
    shared.put_raw("b", b"12345");
    shared.put_raw("a", b"");
    assert_eq!(shared.keys(), [b"a".to_vec(), b"b".to_vec()]);
    assert_eq!(shared.total_bytes(), 7);
    let version = shared.get_versioned("b").unwrap().1;
    assert!(shared.corrupt("b", |bytes| bytes.truncate(2)));
    assert_eq!(shared.get_versioned("b").unwrap(), (b"12".as_slice().into(), version));
    assert!(!shared.corrupt("none", |bytes| bytes.clear()));
}

const READ_AND_WRITE: &str = r#"
(data (i32.const 256) "k value")
(func $read
  (i32.store (i32.const 16) (i32.const 99))
  (i32.store (i32.const 20) (i32.const 99))
  (i32.store (i32.const 24) (i32.const 99))
  (call $note (call $get_shared (i32.const 256) (i32.const 1) (i32.const 16) (i32.const 20) (i32.const 24)))
  (call $note (i32.load (i32.const 20)))
  (call $note (i32.load (i32.const 24))))
(func $write (param $size i32) (param $cas i32)
  (call $note (call $set_shared (i32.const 256) (i32.const 1) (i32.const 258) (local.get $size) (local.get $cas))))
(func (export "proxy_on_tick") (param i32)
  (call $read)
  (call $write (i32.const 5) (i32.const 9))
  (call $read)
  (call $write (i32.const 4) (i32.const 9))
  (call $write (i32.const 0) (i32.const 1))
  (call $read)
  (call $note (i32.load (i32.const 16)))
  (call $publish))
"#;

#[test]
fn a_module_sees_the_same_rules() {
    let (host, mut worker) = solo(READ_AND_WRITE);
    worker.tick().unwrap();
    let absent = [1, 99, 99];
    let created_with_any_version = [0];
    let first = [0, 5, 1];
    let stale_then_right = [8, 0];
    let present_and_empty = [0, 0, 2];
    let null_address = [0];
    let expected = [
        absent.as_slice(),
        &created_with_any_version,
        &first,
        &stale_then_right,
        &present_and_empty,
        &null_address,
    ];
    assert_eq!(notes(&host), expected.concat());
    assert_eq!(host.shared_data().get("k").unwrap(), b"");
}

#[test]
fn all_workers_of_a_host_share_and_hosts_do_not() {
    let module = module(READ_AND_WRITE);
    let (host, other) = (Host::new(), Host::new());
    let (mut first, mut second) = (start(&module, &host), start(&module, &host));
    first.tick().unwrap();
    second.tick().unwrap();
    assert_eq!(notes(&host)[..3], [0, 0, 2], "the second worker read what the first wrote");
    assert_eq!(other.shared_data().keys().len(), 0);
}

#[test]
fn data_goes_with_the_last_worker_only() {
    let module = module("");
    let host = Host::new();
    try_configuration(&module, &host, &rudolph_mock_host::Configuration::default()).unwrap();
    host.shared_data().put_raw("k", b"v");
    let (mut first, second) = (start(&module, &host), start(&module, &host));
    first.reload().unwrap();
    drop(second);
    assert_eq!((host.live_workers(), host.shared_data().keys().len()), (1, 1));
    try_configuration(&module, &host, &rudolph_mock_host::Configuration::default()).unwrap();
    assert_eq!(host.shared_data().keys().len(), 1, "a canary's end erases nothing");
    drop(first);
    assert_eq!((host.live_workers(), host.shared_data().keys().len()), (0, 0));
}
