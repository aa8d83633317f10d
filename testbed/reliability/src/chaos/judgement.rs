//! Whether the filter failed requests that its rival did not.

use serde::Serialize;

use super::{Contender, Fault, Outcome, Trial};

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    pub fault: Fault,
    pub failed: u64,
    pub reason: String,
}

/// Where the rival fails too, the filter may fail this many times its share, as the keys of one server are never the same
/// share of the load under two hashes, and this much more.
const FACTOR: f64 = 2.0;
const MORE: f64 = 0.02;

/// Every request is a GET. Where the rival fails none, the filter must fail none but those that a trap costs: Envoy answers
/// 503 to what the worker has under way when its VM fails.
#[must_use]
pub fn judge(trials: &[Trial]) -> Vec<Judgement> {
    let of = |fault, contender| {
        trials.iter().find(|trial| trial.fault == fault && trial.contender == contender)
    };
    let pairs = Fault::ALL.into_iter().filter_map(|fault| {
        let filter = &of(fault, Contender::Spread)?.outcome;
        let rival = &of(fault, Contender::Maglev)?.outcome;
        let judgement = |reason| Some(Judgement { fault, failed: filter.failed(), reason });
        let allowed = match fault {
            // While there is no Envoy, all fail; how long it takes to start is not about requests.
            Fault::EnvoyKill => 1.0,
            _ => rival.failed_share() * FACTOR + MORE,
        };
        match (filter.failed(), rival.failed()) {
            (0, _) => None,
            // Envoy itself answers what the worker has under way when its VM fails.
            (_, 0) if fault == Fault::Trap && only_503(filter) && filter.failed_share() < MORE => {
                None
            }
            _ if filter.failed_outside > 0 => {
                judgement(format!("{} failed while nothing was broken", filter.failed_outside))
            }
            (_, 0) => judgement(format!("{:?}; the rival fails none", filter.errors)),
            _ if filter.failed_share() > allowed => judgement(format!(
                "{:.1} % fail; the rival fails {:.1} %",
                100.0 * filter.failed_share(),
                100.0 * rival.failed_share()
            )),
            _ => None,
        }
    });
    pairs.collect()
}

fn only_503(outcome: &Outcome) -> bool {
    outcome.errors.keys().all(|cause| cause == "http_503")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::chaos::Steadiness;

    fn trial(contender: Contender, failed: u64) -> Trial {
        let outcome = Outcome {
            requests: 1_000 - failed,
            errors: BTreeMap::from([("http_503".to_owned(), failed)]),
            failed_outside: 0,
            p99_ms: 1.0,
            max_ms: 1.0,
            hit_percent: 90.0,
            steadiness: Steadiness { with_fault_s: None, after_fault_s: None },
            risen: BTreeMap::new(),
        };
        Trial { fault: Fault::Reset, contender, fault_s: 5.0, outcome }
    }

    fn broken(filter: u64, rival: u64) -> bool {
        !judge(&[trial(Contender::Spread, filter), trial(Contender::Maglev, rival)]).is_empty()
    }

    #[test]
    fn only_where_the_rival_fails_may_the_filter_fail() {
        assert!(!broken(0, 0));
        assert!(broken(1, 0));
        assert!(!broken(0, 100));
        assert!(!broken(120, 100));
        assert!(broken(500, 100));
        let mut late = trial(Contender::Spread, 1);
        late.outcome.failed_outside = 1;
        assert_eq!(judge(&[late, trial(Contender::Maglev, 100)]).len(), 1);
        assert!(
            judge(&[trial(Contender::Spread, 9)]).is_empty(),
            "without a rival there is no judgement"
        );
    }
}
