use std::time::Duration;

use rudolph_mock_host::{
    Callback, Configuration, Host, LogLevel, RequestOptions, TrapReason, Worker, WorkerError,
    try_configuration,
};

use crate::support::{PLAIN, module, notes, solo, start};

/// Notes each callback by a number and its arguments. The VM starts unless its configuration is `N`;
/// the plugin is accepted unless its configuration begins with `n`.
const TRACE: &str = r#"
(func $first_byte (param $buffer i32) (result i32)
  (i32.store (i32.const 16) (i32.const 40))
  (call $note (call $get_buffer (local.get $buffer) (i32.const 0) (i32.const 9) (i32.const 16) (i32.const 20)))
  (i32.load8_u (i32.load (i32.const 16))))
(func (export "proxy_on_context_create") (param i32 i32)
  (call $note (i32.const 1000)) (call $note (local.get 0)) (call $note (local.get 1)) (call $publish))
(func (export "proxy_on_vm_start") (param i32 i32) (result i32)
  (call $note (i32.const 1001)) (call $note (local.get 0)) (call $note (local.get 1))
  (i32.ne (call $first_byte (i32.const 6)) (i32.const 78))
  (call $publish))
(func (export "proxy_on_configure") (param i32 i32) (result i32)
  (call $note (i32.const 1002)) (call $note (local.get 0)) (call $note (local.get 1))
  (drop (call $tick_period (i32.const 250)))
  (i32.ne (call $first_byte (i32.const 7)) (i32.const 110))
  (call $publish))
(func (export "proxy_on_tick") (param i32)
  (call $note (i32.const 1003)) (call $note (local.get 0)) (drop (call $first_byte (i32.const 7))) (call $publish))
(func (export "proxy_on_delete") (param i32)
  (call $note (i32.const 1004)) (call $note (local.get 0)) (call $publish))
"#;

fn configuration(vm: &str, plugin: &str) -> Configuration {
    Configuration { vm: vm.as_bytes().into(), plugin: plugin.as_bytes().into() }
}

#[test]
fn a_worker_starts_as_in_envoy() {
    let host = Host::new();
    let mut worker = Worker::start(&module(TRACE), &host, &configuration("vm", "plugin")).unwrap();
    assert_eq!(notes(&host), [1000, 1, 0, 1001, 1, 2, 0, 1002, 1, 6, 0]);
    worker.tick().unwrap();
    assert_eq!(
        notes(&host)[11..],
        [1003, 1, 1],
        "the plugin configuration is there only while configuring"
    );
    worker.request(&PLAIN).unwrap();
    assert_eq!(notes(&host)[14..], [1000, 2, 1]);
    assert_eq!(worker.totals(Callback::Tick).runs, 1);
    assert_eq!(worker.totals(Callback::Configure).hostcalls.total(), 3);
    assert_eq!((worker.root(), worker.number(), worker.memory_bytes()), (1, 0, 131_072));
}

#[test]
fn refusals_are_told_apart() {
    let (module, host) = (module(TRACE), Host::new());
    let refused = |vm: &str, plugin: &str| {
        Worker::start(&module, &host, &configuration(vm, plugin)).unwrap_err()
    };
    assert_eq!(refused("N", ""), WorkerError::VmStartRefused);
    assert_eq!(refused("", "no"), WorkerError::ConfigureRefused);
    assert_eq!(host.live_workers(), 0);
}

#[test]
fn a_canary_only_configures_and_leaves_its_data() {
    let (module, host) = (module(TRACE), Host::new());
    try_configuration(&module, &host, &configuration("", "p")).unwrap();
    assert_eq!(
        notes(&host),
        [1000, 1, 0, 1001, 1, 0, 0, 1002, 1, 1, 0],
        "nothing after proxy_on_configure"
    );
    let refused = try_configuration(&module, &host, &configuration("", "n"));
    assert_eq!(refused, Err(WorkerError::ConfigureRefused));
}

#[test]
fn a_new_configuration_is_a_second_root_in_the_same_vm() {
    let (host, mut worker) = solo(TRACE);
    assert_eq!(worker.tick_period(1), Some(Duration::from_millis(250)));
    let before = notes(&host).len();
    let second = worker.add_root("p").unwrap();
    let started = [1000, second, 0, 1001, second, 0, 0, 1002, second, 1, 0];
    assert_eq!(notes(&host)[before..], started, "proxy_on_vm_start comes again");
    assert_eq!((worker.root(), worker.roots()), (second, vec![1, second]));
    assert_eq!(worker.add_root("no"), Err(WorkerError::ConfigureRefused));
    assert_eq!(worker.root(), second, "requests stay with the accepted root");

    let before = notes(&host).len();
    worker.tick().unwrap();
    worker.tick_root(1).unwrap();
    worker.request_with(&PLAIN, &RequestOptions::default().on_root(1)).unwrap();
    worker.remove_root(1).unwrap();
    assert_eq!(notes(&host)[before..], [1003, second, 1, 1003, 1, 1, 1000, 4, 1, 1004, 1]);
    assert_eq!(worker.tick_root(1), Err(WorkerError::UnknownRoot { root: 1 }));
    worker.reload().unwrap();
    let restarted = [1000, 1, 0, 1001, 1, 0, 0, 1002, 1, 1, 0];
    assert_eq!(notes(&host), restarted, "a reload takes the newest accepted configuration");
}

#[test]
fn a_root_that_is_not_done_waits_for_proxy_done() {
    let (host, mut worker) = solo(
        r#"(func (export "proxy_on_done") (param i32) (result i32) (i32.const 0))
        (func (export "proxy_on_delete") (param i32) (call $note (local.get 0)) (call $publish))
        (func (export "proxy_on_tick") (param i32)
          (call $note (call $done)) (call $publish))"#,
    );
    worker.tick().unwrap();
    assert_eq!(notes(&host), [1], "there is nothing to be done with");
    worker.remove_root(1).unwrap();
    assert_eq!((notes(&host).len(), worker.roots()), (1, vec![1]));
    worker.tick().unwrap();
    assert_eq!(
        notes(&host),
        [1, 0, 1],
        "proxy_on_delete follows the callback that called proxy_done"
    );
    assert!(worker.roots().is_empty());
}

#[test]
fn a_shutdown_takes_every_root_out_of_service_and_a_drop_none() {
    let module = module(
        r#"(func (export "proxy_on_done") (param i32) (result i32) (call $note (local.get 0)) (i32.const 1))
        (func (export "proxy_on_delete") (param i32) (call $note (local.get 0)) (call $publish))"#,
    );
    let host = Host::new();
    let (mut first, second) = (start(&module, &host), start(&module, &host));
    let observer = start(&module, &host);
    first.add_root("new").unwrap();
    drop(second);
    assert_eq!(notes(&host), []);
    first.shut_down().unwrap();
    assert_eq!((notes(&host), observer.host().live_workers()), (vec![1, 1, 2, 2], 1));
}

#[test]
fn a_module_without_callbacks_is_fine() {
    let (_host, mut worker) = solo("");
    worker.tick().unwrap();
    let stream = worker.request(&PLAIN).unwrap();
    worker.finish(stream).unwrap();
    assert_eq!(worker.last().runs, 0);
}

#[test]
fn initialisation_comes_first_and_may_only_log() {
    let (host, _worker) = solo(
        r#"(data (i32.const 256) "hello")
        (func (export "_initialize") (drop (call $log (i32.const 2) (i32.const 256) (i32.const 5))))
        (func (export "main") (param i32 i32) (result i32)
          (drop (call $log (i32.const 3) (i32.const 256) (i32.const 4))) (i32.const 0))
        (func (export "_start") unreachable)"#,
    );
    let lines: Vec<_> =
        host.log().lines().into_iter().map(|line| (line.level, line.message)).collect();
    assert_eq!(lines, [(LogLevel::Info, "hello".to_owned()), (LogLevel::Warn, "hell".to_owned())]);

    let module = module(r#"(func (export "_start") (call $publish))"#);
    let error = Worker::start(&module, &Host::new(), &Configuration::default()).unwrap_err();
    assert_eq!(
        error,
        WorkerError::Trapped { callback: Callback::Start, reason: TrapReason::Restricted }
    );
}

#[test]
fn an_export_of_the_wrong_type_is_named() {
    let module = module(r#"(func (export "proxy_on_tick") (param i64))"#);
    let error = Worker::start(&module, &Host::new(), &Configuration::default()).unwrap_err();
    assert!(error.to_string().contains("proxy_on_tick"), "{error}");
}

#[test]
fn log_lines_say_who_logged_and_respect_the_level() {
    let module = module(
        r#"(data (i32.const 256) "a\ff")
        (func (export "proxy_on_tick") (param $level i32)
          (drop (call $log (i32.const 1) (i32.const 256) (i32.const 2)))
          (drop (call $log (i32.const 4) (i32.const 256) (i32.const 2))))"#,
    );
    let host = Host::new();
    let (_first, mut second) = (start(&module, &host), start(&module, &host));
    host.log().set_level(LogLevel::Info);
    second.tick().unwrap();
    let lines = host.log().take();
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!((line.worker, line.context, line.level), (Some(1), 1, LogLevel::Error));
    assert_eq!(line.message, "a\u{fffd}");
    assert_eq!((host.log().total(), host.log().lines().len()), (1, 0));
}
