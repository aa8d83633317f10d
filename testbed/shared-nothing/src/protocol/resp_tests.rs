use rudolph_workload::SplitMix64;

use crate::Limits;
use crate::protocol::{Op, Protocol, Round, Step, Sum};

/// What a stream asks, spelled out, and how it ends, when it comes in pieces of the given ends.
pub(in crate::protocol) fn read_in_pieces(
    protocol: Protocol,
    stream: &[u8],
    ends: &[usize],
) -> (Vec<String>, bool) {
    let limits = Limits { key_bytes: 20, value_bytes: 1000, connections: 1 };
    let (mut told, mut at, mut skip) = (Vec::new(), 0, 0_usize);
    let mut round = Round::default();
    for &end in ends.iter().chain([&stream.len()]) {
        loop {
            let dropped = skip.min(end - at);
            (at, skip) = (at + dropped, skip - dropped);
            round.clear();
            let step = if at == end {
                Step::Partial
            } else {
                protocol.next(&stream[..end], at, &limits, &mut round)
            };
            told.extend(round.ops.iter().map(|op| tell(*op, stream, &round)));
            match step {
                Step::Partial => {
                    assert!(round.ops.is_empty(), "half a request asks nothing");
                    break;
                }
                Step::Took(took) => at += took,
                Step::Drop { took, skip: more } => (at, skip) = (at + took, more),
                Step::Last => return (told, true),
            }
        }
    }
    (told, false)
}

fn tell(op: Op, input: &[u8], round: &Round) -> String {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string().replace("\\'", "'");
    match op {
        Op::Get { key } => format!("get {}", text(key.of(input))),
        Op::Set { key, value, flags, quiet } => {
            let (key, value) = (text(key.of(input)), text(value.of(input)));
            format!("set {key} = {value} flags {flags}{}", if quiet { " quiet" } else { "" })
        }
        Op::Say { text: said } => format!("say {}", text(said.of(&round.said))),
        Op::Sum(Sum::Populate { count, prefix, value_bytes }) => {
            let prefix = prefix.map_or("none".to_owned(), |prefix| text(prefix.of(input)));
            format!("populate {count} {prefix} {value_bytes}")
        }
        Op::Sum(sum) => format!("{sum:?}"),
    }
}

fn whole(stream: &[u8]) -> (Vec<String>, bool) {
    read_in_pieces(Protocol::Redis, stream, &[])
}

fn said(stream: &[u8]) -> String {
    whole(stream).0.join(" | ")
}

#[test]
fn commands_are_read() {
    let stream = b"*2\r\n$3\r\nGET\r\n$4\r\nk\r\n\0\r\n*3\r\n$3\r\nset\r\n$1\r\nk\r\n$0\r\n\r\nPING\r\n\r\n*0\r\n\
        *-1\r\n*5\r\n$5\r\nDEBUG\r\n$8\r\npopulate\r\n$2\r\n10\r\n$1\r\np\r\n$1\r\n8\r\n*1\r\n$6\r\nDBSIZE\r\n";
    let (told, ended) = whole(stream);
    assert!(!ended);
    assert_eq!(
        told,
        [r"get k\r\n\x00", "set k =  flags 0", r"say +PONG\r\n", "populate 10 p 8", "Count",]
    );
}

#[test]
fn many_keys_are_an_array_of_answers() {
    assert_eq!(
        said(b"MGET a\r\n*3\r\n$4\r\nmget\r\n$1\r\nb\r\n$1\r\nc\r\n"),
        r"say *1\r\n | get a | say *2\r\n | get b | get c"
    );
}

#[test]
fn what_redis_benchmark_asks_first_is_answered() {
    assert_eq!(
        said(b"*3\r\n$6\r\nCONFIG\r\n$3\r\nGET\r\n$4\r\nsave\r\n"),
        r"say *2\r\n$4\r\nsave\r\n$0\r\n\r\n"
    );
    assert_eq!(said(b"CONFIG GET nonsense\r\n"), r"say *0\r\n");
    assert_eq!(said(b"COMMAND DOCS\r\n"), r"say *0\r\n");
    assert_eq!(
        said(b"SELECT 0\r\nSELECT 1\r\n"),
        r"say +OK\r\n | say -ERR DB index is out of range\r\n"
    );
}

#[test]
fn what_cannot_be_done_is_refused_and_the_next_is_read() {
    for (request, refusal) in [
        ("GET\r\n", "wrong number of arguments for 'get' command"),
        ("GET a b\r\n", "wrong number of arguments for 'get' command"),
        ("SET a b EX 10\r\n", "syntax error"),
        ("FLY me\r\n", "unknown command 'FLY', with args beginning with: 'me' "),
        ("DEBUG SEGFAULT\r\n", "unknown subcommand 'SEGFAULT'."),
        ("DEBUG POPULATE many\r\n", "value is not an integer or out of range"),
        ("DEBUG POPULATE 99999999999\r\n", "value is not an integer or out of range"),
        ("DEBUG POPULATE 1 p 1001\r\n", "value is not an integer or out of range"),
        ("DEBUG POPULATE 10000000 p 1000\r\n", "more than 8589934592 bytes at once"),
        ("DEBUG POPULATE 1 012345678901234567890\r\n", "key is longer than 20 bytes"),
        ("GET 012345678901234567890\r\n", "key is longer than 20 bytes"),
        ("MGET a 012345678901234567890 b\r\n", "key is longer than 20 bytes"),
        ("MGET\r\n", "wrong number of arguments for 'mget' command"),
    ] {
        let (told, ended) = whole(format!("{request}PING\r\n").as_bytes());
        assert_eq!(told, [format!(r"say -ERR {refusal}\r\n"), r"say +PONG\r\n".to_owned()]);
        assert!(!ended);
    }
}

#[test]
fn an_error_is_one_line_whatever_it_repeats() {
    let (told, _) = whole(b"*2\r\n$4\r\nA\r\nB\r\n$3\r\n\r\n-\r\n");
    assert_eq!(told, [r"say -ERR unknown command 'A  B', with args beginning with: '  -' \r\n"]);
}

#[test]
fn nonsense_ends_the_connection() {
    let long_line = [b"GET ".to_vec(), vec![b'a'; 70_000]].concat();
    let argument = [&b"$1000\r\n"[..], &[b'a'; 1000], b"\r\n"].concat();
    let long_array = [b"*100\r\n".to_vec(), argument.repeat(70)].concat();
    for (stream, problem) in [
        (&b"*x\r\n"[..], "invalid multibulk length"),
        (b"*1025\r\n", "invalid multibulk length"),
        (b"*-2\r\n", "invalid multibulk length"),
        (b"*11111111111111111111111111111111111111", "too big mbulk count string"),
        (b"*1\r\n:1\r\n", "expected '$', got ':'"),
        (b"*1\r\n\xff", r"expected '$', got '\\xff'"),
        (b"*1\r\n$-1\r\n", "invalid bulk length"),
        (b"*1\r\n$1001\r\n", "invalid bulk length"),
        (b"*1\r\n$99999999999999999999\r\n", "invalid bulk length"),
        (&long_line, "too big inline request"),
        (&long_array, "too big request"),
    ] {
        let (told, ended) = whole(stream);
        assert_eq!(told, [format!(r"say -ERR Protocol error: {problem}\r\n")]);
        assert!(ended);
    }
}

#[test]
fn pieces_do_not_matter() {
    let stream = b"*3\r\n$3\r\nSET\r\n$3\r\na\r\n\r\n$12\r\n$3\r\nGET\r\n\0\xff*\r\n*2\r\n$3\r\nGET\r\n$3\r\na\r\n\r\n\
        GET inline\r\n*1\r\n$4\r\nPING\r\n*1\r\n!";
    let expected = whole(stream);
    assert!(expected.1, "{expected:?}");
    for cut in 0..=stream.len() {
        assert_eq!(read_in_pieces(Protocol::Redis, stream, &[cut]), expected, "cut at {cut}");
    }
    let each: Vec<usize> = (0..stream.len()).collect();
    assert_eq!(read_in_pieces(Protocol::Redis, stream, &each), expected);
}

#[test]
fn random_bytes_never_panic_and_pieces_do_not_matter_to_them() {
    let alphabet: [&[u8]; 12] =
        [b"*", b"$", b"\r\n", b"1", b"2", b"3", b"GET", b"SET", b"-1", b" ", b"\0", b"k"];
    for seed in 0..2_000 {
        let mut random = SplitMix64::new(seed);
        let mut stream = Vec::new();
        for _ in 0..random.next_below(40) {
            stream.extend_from_slice(alphabet[random.next_below(12) as usize]);
        }
        let mut ends: Vec<usize> =
            (0..4).map(|_| random.next_below(stream.len() as u64 + 1) as usize).collect();
        ends.sort_unstable();
        let (whole, pieces) = (whole(&stream), read_in_pieces(Protocol::Redis, &stream, &ends));
        assert_eq!(whole, pieces, "seed {seed}: {} cut at {ends:?}", stream.escape_ascii());
    }
}
