//! What is no request is told so, in the protocol's own words, and the server lives on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rudolph_replicated_store::client::Client;
use support::Store;

/// Sends bytes and reads until the server closes or falls silent.
fn said(server: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    // It may refuse and close before all is sent.
    _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn lives(server: SocketAddr) {
    let mut client = Client::new(server);
    assert_eq!(client.put("alive", None, b"yes").unwrap().status, 204);
    assert_eq!(client.get("alive", None).unwrap().body, b"yes");
}

#[test]
fn http_refuses_what_it_cannot_store() {
    let store = Store::start(1, None);
    let server = store.addresses()[0];
    let mut client = Client::new(server);
    let long = format!("/kv/{}", "k".repeat(1_025));
    let longest = format!("/kv/{}", "k".repeat(1_024));
    let cases: [(&str, &str, u16, &str); 8] = [
        ("PUT", "/kv/", 400, "a key has 1 to 1024 bytes"),
        ("GET", "/kv/a/b", 400, "write it as %2F"),
        ("PUT", &long, 414, "a key has 1 to 1024 bytes"),
        ("PUT", &longest, 204, ""),
        ("GET", "/", 404, "there are /kv/KEY"),
        ("GET", "/kv/none", 404, "no such key"),
        ("DELETE", "/kv/a", 405, "GET and PUT only"),
        ("PUT", "/kv/%00%ff%", 204, ""),
    ];
    for (method, path, status, text) in cases {
        let answer = client.ask(method, path, None, b"v").unwrap();
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!(answer.status, status, "{method} {path}: {body}");
        assert!(body.contains(text), "{method} {path}: {body}");
    }
    let value = vec![0xff; 1 << 20];
    assert_eq!(client.put("big", None, &value).unwrap().status, 204);
    assert_eq!(client.get("big", None).unwrap().body, value);
    for list in ["", "nowhere", "127.0.0.1", "127.0.0.1:0,", "localhost:80"] {
        let answer = client.get("k", Some(list)).unwrap();
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!(answer.status, 400, "{list:?}: {body}");
        assert!(body.contains("is no list of replicas") && body.contains("ip:port"), "{body}");
    }
    lives(server);
}

#[test]
fn http_refuses_too_long_a_value_and_what_is_no_http() {
    let store = Store::start(1, None);
    let server = store.addresses()[0];
    let head =
        format!("PUT /kv/k HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n", (1 << 20) + 1);
    let long = [head.as_bytes(), &vec![b'x'; (1 << 20) + 1]].concat();
    let cases: [(&[u8], &str); 5] = [
        (&long, "HTTP/1.1 413"),
        (b"\x16\x03\x01\x02\x00\x01\x00", "HTTP/1.1 400"),
        (b"GET nothing\r\n\r\n", "HTTP/1.1 400"),
        (b"GET /kv/k HTTP/1.1\r\ncontent-length: x\r\n\r\n", "HTTP/1.1 400"),
        (b"\0\0\0\0\r\n\r\n", "HTTP/1.1 400"),
    ];
    for (bytes, expected) in cases {
        let answer = said(server, bytes);
        assert!(
            answer.starts_with(expected),
            "{}: {answer}",
            bytes[..20.min(bytes.len())].escape_ascii()
        );
    }
    lives(server);
}

#[test]
fn the_servers_own_protocol_refuses_too() {
    let store = Store::start(1, None);
    let server = store.addresses()[0];
    let long = "k".repeat(1_025);
    let command = |parts: &[&str]| {
        let bulks: String =
            parts.iter().map(|part| format!("${}\r\n{part}\r\n", part.len())).collect();
        format!("*{}\r\n{bulks}", parts.len()).into_bytes()
    };
    let cases: [(Vec<u8>, &str); 13] = [
        (command(&["PING"]), "+PONG\r\n"),
        (command(&["GET", "k"]), "-ERR unknown command; there are VERSION, STORE"),
        (command(&["VERSION", ""]), "-ERR a key has 1 to 1024 bytes\r\n"),
        (command(&["FETCH", &long]), "-ERR a key has 1 to 1024 bytes\r\n"),
        (command(&["FETCH", "never written"]), "$-1\r\n"),
        (command(&["STORE", "k", "short"]), "-ERR a copy has a version of 16 bytes"),
        (command(&["STORE", "k", &"v".repeat(17 + (1 << 20))]), "-ERR a copy has a version"),
        (command(&["HELLO", "nowhere", "12345678"]), "-ERR HELLO takes ip:port and 8 bytes\r\n"),
        (command(&["FENCE", "127.0.0.1:1"]), "-ERR this server sees others\r\n"),
        (b"*1\r\n*1\r\n*1\r\n".to_vec(), "-ERR Protocol error: more than 2 arrays"),
        (b"*1\r\n*1\r\n$4\r\nPING\r\n".to_vec(), "-ERR a command is an array of bulk strings\r\n"),
        (b"*1\r\n$99999999999\r\n".to_vec(), "-ERR Protocol error: a bulk string is longer"),
        (b"*9\xff\xfe\r\n".to_vec(), "-ERR Protocol error: invalid length or number\r\n"),
    ];
    for (bytes, expected) in cases {
        let answer = said(server, &bytes);
        assert!(
            answer.starts_with(expected),
            "{}: {answer}",
            bytes[..30.min(bytes.len())].escape_ascii()
        );
    }
    lives(server);
}
