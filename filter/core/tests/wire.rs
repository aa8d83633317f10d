//! The bytes in shared data: whole and ours, or refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod common;

use common::{Rng, config, first_plan, members, seeds, weighted};
use rudolph_core::hash::KeyHash;
use rudolph_core::hot::HotKey;
use rudolph_core::plan::{Placement, Plan};
use rudolph_core::planner::merge::Contribution;
use rudolph_core::servers::Members;
use rudolph_core::sketch::Tracked;
use rudolph_core::telemetry::PollEnd;
use rudolph_core::wire::records::{self, Epoch, Poll, Slot, SlotHead, Tenant};
use rudolph_core::wire::{FORMAT, Kind, WireFault, open, seal};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const CONFIG: u64 = 0x1234_5678_9abc_def0;
const POLL: Poll = Poll { asked_ms: 7, ended: PollEnd::NoCluster };

fn plan(strategy: &str, members: &Members) -> Plan {
    let mut plan = first_plan(&config(strategy, &weighted(&[1, 2]), &[]), members);
    (plan.version, plan.epoch) = (77, 5);
    plan.hot =
        vec![HotKey { key: KeyHash(3), value: 1 }, HotKey { key: KeyHash(u64::MAX), value: 2 }];
    plan
}

fn plans() -> Vec<Plan> {
    let few = weighted(&[1, 1_000_000, 7]);
    let mut turned = plan("rotation", &few);
    turned.placement = Placement::Turned { rotation: 9 };
    vec![plan("spread", &few), turned, plan("lpt", &few), plan("spread", &members(0))]
}

fn slot() -> Slot {
    Slot {
        heartbeat_ms: 123,
        plan_version: 9,
        contribution: Contribution {
            members_digest: 1,
            sent: vec![1.5, 0.0],
            homes: vec![],
            in_flight: vec![f32::MAX, f32::MIN_POSITIVE],
            total: 3.25,
            keys: vec![Tracked { key: KeyHash(8), count: 2.0, error: 1.0 }],
            closed_epoch: 4,
            bins: vec![0, u32::MAX],
        },
    }
}

/// How a value is opened; what it holds does not matter.
type Opener = fn(&[u8]) -> Result<(), WireFault>;

/// One sealed value of each kind with its reader.
fn samples() -> Vec<(Vec<u8>, Opener)> {
    let tenants = [Tenant { config: 1, heartbeat_ms: 2 }, Tenant { config: 3, heartbeat_ms: 4 }];
    let epoch = Epoch { number: 5, began_ms: 6 };
    let mut samples: Vec<(Vec<u8>, Opener)> = vec![
        (records::seal_directory(&tenants), |b| records::open_directory(b).map(drop)),
        (records::seal_epoch(CONFIG, epoch), |b| records::open_epoch(CONFIG, b).map(drop)),
        (records::seal_poll(CONFIG, POLL), |b| records::open_poll(CONFIG, b).map(drop)),
        (records::seal_roster(CONFIG, &weighted(&[1, 2])), |b| {
            records::open_roster(CONFIG, b).map(drop)
        }),
        (records::seal_slot(CONFIG, &slot()), |b| records::open_slot(CONFIG, b).map(drop)),
    ];
    let small = plan("spread", &weighted(&[1, 2]));
    samples.push((records::seal_plan(CONFIG, &small), |b| records::open_plan(CONFIG, b).map(drop)));
    samples
}

#[test]
fn round_trips() {
    for plan in plans() {
        let sealed = records::seal_plan(CONFIG, &plan);
        assert_eq!(records::open_plan(CONFIG, &sealed).as_ref(), Ok(&plan));
        assert_eq!(records::peek_plan_version(&sealed), Ok(plan.version));
    }
    let sealed = records::seal_slot(CONFIG, &slot());
    assert_eq!(records::open_slot(CONFIG, &sealed), Ok(slot()));
    let head = SlotHead { config: CONFIG, heartbeat_ms: 123, plan_version: 9 };
    assert_eq!(records::peek_slot(&sealed), Ok(head));
    for members in [members(0), members(1000), weighted(&[5, 6])] {
        let sealed = records::seal_roster(CONFIG, &members);
        assert_eq!(records::open_roster(CONFIG, &sealed), Ok(members));
    }
    let epoch = Epoch { number: u64::MAX, began_ms: 1 };
    assert_eq!(records::open_epoch(CONFIG, &records::seal_epoch(CONFIG, epoch)), Ok(epoch));
    for ended in PollEnd::ALL {
        let poll = Poll { ended, ..POLL };
        assert_eq!(records::open_poll(CONFIG, &records::seal_poll(CONFIG, poll)), Ok(poll));
    }
    let tenants = vec![Tenant { config: 1, heartbeat_ms: 2 }; records::MAX_ARENAS];
    assert_eq!(records::open_directory(&records::seal_directory(&tenants)), Ok(tenants));
}

#[test]
fn every_truncation_and_every_extension_is_refused() {
    for (sealed, open) in samples() {
        assert_eq!(open(&sealed), Ok(()));
        for end in 0..sealed.len() {
            assert!(open(&sealed[..end]).is_err(), "{end} of {}", sealed.len());
        }
        let longer = [&sealed[..], b"\0"].concat();
        assert_eq!(open(&longer), Err(WireFault::Checksum));
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    for (sealed, open) in samples() {
        for bit in 0..sealed.len() * 8 {
            let mut torn = sealed.clone();
            torn[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&torn).is_err(), "bit {bit}");
        }
    }
}

#[test]
fn who_wrote_it_is_told() {
    let sealed = records::seal_poll(CONFIG, POLL);
    let with = |at: usize, byte: u8| {
        let mut changed = sealed.clone();
        changed[at] = byte;
        records::open_poll(CONFIG, &changed)
    };
    assert_eq!(records::open_poll(CONFIG, b""), Err(WireFault::Truncated));
    assert_eq!(with(0, b'X'), Err(WireFault::Foreign));
    assert_eq!(with(4, FORMAT - 1), Err(WireFault::Format(FORMAT - 1)));
    assert_eq!(with(4, FORMAT + 1), Err(WireFault::Format(FORMAT + 1)));
    assert_eq!(with(5, Kind::Slot as u8), Err(WireFault::Kind(Kind::Slot as u8)));
    assert_eq!(with(24, 8), Err(WireFault::Checksum));
    assert_eq!(records::open_poll(CONFIG + 1, &sealed), Err(WireFault::Config));
    let text = b"another plugin's forty bytes of plain text";
    assert_eq!(records::open_poll(CONFIG, text), Err(WireFault::Foreign));
}

#[test]
fn each_kind_is_read_as_itself_only() {
    let samples = samples();
    for (i, (sealed, _)) in samples.iter().enumerate() {
        for (j, (_, open)) in samples.iter().enumerate() {
            assert_eq!(open(sealed).is_ok(), i == j, "{i} read as {j}");
        }
    }
}

#[test]
fn random_bytes_never_pass() {
    for seed in seeds(500) {
        let mut rng = Rng::new(seed);
        let length = rng.below(200);
        let mut bytes = rng.bytes(length);
        for (sealed, open) in samples() {
            assert!(open(&bytes).is_err(), "seed {seed}");
            // The same under an honest header.
            let header = 24.min(bytes.len());
            bytes[..header].copy_from_slice(&sealed[..header]);
            assert!(open(&bytes).is_err(), "seed {seed}");
        }
    }
}

/// Sound seals around senseless payloads: a defect elsewhere must not become a panic or a huge allocation here.
#[test]
fn sealed_nonsense_is_refused_or_read_and_never_panics() {
    let kinds = [Kind::Directory, Kind::Epoch, Kind::Plan, Kind::Roster, Kind::Slot, Kind::Poll];
    for seed in seeds(500) {
        let mut rng = Rng::new(seed);
        let (real, _) = &samples()[rng.below(6)];
        let mut payload = real[24..].to_vec();
        for _ in 0..rng.between(1, 4) {
            let at = rng.below(payload.len());
            payload[at] = [0, 1, 0x7f, 0x80, 0xff][rng.below(5)];
        }
        for kind in kinds {
            let sealed = seal(kind, CONFIG, |out| out.bytes(&payload));
            for (_, open) in samples() {
                let _ = open(&sealed);
            }
            assert!(open(kind, &sealed).is_ok(), "seed {seed}");
        }
    }
}

#[test]
fn numbers_that_are_none_and_members_that_are_not_are_refused() {
    for bad in [f32::NAN, f32::INFINITY, -1.0] {
        let mut slot = slot();
        slot.contribution.total = bad;
        let sealed = records::seal_slot(CONFIG, &slot);
        assert_eq!(records::open_slot(CONFIG, &sealed), Err(WireFault::Malformed), "{bad}");
    }
    let roster = |servers: &[(&str, u32)]| {
        let sealed = seal(Kind::Roster, CONFIG, |out| {
            out.list(servers, |out, (address, weight)| {
                out.text(address);
                out.u32(*weight);
            });
        });
        records::open_roster(CONFIG, &sealed)
    };
    assert!(roster(&[("1.2.3.4:5", 1)]).is_ok());
    for bad in [("host:5", 1), ("1.2.3.4:0", 1), ("1.2.3.4:5", 0), ("1.2.3.4:5", 1_000_001)] {
        assert_eq!(roster(&[bad]), Err(WireFault::Malformed), "{bad:?}");
    }
    assert_eq!(roster(&[("1.2.3.4:5", 1), ("1.2.3.4:5", 2)]), Err(WireFault::Malformed));
}
