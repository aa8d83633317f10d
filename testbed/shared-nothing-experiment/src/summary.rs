use rudolph_experiments::median;

use crate::contender::Contender;
use crate::demand::Demand;
use crate::load::Figures;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    pub(crate) contender: Contender,
    pub(crate) demand: Demand,
    pub(crate) round: usize,
    pub(crate) figures: Figures,
}

/// Medians over the rounds, and the extremes of what counts most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) contender: Contender,
    pub(crate) demand: Demand,
    pub(crate) cpu_us: f64,
    pub(crate) cpu_us_low: f64,
    pub(crate) cpu_us_high: f64,
    /// How many requests a second one core carries.
    pub(crate) rps_a_core: f64,
    /// Rounds are compared within themselves.
    pub(crate) rps_a_core_over_redis: f64,
    /// Against the same engine on one thread.
    pub(crate) cpu_over_one_thread: f64,
}

pub(crate) fn rows(trials: &[Trial]) -> Vec<Row> {
    let of = |demand| Contender::all().into_iter().map(move |own| row(trials, own, demand));
    Demand::ALL.into_iter().flat_map(of).collect()
}

fn row(trials: &[Trial], contender: Contender, demand: Demand) -> Row {
    let of = |contender| {
        trials.iter().filter(move |trial| (trial.contender, trial.demand) == (contender, demand))
    };
    let ratio_to = |other| {
        let pairs = of(contender).flat_map(|own| {
            of(other)
                .filter(|trial| trial.round == own.round)
                .map(|other| (own.figures, other.figures))
        });
        median(pairs.map(|(own, other)| own.cpu_us / other.cpu_us))
    };
    let alone = match contender {
        Contender::Redis => Contender::Redis,
        Contender::SharedNothing { .. } => Contender::SharedNothing { threads: 1 },
        Contender::Mutex { .. } => Contender::Mutex { threads: 1 },
    };
    let cpu = || of(contender).map(|trial| trial.figures.cpu_us);
    Row {
        contender,
        demand,
        cpu_us: median(cpu()),
        cpu_us_low: cpu().fold(f64::INFINITY, f64::min),
        cpu_us_high: cpu().fold(f64::NEG_INFINITY, f64::max),
        rps_a_core: 1e6 / median(cpu()),
        rps_a_core_over_redis: 1.0 / ratio_to(Contender::Redis),
        cpu_over_one_thread: ratio_to(alone),
    }
}

/// How much a request may cost more with several threads than with one.
const MOST_GROWTH: f64 = 1.15;

/// What was hoped for, and what came.
pub(crate) fn verdicts(rows: &[Row]) -> Vec<String> {
    let mut verdicts = Vec::new();
    let mut judge = |held: bool, goal: String| {
        verdicts.push(format!("{}: {goal}", if held { "held" } else { "missed" }));
    };
    for row in rows {
        let Contender::SharedNothing { threads } = row.contender else {
            continue;
        };
        let what = format!("{}, threads: {threads}", row.demand);
        if threads <= 2
            && let Demand::Pipelined { depth, .. } = row.demand
        {
            let (least, found) = (if depth == 1 { 1.0 } else { 1.3 }, row.rps_a_core_over_redis);
            let goal =
                format!("requests/s a core at least {least:.1} of Redis's, found {found:.2}");
            judge(found >= least, format!("{what}: {goal}"));
        }
        if threads > 1 {
            let (found, mutex) = (row.cpu_over_one_thread, growth_of_mutex(rows, row, threads));
            let goal =
                format!("at most {MOST_GROWTH} of one thread's time a request, found {found:.2}");
            judge(found <= MOST_GROWTH, format!("{what}: {goal}"));
            let goal = format!("the mutex's grows more, found {mutex:.2}");
            judge(mutex > found, format!("{what}: {goal}"));
        }
    }
    verdicts
}

fn growth_of_mutex(rows: &[Row], row: &Row, threads: u16) -> f64 {
    let same = |other: &&Row| {
        (other.contender, other.demand) == (Contender::Mutex { threads }, row.demand)
    };
    rows.iter().find(same).map_or(f64::NAN, |mutex| mutex.cpu_over_one_thread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_compared_within_themselves() {
        let demand = Demand::ALL[1];
        let trial = |contender, round, cpu_us| Trial {
            contender,
            demand,
            round,
            figures: Figures { cpu_us, seconds: 1.0 },
        };
        // The machine is twice as slow in the second round: ratios do not see it.
        let own = Contender::SharedNothing { threads: 1 };
        let trials = [
            trial(Contender::Redis, 1, 6.0),
            trial(own, 1, 4.0),
            trial(Contender::Redis, 2, 12.0),
            trial(own, 2, 8.0),
        ];
        let row = row(&trials, own, demand);
        assert!((row.rps_a_core_over_redis - 1.5).abs() < 1e-9, "{row:?}");
        assert!((row.cpu_us - 6.0).abs() < 1e-9 && (row.cpu_us_high - 8.0).abs() < 1e-9);
    }
}
