//! The whole bench in its short form.

use std::path::Path;
use std::process::Command;

#[test]
fn the_quick_form_measures_every_way_and_writes_every_file() {
    let results = Path::new(env!("CARGO_TARGET_TMPDIR")).join("choosing-results");
    _ = std::fs::remove_dir_all(&results);
    let mut bench = Command::new(env!("CARGO_BIN_EXE_rudolph-choice-bench"));
    let output = bench.arg("--quick").arg("--results").arg(&results).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let folder = results.join("choosing");
    let page = std::fs::read_to_string(folder.join("table.md")).unwrap();
    assert!(page.contains("A quick run"), "{page}");
    // In the order of the page: what a choice costs, what is kept, what building anew costs.
    let rows = |way: &str| -> Vec<Vec<f64>> {
        let row = |line: &str| line.split(['|', '*', ' ']).filter_map(|n| n.parse().ok()).collect();
        let names = [format!("| {way} "), format!("| **{way}** ")];
        page.lines()
            .filter(|line| names.iter().any(|name| line.starts_with(name)))
            .map(row)
            .collect()
    };
    for way in ["ours", "ours_whole", "array", "maglev", "jump", "ring", "ketama", "scoring"] {
        let rows = rows(way);
        let [choosing, memory, building] = rows.as_slice() else {
            panic!("{way}: {page}");
        };
        assert!(choosing.len() == 8 && building.len() == 8, "{way}: {page}");
        assert!(choosing.iter().all(|ns| *ns > 0.0), "{way}: {page}");
        // A ring has 100 points of 16 bytes for each of 10 to 5,000 servers; a hash and a modulo keep nothing.
        match way {
            "ring" => assert!(memory[0] >= 15.6 && memory[7] >= 7_812.5, "{page}"),
            "array" => assert_eq!(memory, &[0.0; 8], "{page}"),
            _ => assert_eq!(memory.len(), 8, "{way}: {page}"),
        }
    }
    assert!(std::fs::read(folder.join("choosing.png")).unwrap().starts_with(b"\x89PNG"));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        printed.lines().any(|line| line.starts_with("figure choice_ns_ours_5000 ")),
        "{printed}"
    );
}
