#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rudolph_fuzz_checks::key(bytes));
