//! RESP2 as clients send it: arrays of bulk strings, or a line of words. Errors are in Redis's own words.

use super::answer::bulk;
use super::number;
use super::{Op, Round, Span, Step, Sum};
use crate::Limits;

/// Of a line of words, as in Redis.
const MAX_INLINE_BYTES: usize = 64 << 10;
/// A count or a length has fewer digits.
const MAX_NUMBER_LINE: usize = 32;
/// No command here takes nearly as many.
const MAX_ARGUMENTS: u64 = 1024;
/// Filling more at once would keep a partition from its clients for many seconds.
const MAX_POPULATE: u64 = 10_000_000;
/// How much of a client's words an error repeats.
const ECHOED_BYTES: usize = 128;

#[inline]
pub(super) fn next(input: &[u8], limits: &Limits, round: &mut Round) -> Step {
    round.arguments.clear();
    let read = match input.first() {
        None => return Step::Partial,
        Some(b'*') => array(input, limits, &mut round.arguments),
        Some(_) => inline(input, &mut round.arguments),
    };
    match read {
        Ok(Some(took)) => carry_out(input, took, limits, round),
        Ok(None) => Step::Partial,
        Err(problem) => {
            round.say(format!("-ERR Protocol error: {problem}\r\n").as_bytes());
            Step::Last(input.len())
        }
    }
}

/// How many bytes the request has, if it is whole; else what is wrong with it.
type Read = Result<Option<usize>, String>;

#[inline]
fn array(input: &[u8], limits: &Limits, arguments: &mut Vec<Span>) -> Read {
    let Some((count, mut at)) = line(input, 1, "too big mbulk count string")? else {
        return Ok(None);
    };
    if count == b"-1" {
        return Ok(Some(at));
    }
    let count = number::read(count).filter(|count| *count <= MAX_ARGUMENTS);
    let count = count.ok_or_else(|| "invalid multibulk length".to_owned())?;
    for _ in 0..count {
        match input.get(at) {
            None => return Ok(None),
            Some(b'$') => {}
            Some(other) => {
                return Err(format!("expected '$', got '{}'", other.escape_ascii()));
            }
        }
        let Some((length, start)) = line(input, at + 1, "too big bulk count string")? else {
            return Ok(None);
        };
        let longest = limits.value_bytes.max(limits.key_bytes) as u64;
        let length = number::read(length).filter(|length| *length <= longest);
        let end = start + length.ok_or_else(|| "invalid bulk length".to_owned())? as usize;
        if input.len() < end + 2 {
            return Ok(None);
        }
        arguments.push(Span { start, end });
        at = end + 2;
    }
    Ok(Some(at))
}

/// A short line from `from` on, and where the next one begins.
#[inline]
fn line<'a>(
    input: &'a [u8],
    from: usize,
    too_long: &str,
) -> Result<Option<(&'a [u8], usize)>, String> {
    let rest = &input[from.min(input.len())..];
    let window = &rest[..rest.len().min(MAX_NUMBER_LINE)];
    match window.iter().position(|byte| *byte == b'\n') {
        Some(end) => {
            let text = &window[..end];
            Ok(Some((text.strip_suffix(b"\r").unwrap_or(text), from + end + 1)))
        }
        None if window.len() == MAX_NUMBER_LINE => Err(too_long.to_owned()),
        None => Ok(None),
    }
}

fn inline(input: &[u8], arguments: &mut Vec<Span>) -> Read {
    let window = &input[..input.len().min(MAX_INLINE_BYTES)];
    let Some(end) = window.iter().position(|byte| *byte == b'\n') else {
        return match window.len() {
            MAX_INLINE_BYTES => Err("too big inline request".to_owned()),
            _ => Ok(None),
        };
    };
    let mut start = 0;
    for (at, byte) in input[..=end].iter().enumerate() {
        if byte.is_ascii_whitespace() {
            if start < at {
                arguments.push(Span { start, end: at });
            }
            start = at + 1;
        }
    }
    match arguments.len() as u64 {
        0..=MAX_ARGUMENTS => Ok(Some(end + 1)),
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
        return Step::Last(took);
    } else {
        rarer(input, round);
    }
    Step::Took(took)
}

fn fits(key: Span, limits: &Limits, round: &mut Round) -> bool {
    let fits = key.end - key.start <= limits.key_bytes;
    if !fits {
        let problem = format!("-ERR key is longer than {} bytes\r\n", limits.key_bytes);
        round.say(problem.as_bytes());
    }
    fits
}

/// What is not on the path of a measured request.
fn rarer(input: &[u8], round: &mut Round) {
    let arguments = std::mem::take(&mut round.arguments);
    let words: Vec<&[u8]> = arguments.iter().map(|span| span.of(input)).collect();
    let upper = words[0].to_ascii_uppercase();
    match (upper.as_slice(), &words[1..]) {
        (b"PING", []) => round.say(b"+PONG\r\n"),
        (b"PING" | b"ECHO", [text]) => say_bulk(round, text),
        (b"DBSIZE", []) => round.ops.push(Op::Sum(Sum::Count)),
        (b"SELECT", [b"0"]) => round.say(b"+OK\r\n"),
        (b"SELECT", [_]) => round.say(b"-ERR DB index is out of range\r\n"),
        (b"CONFIG", [get, names @ ..]) if get.eq_ignore_ascii_case(b"GET") && !names.is_empty() => {
            config(names, round);
        }
        (b"COMMAND", [count]) if count.eq_ignore_ascii_case(b"COUNT") => round.say(b":11\r\n"),
        (b"COMMAND", _) => round.say(b"*0\r\n"),
        (b"CLIENT", [what, _, ..])
            if [&b"SETNAME"[..], b"SETINFO"].iter().any(|set| what.eq_ignore_ascii_case(set)) =>
        {
            round.say(b"+OK\r\n");
        }
        (b"SET", [_, _, _, ..]) => round.say(b"-ERR syntax error\r\n"),
        (b"DEBUG", [what, rest @ ..]) if what.eq_ignore_ascii_case(b"POPULATE") => {
            populate(rest, &arguments[2..], round);
        }
        (b"DEBUG" | b"CONFIG" | b"CLIENT", [what, ..]) => {
            let problem = format!("-ERR unknown subcommand '{}'.\r\n", echo(what));
            round.say(problem.as_bytes());
        }
        (
            b"PING" | b"ECHO" | b"GET" | b"SET" | b"SELECT" | b"DBSIZE" | b"CONFIG" | b"DEBUG"
            | b"CLIENT",
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

/// `DEBUG POPULATE count [prefix [size]]`.
fn populate(words: &[&[u8]], spans: &[Span], round: &mut Round) {
    let (count, size) = match words {
        [count] | [count, _] => (number::read(count), Some(0)),
        [count, _, size] => (number::read(count), number::read(size)),
        _ => {
            round.say(b"-ERR wrong number of arguments for 'debug|populate' command\r\n");
            return;
        }
    };
    let (count, size) = (count.filter(|n| *n <= MAX_POPULATE), size.filter(|n| *n <= 1 << 20));
    let (Some(count), Some(size)) = (count, size) else {
        round.say(b"-ERR value is not an integer or out of range\r\n");
        return;
    };
    let prefix = spans.get(1).copied();
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
