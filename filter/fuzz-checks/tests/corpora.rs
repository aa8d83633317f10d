//! Every input of the corpora, through its check. What a fuzzer found is added there and stays.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::path::Path;

fn replay(corpus: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(corpus);
    let mut inputs = 0;
    for entry in std::fs::read_dir(&folder).expect("the corpus is there") {
        let path = entry.expect("the folder can be read").path();
        println!("{}", path.display());
        let bytes = std::fs::read(&path).expect("the input can be read");
        check(&bytes);
        // And what is near it: every cut, every byte changed.
        for at in 0..bytes.len().min(400) {
            check(&bytes[..at]);
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            check(&changed);
        }
        inputs += 1;
    }
    assert!(inputs > 2, "{corpus} has {inputs} inputs");
}

#[test]
fn configurations() {
    replay("config", rudolph_fuzz_checks::config);
}

#[test]
fn admin_answers() {
    replay("admin", rudolph_fuzz_checks::admin);
}

#[test]
fn shared_values() {
    replay("shared_data", rudolph_fuzz_checks::shared_data);
}

#[test]
fn keys() {
    replay("key", rudolph_fuzz_checks::key);
}

#[test]
fn trace_lines() {
    replay("trace", rudolph_fuzz_checks::trace);
}
