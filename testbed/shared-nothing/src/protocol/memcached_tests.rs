use rudolph_workload::SplitMix64;

use crate::protocol::Protocol;
use crate::protocol::resp::tests::read_in_pieces;

fn whole(stream: &[u8]) -> (Vec<String>, bool) {
    read_in_pieces(Protocol::Memcached, stream, &[])
}

#[test]
fn commands_are_read() {
    let (told, ended) = whole(
        b"set a 7 0 4\r\n\r\n\0x\r\nset b 0 0 0 noreply\r\n\r\nget a b\r\nversion\r\nstats\r\nquit\r\n",
    );
    assert!(ended);
    let version = format!(r"say VERSION {}\r\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        told,
        [
            r"set a = \r\n\x00x flags 7",
            "set b =  flags 0 quiet",
            "get a",
            "get b",
            r"say END\r\n",
            &version,
            "Stats",
        ]
    );
}

#[test]
fn what_cannot_be_done_is_refused_and_the_next_is_read() {
    let long_key = format!("get {}\r\n", "k".repeat(21));
    for (request, refusal) in [
        ("fly\r\n", "ERROR"),
        ("\r\n", "ERROR"),
        ("get\r\n", "ERROR"),
        (&long_key, "CLIENT_ERROR bad command line format"),
        ("set a 0 0 x\r\n", "CLIENT_ERROR bad command line format"),
        ("set a 0 0 -1\r\n", "CLIENT_ERROR bad command line format"),
        ("set a 0 0 1 loudly\r\n", "CLIENT_ERROR bad command line format"),
        ("set a 4294967296 0 1\r\nx\r\n", "CLIENT_ERROR bad command line format"),
        (
            "set a 0 60 1\r\nx\r\n",
            "CLIENT_ERROR exptime must be 0: entries leave when room is needed",
        ),
        ("set a 0 0 1\r\nxyz", "CLIENT_ERROR bad data chunk"),
    ] {
        let (told, ended) = whole(format!("{request}get b\r\n").as_bytes());
        assert_eq!(told, [&format!(r"say {refusal}\r\n"), "get b", r"say END\r\n"], "{request:?}");
        assert!(!ended);
    }
}

#[test]
fn data_that_is_too_large_is_dropped_unread() {
    let stream = [&b"set a 0 0 1001\r\n"[..], &[b'\n'; 1003], b"get b\r\n"].concat();
    let expected = whole(&stream);
    assert_eq!(
        expected.0,
        [r"say SERVER_ERROR object too large for cache\r\n", "get b", r"say END\r\n"]
    );
    for cut in 0..stream.len() {
        assert_eq!(read_in_pieces(Protocol::Memcached, &stream, &[cut]), expected, "cut at {cut}");
    }
    assert_eq!(whole(b"set a 0 0 18446744073709551615\r\nget b\r\n").0.len(), 1);
}

#[test]
fn a_line_without_end_ends_the_connection() {
    let (told, ended) = whole(&[b'a'; 9000]);
    assert_eq!((told, ended), (vec![r"say CLIENT_ERROR line too long\r\n".to_owned()], true));
}

#[test]
fn random_bytes_never_panic_and_pieces_do_not_matter_to_them() {
    let alphabet: [&[u8]; 12] = [
        b"set a 0 0 3\r\n",
        b"get ",
        b"\r\n",
        b"abc\r\n",
        b"1",
        b"set ",
        b" ",
        b"k",
        b"0 0 ",
        b"quit",
        b"\0",
        b"noreply",
    ];
    for seed in 0..2_000 {
        let mut random = SplitMix64::new(seed);
        let mut stream = Vec::new();
        for _ in 0..random.next_below(40) {
            stream.extend_from_slice(alphabet[random.next_below(12) as usize]);
        }
        let mut ends: Vec<usize> =
            (0..4).map(|_| random.next_below(stream.len() as u64 + 1) as usize).collect();
        ends.sort_unstable();
        let pieces = read_in_pieces(Protocol::Memcached, &stream, &ends);
        assert_eq!(
            whole(&stream),
            pieces,
            "seed {seed}: {} cut at {ends:?}",
            stream.escape_ascii()
        );
    }
}
