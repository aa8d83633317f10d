//! RESP2 as clients send it: arrays of bulk strings, or a line of words. Errors are in Redis's own words.

use super::answer::bulk;
use super::number;
use super::{Op, Round, Span, Step, Sum};
use crate::Limits;

/// Of a line of words, as in Redis.
const MAX_INLINE_BYTES: usize = 64 << 10;
/// A count or a length has fewer digits.
const MAX_NUMBER_LINE: usize = 32;
/// What a client sends that asks nothing.
const NO_ARRAY: &[u8] = b"*-1\r\n";
/// No command here takes nearly as many.
const MAX_ARGUMENTS: u64 = 1024;
/// Filling more at once would keep a partition from its clients for many seconds.
const MAX_POPULATE: u64 = 10_000_000;
const MAX_POPULATE_BYTES: u64 = 8 << 30;
/// No request is longer than its longest argument may be and so much.
const MAX_BESIDES_LONGEST: usize = 64 << 10;
/// How much of a client's words an error repeats.
const ECHOED_BYTES: usize = 128;

#[inline]
pub(super) fn next(input: &[u8], from: usize, limits: &Limits, round: &mut Round) -> Step {
    round.arguments.clear();
    let read = match input.get(from) {
        None => return Step::Partial,
        Some(b'*') => array(input, from, limits, &mut round.arguments),
        Some(_) => inline(input, from, &mut round.arguments),
    };
    match read {
        Ok(Some(end)) => carry_out(input, end - from, limits, round),
        Ok(None) => Step::Partial,
        Err(problem) => {
            round.say(format!("-ERR Protocol error: {problem}\r\n").as_bytes());
            Step::Last
        }
    }
}

/// Where the request ends, if it is whole; else what is wrong with it.
type Read = Result<Option<usize>, String>;

#[inline]
fn array(input: &[u8], from: usize, limits: &Limits, arguments: &mut Vec<Span>) -> Read {
    if input[from..].starts_with(NO_ARRAY) {
        return Ok(Some(from + NO_ARRAY.len()));
    }
    let Some((count, mut at)) =
        number_line(input, from + 1, MAX_ARGUMENTS, "mbulk count", "multibulk")?
    else {
        return Ok(None);
    };
    let longest = u64::from(limits.value_bytes.max(limits.key_bytes));
    for _ in 0..count {
        match input.get(at) {
            None => return Ok(None),
            Some(b'$') => {}
            Some(other) => {
                return Err(format!("expected '$', got '{}'", other.escape_ascii()));
            }
        }
        let Some((length, start)) = number_line(input, at + 1, longest, "bulk count", "bulk")?
        else {
            return Ok(None);
        };
        let end = start + length as usize;
        if end - from > longest as usize + MAX_BESIDES_LONGEST {
            return Err("too big request".to_owned());
        }
        if input.len() < end + 2 {
            return Ok(None);
        }
        arguments.push(Span { start, end });
        at = end + 2;
    }
    Ok(Some(at))
}

/// The number on a line that begins at `from`, of at most `most`, and where the next line begins. Redis's errors have two
/// words for it.
#[inline]
fn number_line(
    input: &[u8],
    from: usize,
    most: u64,
    count: &str,
    length: &str,
) -> Result<Option<(u64, usize)>, String> {
    let found = match number::short_line(input, from) {
        Some((number, next)) => Some((Some(number), next)),
        None => {
            let rest = &input[from.min(input.len())..];
            let window = &rest[..rest.len().min(MAX_NUMBER_LINE)];
            let end = window.iter().position(|byte| *byte == b'\n');
            if end.is_none() && window.len() == MAX_NUMBER_LINE {
                return Err(format!("too big {count} string"));
            }
            end.map(|end| {
                let text = window[..end].strip_suffix(b"\r").unwrap_or(&window[..end]);
                (number::read(text), from + end + 1)
            })
        }
    };
    match found {
        None => Ok(None),
        Some((Some(number), next)) if number <= most => Ok(Some((number, next))),
        Some(_) => Err(format!("invalid {length} length")),
    }
}

fn inline(input: &[u8], from: usize, arguments: &mut Vec<Span>) -> Read {
    let window = &input[from..input.len().min(from + MAX_INLINE_BYTES)];
    let Some(length) = window.iter().position(|byte| *byte == b'\n') else {
        return match window.len() {
            MAX_INLINE_BYTES => Err("too big inline request".to_owned()),
            _ => Ok(None),
        };
    };
    let (mut start, end) = (from, from + length + 1);
    for (at, byte) in (from..).zip(&input[from..end]) {
        if byte.is_ascii_whitespace() {
            if start < at {
                arguments.push(Span { start, end: at });
            }
            start = at + 1;
        }
    }
    match arguments.len() as u64 {
        0..=MAX_ARGUMENTS => Ok(Some(end)),
        _ => Err("too big inline request".to_owned()),
    }
}

#[inline]
fn carry_out(input: &[u8], took: usize, limits: &Limits, round: &mut Round) -> Step {
    let Some(name) = round.arguments.first().map(|name| name.of(input)) else {
        return Step::Took(took);
    };
    let is = |command: &str| name.eq_ignore_ascii_case(command.as_bytes());
    if let [_, key] = round.arguments[..]
        && is("GET")
    {
        if fits(key, limits, round) {
            round.ops.push(Op::Get { key });
        }
    } else if let [_, key, value] = round.arguments[..]
        && is("SET")
    {
        if fits(key, limits, round) {
            round.ops.push(Op::Set { key, value, flags: 0, quiet: false });
        }
    } else if is("QUIT") {
        round.say(b"+OK\r\n");
        return Step::Last;
    } else {
        rarer(input, limits, round);
    }
    Step::Took(took)
}

fn fits(key: Span, limits: &Limits, round: &mut Round) -> bool {
    let fits = key.len() <= limits.key_bytes as usize;
    if !fits {
        let problem = format!("-ERR key is longer than {} bytes\r\n", limits.key_bytes);
        round.say(problem.as_bytes());
    }
    fits
}

/// What is not on the path of a measured request.
fn rarer(input: &[u8], limits: &Limits, round: &mut Round) {
    let arguments = std::mem::take(&mut round.arguments);
    let words: Vec<&[u8]> = arguments.iter().map(|span| span.of(input)).collect();
    let upper = words[0].to_ascii_uppercase();
    match (upper.as_slice(), &words[1..]) {
        (b"PING", []) => round.say(b"+PONG\r\n"),
        (b"PING" | b"ECHO", [text]) => say_bulk(round, text),
        (b"MGET", [_, ..]) => many(&arguments[1..], limits, round),
        (b"DBSIZE", []) => round.ops.push(Op::Sum(Sum::Count)),
        (b"SELECT", [b"0"]) => round.say(b"+OK\r\n"),
        (b"SELECT", [_]) => round.say(b"-ERR DB index is out of range\r\n"),
        (b"CONFIG", [get, names @ ..]) if get.eq_ignore_ascii_case(b"GET") && !names.is_empty() => {
            config(names, round);
        }
        (b"COMMAND", [count]) if count.eq_ignore_ascii_case(b"COUNT") => round.say(b":12\r\n"),
        (b"COMMAND", _) => round.say(b"*0\r\n"),
        (b"CLIENT", [what, _, ..])
            if [&b"SETNAME"[..], b"SETINFO"].iter().any(|set| what.eq_ignore_ascii_case(set)) =>
        {
            round.say(b"+OK\r\n");
        }
        (b"SET", [_, _, _, ..]) => round.say(b"-ERR syntax error\r\n"),
        (b"DEBUG", [what, rest @ ..]) if what.eq_ignore_ascii_case(b"POPULATE") => {
            populate(rest, &arguments[2..], limits, round);
        }
        (b"DEBUG" | b"CONFIG" | b"CLIENT", [what, ..]) => {
            let problem = format!("-ERR unknown subcommand '{}'.\r\n", echo(what));
            round.say(problem.as_bytes());
        }
        (
            b"PING" | b"ECHO" | b"GET" | b"MGET" | b"SET" | b"SELECT" | b"DBSIZE" | b"CONFIG"
            | b"DEBUG" | b"CLIENT",
            _,
        ) => {
            let name = echo(words[0]).to_ascii_lowercase();
            let problem = format!("-ERR wrong number of arguments for '{name}' command\r\n");
            round.say(problem.as_bytes());
        }
        _ => unknown(&words, round),
    }
    round.arguments = arguments;
}

fn say_bulk(round: &mut Round, text: &[u8]) {
    let start = round.said.len();
    bulk(&mut round.said, text);
    round.ops.push(Op::Say { text: Span { start, end: round.said.len() } });
}

/// What redis-benchmark asks before it begins; of other settings there are none.
fn config(names: &[&[u8]], round: &mut Round) {
    let known = |name: &[u8]| match name.to_ascii_lowercase().as_slice() {
        b"save" => Some(("save", "")),
        b"appendonly" => Some(("appendonly", "no")),
        _ => None,
    };
    let found: Vec<(&str, &str)> = names.iter().filter_map(|name| known(name)).collect();
    let start = round.said.len();
    round.said.extend_from_slice(format!("*{}\r\n", found.len() * 2).as_bytes());
    for (name, value) in found {
        bulk(&mut round.said, name.as_bytes());
        bulk(&mut round.said, value.as_bytes());
    }
    round.ops.push(Op::Say { text: Span { start, end: round.said.len() } });
}

/// An array of what each key alone would be answered with.
fn many(keys: &[Span], limits: &Limits, round: &mut Round) {
    if !keys.iter().all(|key| fits(*key, limits, round)) {
        return;
    }
    round.say(format!("*{}\r\n", keys.len()).as_bytes());
    round.ops.extend(keys.iter().map(|key| Op::Get { key: *key }));
}

/// `DEBUG POPULATE count [prefix [size]]`.
fn populate(words: &[&[u8]], spans: &[Span], limits: &Limits, round: &mut Round) {
    let (count, size) = match words {
        [count] | [count, _] => (number::read(count), Some(0)),
        [count, _, size] => (number::read(count), number::read(size)),
        _ => {
            round.say(b"-ERR wrong number of arguments for 'debug|populate' command\r\n");
            return;
        }
    };
    let count = count.filter(|count| *count <= MAX_POPULATE);
    let size = size.filter(|size| *size <= u64::from(limits.value_bytes));
    let (Some(count), Some(size)) = (count, size) else {
        round.say(b"-ERR value is not an integer or out of range\r\n");
        return;
    };
    if count * size > MAX_POPULATE_BYTES {
        round.say(format!("-ERR more than {MAX_POPULATE_BYTES} bytes at once\r\n").as_bytes());
        return;
    }
    let prefix = spans.get(1).copied();
    if let Some(prefix) = prefix
        && !fits(prefix, limits, round)
    {
        return;
    }
    round.ops.push(Op::Sum(Sum::Populate { count, prefix, value_bytes: size as usize }));
}

fn unknown(words: &[&[u8]], round: &mut Round) {
    let mut arguments = String::new();
    for word in &words[1..] {
        if arguments.len() >= ECHOED_BYTES {
            break;
        }
        arguments += &format!("'{}' ", echo(word));
    }
    let name = echo(words[0]);
    let problem =
        format!("-ERR unknown command '{name}', with args beginning with: {arguments}\r\n");
    round.say(problem.as_bytes());
}

/// A client's own words in an error: no line of their own, and not all of them.
fn echo(word: &[u8]) -> String {
    let word = &word[..word.len().min(ECHOED_BYTES)];
    String::from_utf8_lossy(word).chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
#[path = "resp_tests.rs"]
pub(super) mod tests;
