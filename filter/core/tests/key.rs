//! Keys from every source, as clients really send them.

use rudolph_core::key::{HeaderSource, KeyFinder, KeySource, MAX_KEY_BYTES};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

struct Answer<F>(F);

impl<F: Fn(&str) -> Option<Vec<u8>>> HeaderSource for Answer<F> {
    fn header(&mut self, name: &str) -> Option<Vec<u8>> {
        (self.0)(name)
    }
}

fn find(sources: Vec<KeySource>, headers: Vec<(&'static str, &'static [u8])>) -> Option<Vec<u8>> {
    let finder = KeyFinder { sources, hash_tag: true };
    finder.find(&mut Answer(|name: &str| {
        let (_, value) = headers.iter().find(|(found, _)| *found == name)?;
        Some(value.to_vec())
    }))
}

#[test]
fn the_first_present_source_wins() {
    let sources = || vec![KeySource::Header("x-a".into()), KeySource::Authority];
    let both = vec![("x-a", &b"1"[..]), (":authority", b"host")];
    assert_eq!(find(sources(), both).unwrap(), b"1");
    assert_eq!(find(sources(), vec![(":authority", b"host")]).unwrap(), b"host");
    assert_eq!(find(sources(), vec![("x-a", b"")]), None, "empty is absent");
}

#[test]
fn cookies() {
    let from = |cookie: &'static [u8]| {
        find(vec![KeySource::Cookie("id".into())], vec![("cookie", cookie)])
    };
    assert_eq!(from(b"a=1; id=7; b=2").unwrap(), b"7");
    assert_eq!(from(b"xid=1;id=\"q\"").unwrap(), b"q");
    assert_eq!(from(b"id"), None);
    assert_eq!(from(b"id=\xff\xfe").unwrap(), b"\xff\xfe");
    assert_eq!(from(b"id=\"").unwrap(), b"\"", "a lone quote is a value");
}

#[test]
fn paths_and_queries() {
    let at = |source: KeySource, path: &'static [u8]| find(vec![source], vec![(":path", path)]);
    assert_eq!(at(KeySource::PathSegment(2), b"/kv/u7?x=1").unwrap(), b"u7");
    assert_eq!(at(KeySource::PathSegment(3), b"/kv/u7"), None);
    assert_eq!(at(KeySource::PathSegment(1), b"*"), None);
    assert_eq!(at(KeySource::Path, b"/kv/u7?x=1").unwrap(), b"/kv/u7");
    let user = || KeySource::QueryParameter("user".into());
    assert_eq!(at(user(), b"/?a=1&user=%61+b#f").unwrap(), b"a b");
    assert_eq!(at(user(), b"/?user=%6").unwrap(), b"%6");
    assert_eq!(at(user(), b"/user=1"), None);
}

#[test]
fn hash_tags_follow_the_first_pair_of_braces() {
    let key = |value: &'static [u8]| {
        find(vec![KeySource::Header("k".into())], vec![("k", value)]).unwrap()
    };
    assert_eq!(key(b"{u7}.cart"), b"u7");
    assert_eq!(key(b"{}.cart"), b"{}.cart");
    assert_eq!(key(b"u{7"), b"u{7");
    assert_eq!(key(b"a{b}{c}"), b"b");
}

#[test]
fn an_oversized_key_is_cut() {
    let finder = KeyFinder { sources: vec![KeySource::Path], hash_tag: false };
    let long = |_: &str| Some(vec![b'k'; MAX_KEY_BYTES * 3]);
    let key = finder.find(&mut Answer(long)).unwrap();
    assert_eq!(key.len(), MAX_KEY_BYTES);
}
