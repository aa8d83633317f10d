//! A bad scenario is refused in one line that names the field and what is allowed.

use rudolph_simulator::scenario::sweep;

#[test]
fn each_refusal_names_its_field() {
    let cases = [
        ("seconds = 0", "seconds is 0; allowed: 0.001 to 100000"),
        ("seeds = []", "seeds is 0; allowed: 1 to 1000"),
        ("secnds = 3", "unknown field `secnds`"),
        ("seconds = \"a\"", "seconds: invalid type: string \"a\""),
        ("[servers]\ncount = 0", "servers.count is 0; allowed: 1 to 5000"),
        (
            "[servers]\nslow = [{ server = 5, speed = 1.0 }]",
            "servers.slow[0].server is 5; allowed: 0 to 4",
        ),
        ("[servers]\nhit_ms = nan", "servers.hit_ms is NaN; allowed"),
        ("[arrivals]\nclients = 1\nopen_rps = 1", "arrivals is both"),
        ("arrivals = {}", "arrivals is neither"),
        ("strategies = [\"sprad\"]", "strategies[0]: \"sprad\" is no strategy; allowed: spread,"),
        ("strategies = [\"pin\", \"pin\"]", "strategies[1].name is pin; allowed: each name once"),
        (
            "strategies = [\"maglev_bounded_50\"]",
            "bounded load \"50\" is not allowed; allowed: 100 to 10000 per cent",
        ),
        (
            "strategies = [{ name = \"x\", filter = { strategy = \"rotation\", rotation = { lambda = -1 } } }]",
            "strategies[0].filter: configuration: rotation.lambda: -1 is not allowed",
        ),
        ("[gateways]\ncount = 1000\ntalk = true", "gateways.talk is true with 1000 workers"),
        ("[workload]\nkeys = { kind = \"zipf\", count = 0, alpha = 1 }", "keys.count is 0"),
        ("[workload]\nkeys = { alpha = 99 }", "keys.alpha is 99"),
        ("[workload]\nread_fraction = 1.5", "read_fraction is 1.5"),
        ("[[events]]\nat_s = 1\nserver = 9\nchange = \"up\"", "events[0].server is 9"),
        (
            "[[events]]\nat_s = 1\nserver = 1\nchange = \"gone\"",
            "events[0].change: unknown variant",
        ),
        ("[[sweep]]\nfields = [\"seconds\"]\nrows = []", "sweep is 0 scenarios"),
        (
            "[[sweep]]\nfields = [\"seconds\"]\nrows = [[1, 2]]",
            "sweep[0].rows is a row of 2 values",
        ),
        ("seconds = ", "line 1"),
    ];
    for (text, expected) in cases {
        let refusal = sweep::read(text).map(|_| ()).unwrap_err().to_string();
        assert!(refusal.contains(expected), "{text:?} gave {refusal:?}, without {expected:?}");
        assert!(!refusal.contains('\n'), "{refusal:?}");
    }
}

#[test]
fn a_sweep_is_every_row_with_every_other() {
    let text = "[[sweep]]\nfields = [\"servers.count\", \"arrivals.clients\"]\nrows = [[5, 64], [20, 256]]\n\
        [[sweep]]\nfields = [\"workload.keys.alpha\"]\nrows = [[0.5], [1.0], [1.5]]\n";
    let variants = sweep::read(text).unwrap();
    assert_eq!(variants.len(), 6);
    assert_eq!(variants[5].scenario.servers.count, 20);
    assert_eq!(variants[5].scenario.arrivals.clients, Some(256));
    assert_eq!(variants[5].label.len(), 3);
}
