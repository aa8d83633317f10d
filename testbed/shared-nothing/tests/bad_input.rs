//! Clients that misbehave get the protocol's own words, and everybody else is served on.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests may fail them

mod support;

use std::io::Write;

use rudolph_shared_nothing::{EngineKind, Limits, Protocol, Server, ServerConfig, StartError};
use support::{Client, SHAPES, command, start};

const SMALL: Limits = Limits { key_bytes: 100, value_bytes: 10_000, connections: 20 };

#[test]
fn nonsense_is_told_so_and_the_server_lives() {
    for shape in SHAPES {
        let server = start(shape, SMALL);
        let mut other = Client::connect(&server, Protocol::Redis);
        for (nonsense, words) in [
            (&b"*1\r\n:5\r\n"[..], "-ERR Protocol error: expected '$', got ':'\r\n"),
            (b"*9999999\r\n", "-ERR Protocol error: invalid multibulk length\r\n"),
            (b"*2\r\n$3\r\nGET\r\n$-7\r\n", "-ERR Protocol error: invalid bulk length\r\n"),
            (
                b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$10001\r\n",
                "-ERR Protocol error: invalid bulk length\r\n",
            ),
        ] {
            let mut client = Client::connect(&server, Protocol::Redis);
            client.send(b"PING\r\n");
            client.send(nonsense);
            assert_eq!(client.line(), "+PONG");
            assert_eq!(String::from_utf8(client.rest()).unwrap(), words);
            assert_eq!(other.ask(b"PING\r\n"), "+PONG");
        }
        let mut memcached = Client::connect(&server, Protocol::Memcached);
        assert_eq!(memcached.ask(b"\xff\xfe\0\r\n"), "ERROR");
        let large = [&b"set k 0 0 10001\r\n"[..], &[b'x'; 10_001], b"\r\n"].concat();
        assert_eq!(memcached.ask(&large), "SERVER_ERROR object too large for cache");
        assert_eq!(memcached.ask(b"set k 0 0 1\r\nx\r\n"), "STORED");
    }
}

#[test]
fn the_largest_value_passes_and_a_longer_key_does_not() {
    let server = start((EngineKind::SharedNothing, 2), SMALL);
    let mut client = Client::connect(&server, Protocol::Redis);
    let value = vec![b'\n'; 10_000];
    assert_eq!(client.ask(&command(&[b"SET", &[b'k'; 100], &value])), "+OK");
    client.send(&command(&[b"GET", &[b'k'; 100]]));
    assert_eq!(client.bulk(), Some(value));
    let longer = command(&[b"SET", &[b'k'; 101], b"v"]);
    assert_eq!(client.ask(&longer), "-ERR key is longer than 100 bytes");
}

#[test]
fn clients_that_leave_in_the_middle_leave_nothing_behind() {
    let server = start((EngineKind::SharedNothing, 2), SMALL);
    for i in 0..200 {
        let mut client = Client::connect(&server, Protocol::Redis);
        let pipeline = command(&[b"GET", format!("key{i}").as_bytes()]).repeat(i);
        client.send(&pipeline[..pipeline.len() - pipeline.len() / 3]);
    }
    // Had one stayed, there would be no room for new ones.
    for _ in 0..50 {
        let mut client = Client::connect(&server, Protocol::Redis);
        let answer = client.ask(b"PING\r\n");
        assert!(["+PONG", "-ERR max number of clients reached"].contains(&answer.as_str()));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert_eq!(Client::connect(&server, Protocol::Redis).ask(b"PING\r\n"), "+PONG");
}

#[test]
fn too_many_clients_are_told_so() {
    let server = start((EngineKind::SharedNothing, 1), SMALL);
    let mut clients: Vec<Client> =
        (0..20).map(|_| Client::connect(&server, Protocol::Redis)).collect();
    assert!(clients.iter_mut().all(|client| client.ask(b"PING\r\n") == "+PONG"));
    let mut late = Client::connect(&server, Protocol::Redis);
    assert_eq!(late.rest(), b"-ERR max number of clients reached\r\n");
    assert_eq!(clients[0].ask(b"PING\r\n"), "+PONG");
}

/// It asks for 400 MB and reads nothing: the server stops reading from it, and not from others.
#[test]
fn who_does_not_read_is_not_read_from() {
    let limits = Limits { value_bytes: 1 << 20, ..SMALL };
    for shape in [(EngineKind::SharedNothing, 1), (EngineKind::SharedNothing, 2)] {
        let server = start(shape, limits);
        let mut greedy = Client::connect(&server, Protocol::Redis);
        assert_eq!(greedy.ask(&command(&[b"SET", b"large", &vec![7; 40_000]])), "+OK");
        let requests = command(&[b"GET", b"large"]).repeat(10_000);
        let mut writer = greedy.stream.try_clone().unwrap();
        let sender = std::thread::spawn(move || writer.write_all(&requests).unwrap());
        let mut other = Client::connect(&server, Protocol::Redis);
        for _ in 0..200 {
            assert_eq!(other.ask(b"PING\r\n"), "+PONG");
        }
        for _ in 0..10_000 {
            assert_eq!(greedy.bulk().map(|value| value.len()), Some(40_000));
        }
        sender.join().unwrap();
    }
}

#[test]
fn an_address_that_is_taken_and_an_absurd_number_of_threads_are_refused() {
    let running = start((EngineKind::SharedNothing, 1), SMALL);
    let config = |threads, address| ServerConfig {
        engine: EngineKind::SharedNothing,
        threads,
        listen: vec![(Protocol::Redis, address)],
        cache: rudolph_cache::CacheLimits { entries: 1, bytes: 1 },
        limits: SMALL,
    };
    let taken = support::address(&running, Protocol::Redis);
    let error = Server::start(&config(2, taken)).unwrap_err();
    assert!(matches!(error, StartError::Listen { address, .. } if address == taken), "{error}");
    for threads in [0, 257] {
        let error = Server::start(&config(threads, "127.0.0.1:0".parse().unwrap())).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{threads} threads were asked for; allowed: 1 to 256")
        );
    }
}
