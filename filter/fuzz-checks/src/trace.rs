//! Lines of access logs, in which the simulator looks for keys.

use rudolph_simulator::trace::KeyOfLine;

/// A key is never empty; and by field, path or line it is a part of the line.
pub fn trace(line: &[u8]) {
    let within = |key: &[u8]| line.windows(key.len()).any(|part| part == key);
    for how in ["line", "path", "field:1", "field:3", "json:key", "regex:k=([^ ]*)"] {
        let Ok(way) = KeyOfLine::parse(how) else {
            assert!(how.is_empty(), "{how} is a way");
            continue;
        };
        let mut scratch = Vec::new();
        let found = way.find(line, &mut scratch).map(<[u8]>::to_vec);
        if let Some(key) = &found {
            assert!(!key.is_empty(), "{how}");
            assert!(how.starts_with("json") || within(key), "{how}: {key:?}");
        }
        let mut other = vec![b'x'; 100];
        assert_eq!(way.find(line, &mut other), found.as_deref(), "{how}: what was left matters");
    }
    if let Ok(text) = std::str::from_utf8(line)
        && let Err(refusal) = KeyOfLine::parse(text)
    {
        assert!(!refusal.is_empty());
    }
}
