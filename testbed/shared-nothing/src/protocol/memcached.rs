//! Memcached's text protocol: get, set, version, stats, quit. Errors are in memcached's own words.

use super::number;
use super::{Op, Round, Span, Step, Sum};
use crate::Limits;

/// Of a command with all its keys.
const MAX_LINE_BYTES: usize = 8 << 10;
/// The protocol's own bound.
const MAX_KEY_BYTES: usize = 250;

const BAD_FORMAT: &[u8] = b"CLIENT_ERROR bad command line format\r\n";

pub(super) fn next(input: &[u8], from: usize, limits: &Limits, round: &mut Round) -> Step {
    let window = &input[from..input.len().min(from + MAX_LINE_BYTES)];
    let Some(length) = window.iter().position(|byte| *byte == b'\n') else {
        if window.len() < MAX_LINE_BYTES {
            return Step::Partial;
        }
        round.say(b"CLIENT_ERROR line too long\r\n");
        return Step::Last;
    };
    let line = &window[..length];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    round.arguments.clear();
    split(line, from, &mut round.arguments);
    let took = length + 1;
    let Some((name, rest)) = round.arguments.split_first() else {
        round.say(b"ERROR\r\n");
        return Step::Took(took);
    };
    match (name.of(input), rest) {
        (b"get", [_, ..]) => get(limits, round),
        (b"set", [_, _, _, _] | [_, _, _, _, _]) => return set(input, from, took, limits, round),
        (b"version", []) => {
            round.say(concat!("VERSION ", env!("CARGO_PKG_VERSION"), "\r\n").as_bytes());
        }
        (b"stats", []) => round.ops.push(Op::Sum(Sum::Stats)),
        (b"quit", []) => return Step::Last,
        _ => round.say(b"ERROR\r\n"),
    }
    Step::Took(took)
}

/// The words of a line that stands at `from`.
fn split(line: &[u8], from: usize, words: &mut Vec<Span>) {
    let mut start = 0;
    for at in 0..=line.len() {
        if line.get(at).is_none_or(|byte| *byte == b' ') {
            if start < at {
                words.push(Span { start: from + start, end: from + at });
            }
            start = at + 1;
        }
    }
}

fn key_fits(key: Span, limits: &Limits) -> bool {
    key.len() <= MAX_KEY_BYTES.min(limits.key_bytes as usize)
}

/// Each key is an operation of its own, and the END another: so they meet again in order.
fn get(limits: &Limits, round: &mut Round) {
    if !round.arguments[1..].iter().all(|key| key_fits(*key, limits)) {
        round.say(BAD_FORMAT);
        return;
    }
    for key in &round.arguments[1..] {
        round.ops.push(Op::Get { key: *key });
    }
    round.say(b"END\r\n");
}

/// `set key flags exptime bytes [noreply]`, and the data on a line of its own.
fn set(input: &[u8], from: usize, took: usize, limits: &Limits, round: &mut Round) -> Step {
    let key = round.arguments[1];
    let word = |place: usize| round.arguments[place].of(input);
    let numbers = (number::read(word(2)), number::read(word(3)), number::read(word(4)));
    let quiet = match round.arguments.get(5).map(|word| word.of(input)) {
        None => Some(false),
        Some(b"noreply") => Some(true),
        Some(_) => None,
    };
    let ((Some(flags), expires, Some(bytes)), Some(quiet)) = (numbers, quiet) else {
        round.say(BAD_FORMAT);
        return Step::Took(took);
    };
    let problem = if !key_fits(key, limits) || flags > u64::from(u32::MAX) {
        Some(BAD_FORMAT)
    } else if expires != Some(0) {
        Some(&b"CLIENT_ERROR exptime must be 0: entries leave when room is needed\r\n"[..])
    } else if bytes > u64::from(limits.value_bytes) {
        Some(&b"SERVER_ERROR object too large for cache\r\n"[..])
    } else {
        None
    };
    if let Some(problem) = problem {
        if !quiet {
            round.say(problem);
        }
        let skip = usize::try_from(bytes).unwrap_or(usize::MAX).saturating_add(2);
        return Step::Drop { took, skip };
    }
    let start = from + took;
    let end = start + bytes as usize;
    match input.get(end..end + 2) {
        None => return Step::Partial,
        Some(b"\r\n") => {
            let value = Span { start, end };
            round.ops.push(Op::Set { key, value, flags: flags as u32, quiet });
        }
        Some(_) => round.say(b"CLIENT_ERROR bad data chunk\r\n"),
    }
    Step::Took(end + 2 - from)
}

#[cfg(test)]
#[path = "memcached_tests.rs"]
mod tests;
