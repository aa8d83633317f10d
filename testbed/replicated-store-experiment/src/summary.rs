use rudolph_experiments::{median, redis::Command};

use crate::contender::Contender;
use crate::load::{CLIENTS, Case, Figures, KEYS};
use crate::servers::Spent;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    pub(crate) case: Case,
    pub(crate) round: usize,
    pub(crate) figures: Figures,
}

/// Medians over the rounds, and the extremes of what counts most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) case: Case,
    pub(crate) rps: f64,
    pub(crate) rps_low: f64,
    pub(crate) rps_high: f64,
    /// Rounds are compared within themselves.
    pub(crate) over_sharded: f64,
    pub(crate) spent_us: Spent,
}

/// Every case, as the tables have them.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for clients in CLIENTS {
        for keys in KEYS {
            for command in Command::ALL {
                for contender in Contender::ALL {
                    cases.push(Case { contender, command, keys, clients });
                }
            }
        }
    }
    cases
}

pub(crate) fn rows(trials: &[Trial]) -> Vec<Row> {
    cases().into_iter().map(|case| row(trials, case)).collect()
}

fn row(trials: &[Trial], case: Case) -> Row {
    let of = |case: Case| trials.iter().filter(move |trial| trial.case == case);
    let sharded = Case { contender: Contender::Sharded, ..case };
    let ratios = of(case).flat_map(|own| {
        let same_round = of(sharded).filter(move |other| other.round == own.round);
        same_round.map(move |other| own.figures.rps / other.figures.rps)
    });
    let rps = || of(case).map(|trial| trial.figures.rps);
    let spent = |part: fn(&Spent) -> f64| median(of(case).map(|t| part(&t.figures.spent_us)));
    Row {
        case,
        rps: median(rps()),
        rps_low: rps().fold(f64::INFINITY, f64::min),
        rps_high: rps().fold(f64::NEG_INFINITY, f64::max),
        over_sharded: median(ratios),
        spent_us: Spent {
            client: spent(|spent| spent.client),
            envoy: spent(|spent| spent.envoy),
            servers: spent(|spent| spent.servers),
            redis: spent(|spent| spent.redis),
        },
    }
}

/// Of three sharded Redis's requests a second, with ten clients.
pub(crate) fn goal(command: Command) -> f64 {
    match command {
        Command::Get => 0.25,
        Command::Set => 0.12,
    }
}

/// What was hoped for, and what came.
pub(crate) fn verdicts(rows: &[Row]) -> Vec<String> {
    let judged = rows.iter().filter(|row| {
        row.case.contender == Contender::Replicated && row.case.clients == CLIENTS[1]
    });
    judged
        .map(|row| {
            let Case { contender, command, keys, .. } = row.case;
            let (least, found) = (goal(command), row.over_sharded);
            let held = if found >= least { "held" } else { "missed" };
            format!(
                "{held}: {contender}, {command}, {keys} keys: at least {:.0} % of three sharded Redis's requests/s, found {:.1} %",
                least * 100.0,
                found * 100.0
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_compared_within_themselves() {
        let trial = |contender, round, rps| Trial {
            case: Case { contender, command: Command::Get, keys: 10, clients: 10 },
            round,
            figures: Figures { requests: 1, seconds: 1.0, rps, spent_us: Spent::default() },
        };
        // The machine is half as fast in the second round: ratios do not see it.
        let trials = [
            trial(Contender::Sharded, 1, 100.0),
            trial(Contender::Replicated, 1, 30.0),
            trial(Contender::Sharded, 2, 50.0),
            trial(Contender::Replicated, 2, 15.0),
        ];
        let case = trials[1].case;
        let row = row(&trials, case);
        assert!((row.over_sharded - 0.3).abs() < 1e-9 && (row.rps - 22.5).abs() < 1e-9, "{row:?}");
        let verdicts = verdicts(&[row]);
        assert!(verdicts[0].starts_with("held: rudolph_replicated, get, 10 keys"), "{verdicts:?}");
    }
}
