//! The values in shared data. Random bytes never have the right checksum, so the input is also sealed as a payload.

use std::fmt::Debug;

use rudolph_core::config::Config;
use rudolph_core::table::Table;
use rudolph_core::wire::{Kind, WireFault, records, seal};

const CONFIG: u64 = 0x0123_4567_89ab_cdef;

/// Tables of more servers take too long for a fuzzer.
const MOST_SERVERS: usize = 6;

/// A value that opens, sealed again, opens to the same; a plan that passes its check can be spelled out.
pub fn shared_data(bytes: &[u8]) {
    let Some((kind, payload)) = bytes.split_first() else { return };
    let sealed = |kind| seal(kind, CONFIG, |out| out.bytes(payload));
    match kind % 6 {
        0 => again(bytes, &sealed(Kind::Directory), records::open_directory, |it| {
            records::seal_directory(it)
        }),
        1 => again(
            bytes,
            &sealed(Kind::Epoch),
            |value| records::open_epoch(CONFIG, value),
            |it| records::seal_epoch(CONFIG, *it),
        ),
        2 => again(
            bytes,
            &sealed(Kind::Poll),
            |value| records::open_poll(CONFIG, value),
            |it| records::seal_poll(CONFIG, *it),
        ),
        3 => again(
            bytes,
            &sealed(Kind::Roster),
            |value| records::open_roster(CONFIG, value),
            |it| records::seal_roster(CONFIG, it),
        ),
        4 => again(
            bytes,
            &sealed(Kind::Slot),
            |value| records::open_slot(CONFIG, value),
            |it| records::seal_slot(CONFIG, it),
        ),
        _ => plan(bytes, &sealed(Kind::Plan)),
    }
}

fn again<T: Debug + PartialEq>(
    raw: &[u8],
    sealed: &[u8],
    open: impl Fn(&[u8]) -> Result<T, WireFault>,
    seal: impl Fn(&T) -> Vec<u8>,
) {
    assert!(open(raw).is_err(), "bytes without a seal were taken");
    if let Ok(value) = open(sealed) {
        assert_eq!(open(&seal(&value)).as_ref(), Ok(&value));
        let mut cut = sealed.to_vec();
        cut.pop();
        assert!(open(&cut).is_err(), "a cut value was taken");
        if let Some(last) = sealed.len().checked_sub(1) {
            let mut flipped = sealed.to_vec();
            flipped[last] ^= 1;
            assert_eq!(open(&flipped).err(), Some(WireFault::Checksum));
        }
    }
}

fn plan(raw: &[u8], sealed: &[u8]) {
    let open = |value: &[u8]| records::open_plan(CONFIG, value);
    again(raw, sealed, open, |it| records::seal_plan(CONFIG, it));
    let Ok(plan) = open(sealed) else { return };
    for strategy in ["spread", "pin", "rotation", "lpt", "static"] {
        let text = format!(
            r#"{{"strategy":"{strategy}","key":["path"],"membership":{{"source":"envoy_admin","cluster":"a","admin_cluster":"b"}}}}"#
        );
        let Ok(config) = Config::from_json(text.as_bytes()) else { continue };
        if plan.check(&config).is_ok() && (1..=MOST_SERVERS).contains(&plan.members.len()) {
            let table = Table::of(&plan, &config);
            let servers = plan.members.len();
            assert!((0..table.bins()).all(|bin| table.home(bin).index() < servers));
        }
    }
}
