//! The checker itself: what a register could have answered passes, and every planted violation is caught.

#[allow(dead_code, unreachable_pub, reason = "shared with other tests")]
#[path = "support/register.rs"]
mod register;

use register::{Event, What, is_linearizable};
use rudolph_workload::SplitMix64;

fn write(value: u64, began: u64, ended: u64) -> Event {
    Event { what: What::Write { value, acknowledged: true }, began, ended }
}

fn lost(value: u64, began: u64) -> Event {
    Event { what: What::Write { value, acknowledged: false }, began, ended: began + 1 }
}

fn read(value: Option<u64>, began: u64, ended: u64) -> Event {
    Event { what: What::Read(value), began, ended }
}

#[test]
fn what_a_register_could_have_answered_passes() {
    let histories: [&[Event]; 6] = [
        &[],
        &[read(None, 0, 1), write(1, 2, 3), read(Some(1), 4, 5)],
        // While a write is underway, reads may see it or not.
        &[write(1, 0, 1), write(2, 2, 9), read(Some(1), 3, 4), read(Some(2), 5, 6)],
        // Two writes at once, in the order that is not that of their beginnings.
        &[write(1, 0, 9), write(2, 1, 8), read(Some(2), 2, 3), read(Some(1), 10, 11)],
        // What was not acknowledged may appear late, or never.
        &[lost(1, 0), read(None, 5, 6), read(Some(1), 7, 8)],
        &[lost(1, 0), lost(2, 0), write(3, 4, 5), read(Some(3), 6, 7)],
    ];
    for events in histories {
        assert!(is_linearizable(events), "{events:?}");
    }
}

#[test]
fn planted_violations_are_caught() {
    let histories: [(&str, &[Event]); 6] = [
        ("a stale read", &[write(1, 0, 1), write(2, 2, 3), read(Some(1), 4, 5)]),
        ("a lost write", &[write(1, 0, 1), read(None, 2, 3)]),
        ("a value that nobody wrote", &[write(1, 0, 1), read(Some(9), 2, 3)]),
        (
            "seen, and then not seen",
            &[write(1, 0, 1), write(2, 2, 20), read(Some(2), 3, 4), read(Some(1), 5, 6)],
        ),
        (
            "a value that comes back",
            &[
                write(1, 0, 20),
                write(2, 5, 6),
                read(Some(1), 1, 2),
                read(Some(2), 7, 8),
                read(Some(1), 9, 10),
            ],
        ),
        ("a write from the future", &[read(Some(1), 0, 1), write(1, 2, 3)]),
    ];
    for (what, events) in histories {
        assert!(!is_linearizable(events), "{what} passed");
    }
}

/// Events around the moments at which a real register did them; then one read is changed to an older value.
#[test]
fn random_histories_pass_until_one_read_is_made_stale() {
    let mut caught = 0;
    for seed in 0..300 {
        let mut random = SplitMix64::for_purpose(seed, 0);
        let (mut events, mut value, mut values) = (Vec::new(), None, Vec::new());
        for moment in 1..=60_u64 {
            let at = moment * 100;
            let span = |random: &mut SplitMix64| random.next_u64() % 250;
            let (began, ended) = (at - span(&mut random).min(at), at + span(&mut random));
            if random.next_below(3) == 0 {
                value = Some(moment);
                values.push(moment);
                events.push(write(moment, began, ended));
            } else {
                events.push(read(value, began, ended));
            }
        }
        assert!(is_linearizable(&events), "seed {seed}");
        // Seven writes back is beyond what overlaps can excuse.
        let stale = events.iter().rposition(|event| {
            let What::Read(Some(value)) = event.what else { return false };
            values.iter().position(|written| *written == value) >= Some(7)
        });
        let Some(stale) = stale else { continue };
        events[stale].what = What::Read(Some(values[0]));
        assert!(!is_linearizable(&events), "seed {seed}: the planted read passed");
        caught += 1;
    }
    assert!(caught > 250, "{caught}");
}
