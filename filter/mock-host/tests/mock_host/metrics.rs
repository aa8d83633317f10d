use rudolph_mock_host::{HistogramSummary, Host, MetricType};

use crate::support::{module, notes, solo, start};

const DEFINE: &str = r#"
(data (i32.const 256) "name")
(func $define (param $kind i32) (result i32)
  (call $note (call $define_metric (local.get $kind) (i32.const 256) (i32.const 4) (i32.const 16)))
  (call $note (i32.load (i32.const 16)))
  (i32.load (i32.const 16)))
"#;

#[test]
fn every_definition_is_a_new_id_of_the_same_metric() {
    let body = format!(
        r#"{DEFINE}
        (func (export "proxy_on_tick") (param i32)
          (drop (call $increment (call $define (i32.const 0)) (i64.const 2)))
          (drop (call $increment (call $define (i32.const 0)) (i64.const 3)))
          (drop (call $record (call $define (i32.const 1)) (i64.const 7)))
          (drop (call $record (call $define (i32.const 2)) (i64.const 9)))
          (call $note (call $define_metric (i32.const 3) (i32.const 256) (i32.const 4) (i32.const 16)))
          (call $publish))"#
    );
    let module = module(&body);
    let host = Host::new();
    let (mut first, mut second) = (start(&module, &host), start(&module, &host));
    first.tick().unwrap();
    assert_eq!(
        notes(&host),
        [0, 4, 0, 8, 0, 5, 0, 6, 2],
        "status and id; an unknown kind is a bad argument"
    );
    second.tick().unwrap();
    assert_eq!(notes(&host)[..4], [0, 4, 0, 8], "ids belong to a VM");

    let metrics = host.metrics();
    assert_eq!(metrics.counter("name"), Some(10));
    assert_eq!(metrics.gauge("name"), Some(7));
    assert_eq!(metrics.histogram("name"), Some(HistogramSummary { count: 2, sum: 18 }));
    assert_eq!(metrics.counter("other"), None);
    assert_eq!(metrics.distinct_names(), 3);
    let kinds = [MetricType::Counter, MetricType::Gauge, MetricType::Histogram];
    assert_eq!(metrics.names(), kinds.map(|kind| (kind, "name".to_owned())));
}

#[test]
fn counters_only_grow_and_gauges_go_both_ways() {
    let body = format!(
        r#"{DEFINE}
        (func (export "proxy_on_tick") (param i32)
          (local $counter i32) (local $gauge i32) (local $histogram i32)
          (local.set $counter (call $define (i32.const 0)))
          (local.set $gauge (call $define (i32.const 1)))
          (local.set $histogram (call $define (i32.const 2)))
          (call $note (call $increment (local.get $counter) (i64.const 0)))
          (call $note (call $increment (local.get $counter) (i64.const -1)))
          (call $note (call $increment (local.get $gauge) (i64.const 5)))
          (call $note (call $increment (local.get $gauge) (i64.const -2)))
          (call $note (call $increment (local.get $gauge) (i64.const 0)))
          (call $note (call $increment (local.get $histogram) (i64.const 1)))
          (call $note (call $record (local.get $counter) (i64.const 4)))
          (call $note (call $get_metric (local.get $gauge) (i32.const 32)))
          (call $note (i32.load (i32.const 32)))
          (call $note (call $get_metric (local.get $histogram) (i32.const 32)))
          (call $note (call $increment (i32.const 400) (i64.const 1)))
          (call $note (call $record (i32.const 401) (i64.const 1)))
          (call $note (call $get_metric (i32.const 0) (i32.const 32)))
          (call $note (call $get_metric (i32.const 3) (i32.const 32)))
          (call $publish))"#
    );
    let (host, mut worker) = solo(&body);
    worker.tick().unwrap();
    let steps = [2, 2, 0, 0, 0, 2];
    let record_and_get = [0, 0, 3, 2];
    let unknown_ids = [1, 1, 1, 2];
    assert_eq!(notes(&host)[6..], [steps.as_slice(), &record_and_get, &unknown_ids].concat());
    assert_eq!((host.metrics().counter("name"), host.metrics().gauge("name")), (Some(4), Some(3)));
}
