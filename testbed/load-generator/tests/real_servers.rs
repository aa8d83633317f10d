//! The generator against real sockets: the testbed's own server, and servers that misbehave on purpose.

#![allow(clippy::unwrap_used)] // helpers of tests are tests too

use std::{
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    time::{Duration, Instant},
};

use rudolph_app_server::{DatabaseUrl, RunningServer, ServerConfig, ServiceTimes, start};
use rudolph_load_generator::{
    Arrivals, BottleneckReason, HttpSender, LoadConfig, LoadError, LoadRun, Phase, PreparedRequest,
    Report, Sending,
};
use rudolph_workload::{KeyId, KeySpec, WorkloadSpec};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// The machine that runs the tests may be busy; these tests are about counting, not about the generator's lateness.
const ANY_LAG: Duration = Duration::from_secs(3600);

struct Served {
    server: RunningServer,
    database: PathBuf,
}

async fn app_server(name: &str, service_ms: f64) -> Served {
    let file = format!("rudolph-load-{}-{name}.sqlite", std::process::id());
    let database = std::env::temp_dir().join(file);
    let config = ServerConfig {
        name: name.into(),
        database: DatabaseUrl::Sqlite(database.clone()),
        service: ServiceTimes::from_ms(service_ms, service_ms).unwrap(),
        ..ServerConfig::default()
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = start(config, listener).await.unwrap();
    Served { server, database }
}

impl Drop for Served {
    fn drop(&mut self) {
        for ending in ["", "-wal", "-shm"] {
            let mut path = self.database.clone().into_os_string();
            path.push(ending);
            _ = std::fs::remove_file(path);
        }
    }
}

fn load(target: SocketAddr) -> LoadConfig {
    LoadConfig {
        connections: 8,
        warm_up: Duration::ZERO,
        duration: Duration::from_secs(2),
        max_lag: ANY_LAG,
        workload: WorkloadSpec {
            keys: KeySpec::Zipf { count: 1_000, alpha: 1.0, ramp: None, reshuffle_s: None },
            ..WorkloadSpec::default()
        },
        ..LoadConfig::new(target)
    }
}

/// CPU share is judged apart from lag, and a debug build on a busy machine may use all of one.
fn report_of(result: Result<Report, LoadError>) -> Report {
    match result {
        Err(LoadError::Bottleneck { report, .. }) => *report,
        other => other.unwrap(),
    }
}

async fn measure(config: LoadConfig) -> Report {
    report_of(LoadRun::start(config).unwrap().finish().await)
}

#[tokio::test]
async fn a_closed_loop_counts_what_the_server_counts() {
    let served = app_server("counts", 2.0).await;
    let mut config = load(served.server.address());
    config.workload.read_fraction = 0.9;
    let report = measure(config).await;
    let metrics = served.server.engine().metrics();
    assert_eq!(report.errors, [].into());
    assert_eq!(report.requests, metrics.reads.get() + metrics.writes.get());
    assert_eq!((report.hits, report.misses), (metrics.hits.get(), metrics.misses.get()));
    assert!(metrics.writes.get() > 0 && report.hits > 0 && report.misses > 0, "{report}");
    assert!(report.latency.p50_ms >= 2.0, "{report}");
    // Four slots of 2 ms.
    assert!(report.rps <= 2_100.0, "{report}");
    let [server] = report.servers.as_slice() else { unreachable!("{report}") };
    assert_eq!((server.server.as_str(), server.requests), ("counts", report.requests));
    assert_eq!(server.share_over_mean, 1.0);
    assert_eq!(report.timeline.len(), 2);
}

#[tokio::test]
async fn an_open_loop_keeps_its_rate_and_seconds_can_be_watched() {
    let served = app_server("open", 1.0).await;
    let mut config = load(served.server.address());
    config.warm_up = Duration::from_secs(1);
    config.arrivals = Arrivals::Constant { rate: 200.0 };
    let run = LoadRun::start(config).unwrap();
    let mut seconds = run.snapshots();
    let mut phases = Vec::new();
    while seconds.changed().await.is_ok() {
        let second = seconds.borrow_and_update().clone().unwrap();
        assert!(second.servers.iter().all(|server| server.server == "open"));
        phases.push((second.second, second.phase));
    }
    let report = report_of(run.finish().await);
    assert_eq!(report.requests, 400, "200 a second for 2 s, all answered: {report}");
    assert_eq!(report.offered_rps, Some(200.0));
    assert_eq!(phases.first(), Some(&(0, Phase::WarmUp)));
    assert!(phases.contains(&(2, Phase::Measure)), "{phases:?}");
}

/// Answers at once, but nothing for `stall` from half a second after the first request on.
async fn stalling_server(stall: Duration) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut first = None;
        while let Ok((stream, _)) = listener.accept().await {
            let begin = *first.get_or_insert_with(Instant::now) + Duration::from_millis(500);
            tokio::spawn(answer_all(stream, begin, begin + stall));
        }
    });
    address
}

async fn answer_all(mut stream: TcpStream, stall_begin: Instant, stall_end: Instant) {
    let mut request = Vec::new();
    while stream.read_buf(&mut request).await.is_ok_and(|read| read > 0) {
        if !request.ends_with(b"\r\n\r\n") {
            continue;
        }
        request.clear();
        let now = Instant::now();
        if (stall_begin..stall_end).contains(&now) {
            tokio::time::sleep_until(stall_end.into()).await;
        }
        let answered = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
        if answered.is_err() {
            return;
        }
    }
}

/// Two seconds at 100/s, the server silent for half a second of them: a quarter of the requests wait, evenly up to 500 ms,
/// so p90 is near 300 ms. A generator that starts counting when it sends would see one wait a connection.
#[tokio::test]
async fn open_loop_latency_shows_a_known_stall() {
    let target = stalling_server(Duration::from_millis(500)).await;
    for connections in [100, 1] {
        let target = if connections == 1 {
            stalling_server(Duration::from_millis(500)).await
        } else {
            target
        };
        let mut config = load(target);
        config.connections = connections;
        config.arrivals = Arrivals::Constant { rate: 100.0 };
        let report = measure(config).await;
        assert_eq!(report.requests, 200, "{report}");
        let latency = report.latency;
        assert!((250.0..600.0).contains(&latency.p90_ms), "{connections} connections: {report}");
        assert!((440.0..1_500.0).contains(&latency.max_ms), "{connections} connections: {report}");
        assert!(latency.p50_ms < 150.0, "{connections} connections: {report}");
    }
}

/// A keep-alive connection that the server closed while it was idle: the next request never left, so it goes out on a
/// new connection and nobody sees an error.
#[tokio::test]
async fn a_connection_closed_while_idle_is_no_error() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = listener.local_addr().unwrap();
    let (closed, mut was_closed) = tokio::sync::mpsc::channel(1);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            _ = stream.read(&mut request).await;
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
            _ = stream.write_all(answer).await;
            drop(stream);
            _ = closed.send(()).await;
        }
    });
    let mut sender = HttpSender::new(target, "test".parse().unwrap(), Duration::from_secs(10));
    let request = PreparedRequest { key: KeyId(0), path: "/kv/a".into(), value: None };
    for number in 0..5 {
        let outcome = sender.send(&request).await;
        assert_eq!(outcome.unwrap().status, 200, "request {number}");
        was_closed.recv().await.unwrap();
    }
}

#[tokio::test]
async fn errors_are_counted_by_cause() {
    // Connect: nobody listens on a port that was just given back.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut config = load(free);
    config.duration = Duration::from_millis(300);
    let refused = measure(config).await;
    assert!(refused.errors["connect"] > 0 && refused.errors.len() == 1, "{refused}");

    // Timeout: the stall is longer than the patience.
    let mut config = load(stalling_server(Duration::from_secs(60)).await);
    config.request_timeout = Duration::from_millis(200);
    config.duration = Duration::from_secs(1);
    let late = measure(config).await;
    assert!(late.errors["timeout"] > 0 && late.requests > 0, "{late}");

    // A status: no keys are made here.
    let served = app_server("absent", 1.0).await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let config_404 = ServerConfig {
        absent_value_bytes: None,
        database: DatabaseUrl::Sqlite(served.database.clone()),
        ..ServerConfig::default()
    };
    let absent = start(config_404, listener).await.unwrap();
    let mut config = load(absent.address());
    config.duration = Duration::from_millis(300);
    let report = measure(config).await;
    assert!(report.errors["http_404"] > 0 && report.requests == 0, "{report}");
    assert_eq!(report.servers[0].errors, report.errors["http_404"]);
}

#[tokio::test]
async fn a_killed_server_is_errors_and_then_refusals() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let file =
        std::env::temp_dir().join(format!("rudolph-load-{}-killed.sqlite", std::process::id()));
    let config = ServerConfig {
        database: DatabaseUrl::Sqlite(file.clone()),
        service: ServiceTimes::from_ms(20.0, 20.0).unwrap(),
        ..ServerConfig::default()
    };
    let server = start(config, listener).await.unwrap();
    let run = LoadRun::start(load(server.address())).unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    server.abort().await;
    let report = report_of(run.finish().await);
    for ending in ["", "-wal", "-shm"] {
        _ = std::fs::remove_file(format!("{}{ending}", file.display()));
    }
    assert!(report.requests > 0, "{report}");
    assert!((1..=8).contains(&report.errors["reset"]), "one a client at most: {report}");
    assert!(report.errors["connect"] > 0, "{report}");
}

#[tokio::test]
async fn a_run_can_be_stopped_early_and_by_count() {
    let served = app_server("early", 1.0).await;
    let mut config = load(served.server.address());
    config.duration = Duration::from_secs(600);
    let run = LoadRun::start(config.clone()).unwrap();
    let stopper = run.stopper();
    tokio::time::sleep(Duration::from_millis(500)).await;
    stopper.stop();
    let begin = Instant::now();
    let report = report_of(run.finish().await);
    assert!(begin.elapsed() < Duration::from_secs(2) && report.requests > 0, "{report}");
    assert!(report.measured_s < 5.0, "{report}");

    config.max_requests = Some(100);
    let report = measure(config).await;
    assert_eq!(report.requests, 100, "{report}");
}

/// Later than a microsecond at p99 is certain, so the figures are refused, and say why.
#[tokio::test]
async fn no_report_when_the_generator_was_the_bottleneck() {
    let served = app_server("strict", 1.0).await;
    let mut config = load(served.server.address());
    config.duration = Duration::from_millis(500);
    config.max_lag = Duration::from_nanos(1);
    let error = LoadRun::start(config).unwrap().finish().await.unwrap_err();
    assert!(error.to_string().contains("the generator was the bottleneck: "), "{error}");
    assert!(error.to_string().contains("it was late by"), "{error}");
    let LoadError::Bottleneck { reasons, report } = error else { unreachable!("{error}") };
    assert!(reasons.iter().any(|reason| matches!(reason, BottleneckReason::Lag { .. })));
    assert_eq!(report.void, reasons);
}
