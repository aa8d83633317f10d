//! What clients get, over sockets, from both engines and any number of threads.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests may fail them

mod support;

use std::collections::HashMap;
use std::net::Shutdown;

use rudolph_shared_nothing::{Limits, Protocol};
use rudolph_workload::SplitMix64;
use support::{Client, SHAPES, command, start};

fn random_bytes(random: &mut SplitMix64, most: u64) -> Vec<u8> {
    (0..random.next_below(most + 1)).map(|_| random.next_u64() as u8).collect()
}

fn key_of(random: &mut SplitMix64) -> Vec<u8> {
    format!("key\r\n\0{}", random.next_below(300)).into_bytes()
}

fn answer(value: Option<&Vec<u8>>) -> Vec<u8> {
    match value {
        Some(value) => [format!("${}\r\n", value.len()).as_bytes(), value, b"\r\n"].concat(),
        None => b"$-1\r\n".to_vec(),
    }
}

/// A random pipeline and what a plain map says to it.
fn pipeline(random: &mut SplitMix64, model: &mut HashMap<Vec<u8>, Vec<u8>>) -> (Vec<u8>, Vec<u8>) {
    let (mut asked, mut answers) = (Vec::new(), Vec::new());
    for _ in 0..=random.next_below(200) {
        let key = key_of(random);
        match random.next_below(10) {
            0..5 => {
                let most = if random.next_below(50) == 0 { 100_000 } else { 40 };
                let value = random_bytes(random, most);
                asked.extend(command(&[b"SET", &key, &value]));
                answers.extend(b"+OK\r\n");
                model.insert(key, value);
            }
            5..8 => {
                asked.extend(command(&[b"get", &key]));
                answers.extend(answer(model.get(&key)));
            }
            8 => {
                let keys: Vec<Vec<u8>> =
                    (0..=random.next_below(90)).map(|_| key_of(random)).collect();
                let words: Vec<&[u8]> =
                    [&b"MGET"[..]].into_iter().chain(keys.iter().map(Vec::as_slice)).collect();
                asked.extend(command(&words));
                answers.extend(format!("*{}\r\n", keys.len()).as_bytes());
                for key in &keys {
                    answers.extend(answer(model.get(key)));
                }
            }
            _ => {
                asked.extend(b"DBSIZE\r\n");
                answers.extend(format!(":{}\r\n", model.len()).as_bytes());
            }
        }
    }
    (asked, answers)
}

#[test]
fn answers_are_those_of_a_plain_map_however_the_bytes_are_cut() {
    for shape in SHAPES {
        let server = start(shape, Limits::default());
        let mut model = HashMap::new();
        for seed in 0..30 {
            let mut random = SplitMix64::new(seed);
            let mut client = Client::connect(&server, Protocol::Redis);
            let (asked, answers) = pipeline(&mut random, &mut model);
            let mut writer = client.stream.try_clone().unwrap();
            let sender = std::thread::spawn(move || {
                let mut rest = &asked[..];
                while !rest.is_empty() {
                    let (piece, later) =
                        rest.split_at(rest.len().min(1 + random.next_below(20_000) as usize));
                    std::io::Write::write_all(&mut writer, piece).unwrap();
                    rest = later;
                }
                writer.shutdown(Shutdown::Write).unwrap();
            });
            let got = client.rest();
            sender.join().unwrap();
            assert!(
                got == answers,
                "seed {seed}, {shape:?}: {} bytes for {}",
                got.len(),
                answers.len()
            );
        }
    }
}

#[test]
fn ten_thousand_in_one_pipeline_are_answered_in_order() {
    for shape in SHAPES {
        let server = start(shape, Limits::default());
        let mut client = Client::connect(&server, Protocol::Redis);
        let mut asked = Vec::new();
        for i in 0..10_000 {
            let text = i.to_string();
            asked.extend(command(&[b"SET", text.as_bytes(), text.as_bytes()]));
            asked.extend(command(&[b"GET", text.as_bytes()]));
        }
        let mut writer = client.stream.try_clone().unwrap();
        let sender =
            std::thread::spawn(move || std::io::Write::write_all(&mut writer, &asked).unwrap());
        for i in 0..10_000 {
            assert_eq!(client.line(), "+OK");
            assert_eq!(client.bulk(), Some(i.to_string().into_bytes()), "{shape:?}");
        }
        sender.join().unwrap();
    }
}

#[test]
fn both_protocols_see_the_same_keys() {
    for shape in SHAPES {
        let server = start(shape, Limits::default());
        let mut redis = Client::connect(&server, Protocol::Redis);
        let mut memcached = Client::connect(&server, Protocol::Memcached);
        for i in 0..50 {
            let set = format!("set key{i} {i} 0 6\r\n\r\n\0\r\n{}\r\n", i % 10);
            assert_eq!(memcached.ask(set.as_bytes()), "STORED");
            redis.send(&command(&[b"GET", format!("key{i}").as_bytes()]));
            assert_eq!(redis.bulk().unwrap(), format!("\r\n\0\r\n{}", i % 10).as_bytes());
        }
        // Several keys of several partitions, in the order asked, missing ones left out.
        memcached.send(b"get key7 nothing key3 key40\r\n");
        for i in [7, 3, 40] {
            assert_eq!(memcached.line(), format!("VALUE key{i} {i} 6"));
            memcached.bytes(8);
        }
        assert_eq!(memcached.line(), "END");
        assert_eq!(redis.ask(b"DBSIZE\r\n"), ":50");
        let mut stats = vec![memcached.ask(b"stats\r\n")];
        while stats.last().unwrap() != "END" {
            stats.push(memcached.line());
        }
        assert!(stats.contains(&"STAT curr_items 50".to_owned()), "{stats:?}");
    }
}

#[test]
fn populate_fills_all_partitions_and_keeps_what_is_there() {
    for shape in SHAPES {
        let server = start(shape, Limits::default());
        let mut client = Client::connect(&server, Protocol::Redis);
        assert_eq!(client.ask(b"SET key:5 mine\r\n"), "+OK");
        client.send(b"DEBUG POPULATE 1000\r\nDEBUG POPULATE 10 other 12\r\nDBSIZE\r\nGET key:5\r\nGET key:999\r\nGET other:3\r\n");
        assert_eq!((client.line(), client.line()), ("+OK".to_owned(), "+OK".to_owned()));
        assert_eq!(client.line(), ":1010");
        assert_eq!(client.bulk().unwrap(), b"mine");
        assert_eq!(client.bulk().unwrap(), b"value:999");
        assert_eq!(client.bulk().unwrap(), b"value:3\0\0\0\0\0");
    }
}
