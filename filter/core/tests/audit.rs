//! Which finished requests are looked at again.

use rudolph_core::audit::{Answered, Audit};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// How many of so many requests are looked at.
fn wanted(audit: &mut Audit, requests: usize) -> usize {
    (0..requests).filter(|_| audit.wants_this()).count()
}

#[test]
fn in_quiet_times_few_and_the_first_of_each_tick() {
    let mut audit = Audit::default();
    assert_eq!(wanted(&mut audit, 320), 10);
    audit.saw(Answered::ByFirst);
    assert_eq!(wanted(&mut audit, 320), 10);
    for _ in 0..20 {
        audit.tick();
        assert_eq!(wanted(&mut audit, 1), 1);
    }
}

#[test]
fn after_a_stray_request_all_for_a_while() {
    for answered in [Answered::BySuccessor, Answered::ByFallback] {
        let mut audit = Audit::default();
        audit.saw(answered);
        let alert = (0..).find(|_| {
            let all = wanted(&mut audit, 64) == 64;
            audit.tick();
            !all
        });
        assert_eq!(alert, Some(50), "{answered:?}");
    }
}
