use std::time::Duration;

use rudolph_mock_host::WorkerError;

use crate::support::{notes, solo};

/// Makes a call on each tick, and notes what the response's callback sees. Memory: 256 the cluster's
/// name, 272 a header name, 512 the headers with all that Envoy needs, 600 the same without `:path`.
const CALLER: &str = r#"
(data (i32.const 256) "admin")
(data (i32.const 272) ":status")
(data (i32.const 512) "\03\00\00\00\07\00\00\00\03\00\00\00\05\00\00\00\01\00\00\00\0a\00\00\00\01\00\00\00:method\00GET\00:path\00/\00:authority\00a\00")
(data (i32.const 600) "\02\00\00\00\07\00\00\00\03\00\00\00\0a\00\00\00\01\00\00\00:method\00GET\00:authority\00a\00")
(func $call (param $headers i32) (param $size i32) (param $timeout i32)
  (call $note (call $http_call (i32.const 256) (i32.const 5) (local.get $headers) (local.get $size)
    (i32.const 272) (i32.const 3) (i32.const 0) (i32.const 0) (local.get $timeout) (i32.const 16)))
  (call $note (i32.load (i32.const 16))))
(func $look
  (call $note (call $get_header (i32.const 6) (i32.const 272) (i32.const 7) (i32.const 16) (i32.const 20)))
  (call $note (call $get_buffer (i32.const 4) (i32.const 1) (i32.const 100) (i32.const 16) (i32.const 20))))
(func (export "proxy_on_tick") (param i32)
  (call $call (i32.const 512) (i32.const 61) (i32.const 250))
  (call $look)
  (call $publish))
(func (export "proxy_on_vm_start") (param i32 i32) (result i32)
  (call $call (i32.const 600) (i32.const 43) (i32.const 250))
  (call $call (i32.const 512) (i32.const 61) (i32.const -1))
  (call $publish)
  (i32.const 1))
(func (export "proxy_on_http_call_response") (param i32 i32 i32 i32 i32)
  (call $note (local.get 0)) (call $note (local.get 1)) (call $note (local.get 2))
  (call $note (local.get 3)) (call $note (local.get 4))
  (call $look)
  (call $note (i32.load8_u (i32.load (i32.const 16))))
  (call $note (i32.load (i32.const 20)))
  (call $publish))
"#;

#[test]
fn incomplete_calls_and_unknown_clusters_are_refused() {
    let (host, mut worker) = solo(CALLER);
    assert_eq!(notes(&host), [2, 0, 2, 0], "no :path; a negative timeout");
    host.set_cluster_known("admin", false);
    worker.tick().unwrap();
    assert_eq!(notes(&host)[4..6], [2, 0]);
    assert!(worker.http_calls().is_empty());
    host.set_cluster_known("admin", true);
    worker.tick().unwrap();
    assert_eq!(notes(&host)[8..10], [0, 4]);
}

#[test]
fn a_call_is_recorded_and_its_answer_readable_in_the_callback_only() {
    let (host, mut worker) = solo(CALLER);
    worker.tick().unwrap();
    assert_eq!(
        notes(&host)[4..],
        [0, 4, 2, 1],
        "no answer yet: headers a bad argument, body not found"
    );
    let calls = worker.http_calls();
    let [call] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!((call.token, call.root, call.cluster.as_str()), (4, worker.root(), "admin"));
    assert_eq!(
        (call.body.as_slice(), call.timeout),
        (b":st".as_slice(), Duration::from_millis(250))
    );
    assert_eq!(call.headers.get(":path"), Some(b"/".as_slice()));
    assert!(call.trailers.is_empty());

    worker.respond_http_call(4, &[(":status", "200"), ("x", "y")], "body").unwrap();
    let arguments = [worker.root(), 4, 2, 4, 0];
    let status_and_body = [0, 0, u32::from(b'o'), 3];
    assert_eq!(notes(&host)[8..], [arguments.as_slice(), &status_and_body].concat());
    assert_eq!(
        worker.respond_http_call(4, &[(":status", "200")], ""),
        Err(WorkerError::UnknownToken { token: 4 })
    );
    worker.tick().unwrap();
    assert_eq!(notes(&host)[17..], [0, 8, 2, 1]);
}

#[test]
fn a_failed_call_has_no_headers_and_no_body() {
    let (host, mut worker) = solo(CALLER);
    worker.tick().unwrap();
    worker.fail_http_call(4).unwrap();
    assert_eq!(notes(&host)[8..15], [worker.root(), 4, 0, 0, 0, 2, 1]);
}

#[test]
fn calls_end_with_their_vm_and_with_their_root() {
    let (_host, mut worker) = solo(CALLER);
    worker.tick().unwrap();
    worker.reload().unwrap();
    assert!(worker.http_calls().is_empty());
    worker.tick().unwrap();
    let old = worker.root();
    worker.add_root("").unwrap();
    worker.tick().unwrap();
    assert_eq!(worker.http_calls().len(), 2);
    worker.remove_root(old).unwrap();
    let left: Vec<_> = worker.http_calls().iter().map(|call| call.root).collect();
    assert_eq!(left, [worker.root()]);
}
