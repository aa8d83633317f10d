use rudolph_mock_host::{Action, Callback, Hostcall, RequestOptions};

use crate::support::{PLAIN, notes, solo};

/// Names in low memory: 256 `x-key`, 264 `x-out`, 272 `X-UPPER`.
const NAMES: &str = r#"
(data (i32.const 256) "x-key   x-out   X-UPPER")
(func $key_to_out
  (call $note (call $get_header (i32.const 0) (i32.const 256) (i32.const 5) (i32.const 16) (i32.const 20)))
  (call $note (call $replace_header (i32.const 0) (i32.const 264) (i32.const 5)
    (i32.load (i32.const 16)) (i32.load (i32.const 20)))))
"#;

fn on_headers(body: &str) -> String {
    format!(
        r#"{NAMES} (func (export "proxy_on_request_headers") (param $id i32) (param $count i32) (param $end i32) (result i32)
        {body})"#
    )
}

#[test]
fn the_first_value_is_read_and_all_values_are_replaced() {
    let (host, mut worker) = solo(&on_headers("(call $key_to_out) (call $publish) (i32.const 0)"));
    let value = b"\xff\x00bytes".as_slice();
    let sent = [
        (b"X-Out".as_slice(), b"spoofed".as_slice()),
        (b"x-key", value),
        (b"x-key", b"second"),
        (b"x-out", b"again"),
    ];
    let stream = worker.request(&sent).unwrap();
    assert_eq!(notes(&host), [0, 0]);
    assert_eq!(stream.action, Action::Continue);
    assert_eq!(stream.headers.get_all("x-out"), [value]);
    assert_eq!(stream.headers.get_all("x-key"), [value, b"second"]);
    assert_eq!(stream.headers.iter().last().unwrap().0, b"x-out", "the new one comes last");
    let calls: Vec<_> = worker.hostcalls().iter().collect();
    let expected =
        [Hostcall::GetHeaderMapValue, Hostcall::ReplaceHeaderMapValue, Hostcall::SetSharedData];
    assert_eq!(calls, expected.map(|hostcall| (hostcall, 1)));
}

#[test]
fn absent_and_empty_headers_differ() {
    let (host, mut worker) = solo(&on_headers("(call $key_to_out) (call $publish) (i32.const 0)"));
    worker.request(&[("x-key", "")]).unwrap();
    assert_eq!(notes(&host), [0, 0]);
    worker.request(&PLAIN).unwrap();
    assert_eq!(notes(&host)[2..], [1, 0]);
}

#[test]
fn names_are_lower_case_and_pseudo_headers_come_first() {
    let (_host, mut worker) = solo(&on_headers(
        "(drop (call $add_header (i32.const 0) (i32.const 272) (i32.const 7) (i32.const 256) (i32.const 1)))
         (drop (call $add_header (i32.const 0) (i32.const 272) (i32.const 7) (i32.const 258) (i32.const 1)))
         (drop (call $remove_header (i32.const 0) (i32.const 256) (i32.const 5)))
         (i32.const 0)",
    ));
    let stream =
        worker.request(&[("X-KEY", "a"), ("Host", "b"), (":path", "/"), ("x-key", "c")]).unwrap();
    let names: Vec<_> =
        stream.headers.iter().map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect();
    assert_eq!(names, [":path", "host", "x-upper", "x-upper"]);
    assert_eq!(stream.headers.get_all("x-upper"), [b"x".as_slice(), b"k"]);
}

#[test]
fn pairs_make_the_round_trip() {
    let (host, mut worker) = solo(&on_headers(
        "(call $note (local.get $count))
         (call $note (local.get $end))
         (call $note (call $get_pairs (i32.const 0) (i32.const 16) (i32.const 20)))
         (call $note (call $remove_header (i32.const 0) (i32.const 256) (i32.const 5)))
         (call $note (call $set_pairs (i32.const 0) (i32.load (i32.const 16)) (i32.load (i32.const 20))))
         (call $note (call $get_pairs (i32.const 2) (i32.const 16) (i32.const 20)))
         (call $note (i32.load (i32.const 20)))
         (call $note (call $get_pairs (i32.const 8) (i32.const 16) (i32.const 20)))
         (call $publish) (i32.const 0)",
    ));
    let options = RequestOptions::default().with_body();
    let sent = [(":path", "/"), ("x-key", ""), ("x-key", "b")];
    let stream = worker.request_with(&sent, &options).unwrap();
    assert_eq!(
        notes(&host),
        [3, 0, 0, 0, 0, 0, 0, 2],
        "a map that is not there reads as an empty one"
    );
    assert_eq!(stream.headers, rudolph_mock_host::Headers::from_pairs(&sent));
    worker.request(&PLAIN).unwrap();
    assert_eq!(notes(&host)[8..10], [3, 1]);
}

#[test]
fn headers_are_out_of_reach_once_the_request_went_on() {
    let (host, mut worker) = solo(&on_headers(
        r#"(i32.const 0))
        (func (export "proxy_on_delete") (param i32)
          (call $key_to_out)
          (call $note (call $remove_header (i32.const 0) (i32.const 256) (i32.const 5)))
          (call $note (call $remove_header (i32.const 2) (i32.const 256) (i32.const 5)))
          (call $publish)"#,
    ));
    let stream = worker.request(&[("x-key", "a")]).unwrap();
    worker.finish(stream).unwrap();
    assert_eq!(notes(&host), [2, 2, 2, 2]);
}

#[test]
fn the_end_of_a_stream_is_log_done_delete_with_headers_in_the_log() {
    let (host, mut worker) = solo(&format!(
        r#"{NAMES}
        (func (export "proxy_on_log") (param i32) (call $note (i32.const 100)) (call $key_to_out))
        (func (export "proxy_on_done") (param i32) (result i32) (call $note (i32.const 101)) (i32.const 1))
        (func (export "proxy_on_delete") (param i32) (call $note (i32.const 102)) (call $publish))"#
    ));
    let stream = worker.request(&[("x-key", "a")]).unwrap();
    assert_eq!(stream.action, Action::Continue, "no proxy_on_request_headers, nothing to wait for");
    worker.finish(stream).unwrap();
    assert_eq!(notes(&host), [100, 0, 2, 101, 102], "there to be read, not to be changed");
}

#[test]
fn a_local_response_stops_the_request() {
    let (_host, mut worker) = solo(&on_headers(
        r#"(drop (call $respond (i32.const 418) (i32.const 256) (i32.const 5) (i32.const 264) (i32.const 5)
          (i32.const 512) (i32.const 18) (i32.const -1)))
        (i32.const 0))
        (data (i32.const 512) "\01\00\00\00\02\00\00\00\01\00\00\00aB\00c\00\00""#,
    ));
    let stream = worker.request(&PLAIN).unwrap();
    assert_eq!(stream.action, Action::Pause);
    let response = stream.local_response.unwrap();
    assert_eq!((response.status, response.grpc_status), (418, -1));
    assert_eq!(
        (response.details.as_slice(), response.body.as_slice()),
        (b"x-key".as_slice(), b"x-out".as_slice())
    );
    assert_eq!(response.headers.get("ab"), Some(b"c".as_slice()));
}

#[test]
fn a_paused_request_can_be_changed_and_continued_from_elsewhere() {
    let (host, mut worker) = solo(&on_headers(
        r#"(global.set $paused (local.get $id)) (i32.const 1))
        (global $paused (mut i32) (i32.const 0))
        (func (export "proxy_on_tick") (param i32)
          (call $note (call $effective (i32.const 4711)))
          (call $note (call $effective (global.get $paused)))
          (call $key_to_out)
          (call $note (call $continue (i32.const 4)))
          (call $note (call $continue (i32.const 3)))
          (call $note (call $continue (i32.const 2)))
          (call $note (call $continue (i32.const 0)))
          (call $publish)"#,
    ));
    let mut stream = worker.request(&[("x-key", "late")]).unwrap();
    assert_eq!((stream.action, stream.headers.get("x-out")), (Action::Pause, None));
    worker.refresh(&mut stream);
    assert_eq!(stream.action, Action::Pause);
    worker.tick().unwrap();
    worker.refresh(&mut stream);
    assert_eq!(notes(&host), [2, 0, 0, 0, 2, 12, 0, 0]);
    assert_eq!(
        (stream.action, stream.headers.get("x-out")),
        (Action::Continue, Some(b"late".as_slice()))
    );
    worker.finish(stream).unwrap();
    worker.tick().unwrap();
    assert_eq!(notes(&host)[8..10], [2, 2], "a context that is gone cannot be made effective");
}

#[test]
fn properties_of_the_request_go_before_those_of_the_host() {
    let (host, mut worker) = solo(&on_headers(
        r#"(call $note (call $get_property (i32.const 512) (i32.const 3) (i32.const 16) (i32.const 20)))
        (call $note (i32.load8_u (i32.load (i32.const 16))))
        (call $note (call $set_property (i32.const 512) (i32.const 3) (i32.const 256) (i32.const 1)))
        (call $note (call $get_property (i32.const 512) (i32.const 3) (i32.const 16) (i32.const 20)))
        (call $note (i32.load8_u (i32.load (i32.const 16))))
        (call $publish) (i32.const 0))
        (func (export "proxy_on_tick") (param i32)
          (call $note (call $set_property (i32.const 512) (i32.const 3) (i32.const 256) (i32.const 1)))
          (call $note (call $get_property (i32.const 512) (i32.const 3) (i32.const 16) (i32.const 20)))
          (call $publish))
        (data (i32.const 512) "a\00b""#,
    ));
    worker.tick().unwrap();
    assert_eq!(notes(&host), [1, 1], "a root context has no properties of its own");
    host.set_property(&["a", "b"], b"h");
    worker.request(&PLAIN).unwrap();
    let options = RequestOptions::default().with_property(&["a", "b"], b"r");
    worker.request_with(&PLAIN, &options).unwrap();
    assert_eq!(notes(&host)[2..], [0, 104, 0, 0, 120, 0, 114, 0, 0, 120]);
}

#[test]
fn pointers_outside_memory_are_refused() {
    let (host, mut worker) = solo(&on_headers(
        "(call $note (call $remove_header (i32.const 0) (i32.const -1) (i32.const 5)))
         (call $note (call $get_header (i32.const 0) (i32.const 256) (i32.const 5) (i32.const -1) (i32.const 20)))
         (call $note (call $log (i32.const 6) (i32.const 256) (i32.const 5)))
         (call $note (call $close (i32.const 0)))
         (call $publish) (i32.const 0)",
    ));
    worker.request(&[("x-key", "a")]).unwrap();
    assert_eq!(notes(&host), [6, 6, 2, 12]);
}

#[test]
fn many_requests_leave_nothing_behind_and_cost_the_same() {
    let (_host, mut worker) = solo(&on_headers("(call $key_to_out) (i32.const 0)"));
    let mut fuel = Vec::new();
    let memory_bytes = worker.memory_bytes();
    for _ in 0..2_000 {
        // The test module notes without end; its notes begin anew with each VM.
        if fuel.len() % 500 == 0 {
            worker.reload().unwrap();
        }
        let stream = worker.request(&[("x-key", "a"), (":path", "/")]).unwrap();
        fuel.push(worker.last().fuel);
        worker.finish(stream).unwrap();
    }
    assert!(
        fuel.iter().all(|&cost| cost == fuel[0]),
        "the same work is the same number of instructions"
    );
    assert_eq!(worker.memory_bytes(), memory_bytes);
    assert_eq!(worker.totals(Callback::RequestHeaders).runs, 500);
}
