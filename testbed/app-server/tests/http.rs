//! A server in this process, over HTTP.

mod support;

use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rudolph_app_server::{CacheLimits, ServerConfig, ServiceTimes};
use rudolph_workload::derived_value;
use support::{Folder, ask, config, get, server, try_ask, warm};

#[tokio::test]
async fn a_miss_reads_the_database_and_the_next_read_hits() {
    let folder = Folder::new();
    let server = server(config(&folder)).await;
    let miss = get(server.address(), "/kv/a%20b").await;
    let hit = get(server.address(), "/kv/a%20b").await;
    assert_eq!((miss.status, miss.header("x-cache")), (200, Some("miss")));
    assert_eq!((hit.status, hit.header("x-cache")), (200, Some("hit")));
    assert_eq!(hit.header("x-server"), Some("s1"));
    assert_eq!(miss.body, derived_value(b"a b", 128));
    assert_eq!(hit.body, miss.body);
    let metrics = server.engine().metrics();
    assert_eq!((metrics.hits.get(), metrics.misses.get()), (1, 1));
    assert_eq!((metrics.database_reads.get(), metrics.created.get()), (1, 1));
}

#[tokio::test]
async fn a_warming_read_fills_the_cache_and_takes_no_service_time() {
    let folder = Folder::new();
    let service = ServiceTimes::from_ms(0.0, 60_000.0).unwrap();
    let server = server(ServerConfig { service, slots: 1, ..config(&folder) }).await;
    let address = server.address();
    let warmed = tokio::task::spawn_blocking(move || warm(address, "/kv/a")).await.unwrap();
    assert_eq!((warmed.status, warmed.header("x-cache")), (200, Some("miss")));
    assert_eq!(get(address, "/kv/a").await.header("x-cache"), Some("hit"));
}

#[tokio::test]
async fn servers_share_the_database_and_not_the_cache() {
    let folder = Folder::new();
    let (first, second) = (server(config(&folder)).await, server(config(&folder)).await);
    let put = ask(first.address(), "PUT", "/kv/k", b"written").await;
    assert_eq!(put.status, 204, "{put:?}");
    let own = get(first.address(), "/kv/k").await;
    let other = get(second.address(), "/kv/k").await;
    assert_eq!((own.text().as_str(), own.header("x-cache")), ("written", Some("hit")));
    assert_eq!((other.text().as_str(), other.header("x-cache")), ("written", Some("miss")));
}

#[tokio::test]
async fn a_scan_lists_the_keys_of_its_range_in_order_and_takes_its_time() {
    let folder = Folder::new();
    let service = ServiceTimes::from_ms(0.0, 30.0).unwrap();
    let scan_row = Duration::from_millis(10);
    let slow = server(ServerConfig { service, scan_row, ..config(&folder) }).await;
    let other = server(config(&folder)).await;
    for key in ["b2", "a1", "b1", "c1", "b3"] {
        ask(other.address(), "PUT", &format!("/kv/{key}"), b"value").await;
    }
    let started = Instant::now();
    let found = get(slow.address(), "/kv/b1?to=b3").await;
    assert!(started.elapsed() >= Duration::from_millis(50), "a miss and two keys");
    assert_eq!((found.status, found.header("x-rows")), (200, Some("2")));
    assert_eq!(found.text(), "b1\nb2\n");
    assert_eq!(get(other.address(), "/kv/b9?to=a").await.header("x-rows"), Some("0"));
    let empty = get(other.address(), "/kv/a?to=").await;
    assert_eq!((empty.status, empty.text().lines().count()), (400, 1));
}

#[tokio::test]
async fn an_evicted_write_is_still_there() {
    let folder = Folder::new();
    let cache = CacheLimits { entries: 1, bytes: 1 << 20 };
    let server = server(ServerConfig { cache, ..config(&folder) }).await;
    for key in ["/kv/a", "/kv/b"] {
        ask(server.address(), "PUT", key, key.as_bytes()).await;
    }
    let evicted = get(server.address(), "/kv/a").await;
    assert_eq!((evicted.text().as_str(), evicted.header("x-cache")), ("/kv/a", Some("miss")));
}

#[tokio::test]
async fn an_absent_key_is_404_where_none_are_made() {
    let folder = Folder::new();
    let absent_value_bytes = None;
    let server = server(ServerConfig { absent_value_bytes, ..config(&folder) }).await;
    let absent = get(server.address(), "/kv/nobody").await;
    assert_eq!((absent.status, absent.text().as_str()), (404, "no such key\n"));
}

#[tokio::test]
async fn bad_input_gets_one_clear_line() {
    let folder = Folder::new();
    let server = server(ServerConfig { max_value_bytes: 200, ..config(&folder) }).await;
    let (long_key, long_value) = (format!("/kv/{}", "x".repeat(1025)), vec![b'v'; 201]);
    for (method, path, body, status, says) in [
        ("GET", "/kv/", b"".as_slice(), 400, "the key is empty"),
        ("GET", "/kv/%zz", b"", 400, "%"),
        ("GET", "/kv/a/b", b"", 400, "%2F"),
        ("GET", &long_key, b"", 414, "1024"),
        ("GET", "/else", b"", 404, "/kv/KEY"),
        ("DELETE", "/kv/a", b"", 405, "GET and PUT"),
        ("PUT", "/kv/a", &long_value, 413, "200 bytes"),
    ] {
        let answer = ask(server.address(), method, path, body).await;
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        let text = answer.text();
        assert!(text.contains(says) && text.lines().count() == 1, "{method} {path}: {text}");
    }
    let refused = server.engine().metrics().refused.get();
    assert_eq!(refused, 7);
}

#[tokio::test]
async fn speaks_http2_without_tls() {
    let folder = Folder::new();
    let server = server(config(&folder)).await;
    let stream = tokio::net::TcpStream::connect(server.address()).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    tokio::spawn(connection);
    for expected in ["miss", "hit"] {
        let uri = format!("http://{}/kv/k", server.address());
        let request = hyper::Request::get(uri).body(Empty::<Bytes>::new()).unwrap();
        let answer = sender.send_request(request).await.unwrap();
        assert_eq!(answer.headers()["x-cache"], expected);
        assert_eq!(answer.into_body().collect().await.unwrap().to_bytes().len(), 128);
    }
}

#[tokio::test]
async fn slots_and_service_time_set_the_capacity() {
    let folder = Folder::new();
    let server = server(ServerConfig {
        slots: 2,
        service: ServiceTimes::from_ms(20.0, 20.0).unwrap(),
        ..config(&folder)
    })
    .await;
    let address = server.address();
    let start = Instant::now();
    let asks = (0..20)
        .map(|key| tokio::spawn(async move { get(address, &format!("/kv/{key}")).await.status }));
    for ask in asks.collect::<Vec<_>>() {
        assert_eq!(ask.await.unwrap(), 200);
    }
    let elapsed = start.elapsed();
    assert!(elapsed >= Duration::from_millis(200), "ten rounds of 20 ms took {elapsed:?}");
    assert!(elapsed < Duration::from_secs(2), "{elapsed:?}");
}

#[tokio::test]
async fn a_full_queue_is_503() {
    let folder = Folder::new();
    let server = server(ServerConfig {
        slots: 1,
        queue_limit: 0,
        service: ServiceTimes::from_ms(1_500.0, 1_500.0).unwrap(),
        ..config(&folder)
    })
    .await;
    let address = server.address();
    let held = tokio::spawn(async move { get(address, "/kv/a").await.status });
    while server.engine().metrics().database_reads.get() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let refused = get(address, "/kv/b").await;
    assert_eq!(refused.status, 503);
    assert!(refused.text().contains("the queue is full"), "{}", refused.text());
    assert_eq!(held.await.unwrap(), 200);
}

#[tokio::test]
async fn metrics_are_text_that_prometheus_reads() {
    let folder = Folder::new();
    let server = server(config(&folder)).await;
    get(server.address(), "/kv/k").await;
    let metrics = get(server.address(), "/metrics").await;
    let kind = metrics.header("content-type").unwrap();
    assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
    let text = metrics.text();
    for line in [
        "rudolph_app_reads_total 1",
        "rudolph_app_misses_total 1",
        "rudolph_app_database_reads_total 1",
        "rudolph_app_queue_length 0",
        "rudolph_app_cache_entries 1",
        "rudolph_app_service_seconds_count 1",
        "# EOF",
    ] {
        assert!(text.lines().any(|have| have == line), "{line} is not in\n{text}");
    }
}

#[tokio::test]
async fn draining_says_so_first_and_finishes_what_is_in_flight() {
    let folder = Folder::new();
    let server = server(ServerConfig {
        service: ServiceTimes::from_ms(2_000.0, 2_000.0).unwrap(),
        drain_notice: Duration::from_millis(1_500),
        ..config(&folder)
    })
    .await;
    let address = server.address();
    assert_eq!(get(address, "/healthz").await.status, 200);
    let slow = tokio::spawn(async move { get(address, "/kv/slow").await });
    while server.engine().metrics().database_reads.get() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let drained = tokio::spawn(server.drain());
    tokio::time::sleep(Duration::from_millis(50)).await;
    let health = get(address, "/healthz").await;
    assert_eq!((health.status, health.text().as_str()), (503, "draining\n"));
    assert_eq!(slow.await.unwrap().status, 200, "in flight when the drain began");
    drained.await.unwrap();
    assert!(try_ask(address, "GET", "/healthz", b"").is_none(), "nobody listens any more");
}

#[tokio::test]
async fn an_abort_breaks_connections_at_once() {
    let folder = Folder::new();
    let server = server(ServerConfig {
        service: ServiceTimes::from_ms(30_000.0, 30_000.0).unwrap(),
        ..config(&folder)
    })
    .await;
    let address = server.address();
    let held = tokio::task::spawn_blocking(move || try_ask(address, "GET", "/kv/a", b"").is_none());
    while server.engine().metrics().database_reads.get() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let start = Instant::now();
    server.abort().await;
    assert!(held.await.unwrap(), "the request was lost");
    assert!(start.elapsed() < Duration::from_secs(5));
}
