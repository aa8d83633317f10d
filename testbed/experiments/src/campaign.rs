//! All runs of an experiment, in an order that spreads the machine's drift over all contenders.

use rudolph_workload::SplitMix64;

use crate::{
    Contender, Spec, Trial,
    progress::Progress,
    trial::{self, TrialError},
};

/// Every contender once a repeat, each repeat in another order.
#[must_use]
pub fn order(spec: &Spec) -> Vec<(u32, Contender)> {
    let shuffled = |repeat: u32| {
        let mut rng = SplitMix64::for_purpose(spec.workload.seed, 1_000 + u64::from(repeat));
        let mut contenders = spec.contenders.clone();
        for last in (1..contenders.len()).rev() {
            let other = usize::try_from(rng.next_below(last as u64 + 1)).unwrap_or(0);
            contenders.swap(last, other);
        }
        contenders.into_iter().map(move |contender| (repeat, contender))
    };
    (0..spec.repeats).flat_map(shuffled).collect()
}

/// Runs them one after the other into `trials`, which keeps those that were done if an error, or dropping this, ends it.
pub async fn run(
    spec: &Spec,
    trials: &mut Vec<Trial>,
    progress: &mut Progress,
) -> Result<(), TrialError> {
    let order = order(spec);
    progress.begin(spec, order.len());
    for (repeat, contender) in order {
        progress.start(&contender, repeat);
        let trial = trial::run(spec, &contender, repeat, |second| progress.second(second)).await?;
        progress.end(&trial);
        trials.push(trial);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;

    #[test]
    fn each_repeat_has_everybody_in_another_order() {
        let spec = shipped("rivals").unwrap();
        let order = order(&spec);
        assert_eq!(order.len(), spec.contenders.len() * spec.repeats as usize);
        let of = |repeat: u32| {
            let of_repeat = order.iter().filter(move |(r, _)| *r == repeat);
            of_repeat.map(|(_, contender)| contender.name()).collect::<Vec<_>>()
        };
        let (mut first, mut second) = (of(0), of(1));
        assert_ne!(first, second);
        first.sort_unstable();
        second.sort_unstable();
        assert_eq!(first, second);
    }
}
