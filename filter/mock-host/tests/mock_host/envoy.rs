//! The mock host against Envoy 1.40: one probe module, the same events, and the log that the real binary
//! wrote (`tests/envoy_log/record.py` says how to record it anew).

use rudolph_mock_host::{Configuration, Host, Worker, try_configuration};

use crate::support::{PLAIN, module};

const PROBE: &str = include_str!("../envoy_log/probe.wat");
const MAIN_THREAD: &str = include_str!("../envoy_log/main_thread.txt");
const WORKER: &str = include_str!("../envoy_log/worker.txt");

/// The number of the worker that serves requests; the one before lives on the main thread.
const SERVING: u32 = 1;

fn request(worker: &mut Worker) {
    let keys = [("X-Key", "one"), ("x-key", "twotwo"), ("x-out", "s"), ("x-out", "t")];
    let headers: Vec<_> = PLAIN.into_iter().chain(keys).collect();
    let stream = worker.request(&headers).unwrap();
    worker.finish(stream).unwrap();
}

fn configuration(plugin: &str) -> Configuration {
    Configuration { vm: b"vm".as_slice().into(), plugin: plugin.as_bytes().into() }
}

/// What record.py makes happen in Envoy.
fn play(host: &Host) {
    let module = module(PROBE);
    host.set_cluster_known("admi", false);
    try_configuration(&module, host, &configuration("p1")).unwrap();
    let mut main_thread = Worker::start(&module, host, &configuration("p1")).unwrap();
    let mut serving = Worker::start(&module, host, &configuration("p1")).unwrap();
    for token in [4, 8] {
        for worker in [&mut main_thread, &mut serving] {
            worker.tick().unwrap();
            worker.respond_http_call(token, &[(":status", "200")], "body").unwrap();
        }
    }
    request(&mut serving);
    try_configuration(&module, host, &configuration("p2x")).unwrap();
    for worker in [&mut main_thread, &mut serving] {
        let old = worker.root();
        worker.add_root("p2x").unwrap();
        worker.remove_root(old).unwrap();
    }
    request(&mut serving);
    serving.shut_down().unwrap();
    main_thread.shut_down().unwrap();
}

#[test]
fn the_mock_host_answers_as_envoy_did() {
    let host = Host::new();
    play(&host);
    let (serving, main_thread): (Vec<_>, Vec<_>) =
        host.log().lines().into_iter().partition(|line| line.worker == Some(SERVING));
    for (seen, recorded) in [(main_thread, MAIN_THREAD), (serving, WORKER)] {
        let seen: Vec<_> = seen.into_iter().map(|line| line.message).collect();
        let recorded: Vec<_> = recorded.lines().collect();
        for (at, (seen, recorded)) in seen.iter().zip(&recorded).enumerate() {
            assert_eq!(seen, recorded, "line {}", at + 1);
        }
        assert_eq!(seen.len(), recorded.len());
    }
}
