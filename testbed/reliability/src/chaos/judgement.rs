//! Whether the filter failed requests that its rival did not.

use serde::Serialize;

use super::{Contender, Fault, Trial};

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

/// Every request is a GET. Where the rival fails none, the filter must fail none.
#[must_use]
pub fn judge(trials: &[Trial]) -> Vec<Judgement> {
    let of = |fault, contender| {
        trials.iter().find(|trial| trial.fault == fault && trial.contender == contender)
    };
    let pairs = Fault::ALL.into_iter().filter_map(|fault| {
        let filter = &of(fault, Contender::Spread)?.outcome;
        let rival = &of(fault, Contender::Maglev)?.outcome;
        let judgement = |reason| Some(Judgement { fault, failed: filter.failed(), reason });
        let allowed = rival.failed_share() * FACTOR + MORE;
        match (filter.failed(), rival.failed()) {
            (0, _) => None,
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::chaos::{Outcome, Steadiness};

    fn trial(contender: Contender, failed: u64) -> Trial {
        let outcome = Outcome {
            requests: 1_000 - failed,
            errors: BTreeMap::from([("http_503".to_owned(), failed)]),
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
        assert!(
            judge(&[trial(Contender::Spread, 9)]).is_empty(),
            "without a rival there is no judgement"
        );
    }
}
