//! What the spec expects, held against the medians.

use rudolph_charts::grouped;

use crate::{Bound, Contender, Expect, Metric, Row, Spec, Target, summary::find};

/// One expectation and what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub expected: String,
    pub found: String,
    pub held: bool,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = if self.held { "held" } else { "NOT HELD" };
        write!(out, "{word}: {}; found {}", self.expected, self.found)
    }
}

/// In the order of the spec. What cannot be compared, because somebody did not run, has not held.
#[must_use]
pub fn verdicts(spec: &Spec, rows: &[Row]) -> Vec<Verdict> {
    spec.expectations.iter().map(|expect| verdict(expect, &spec.reference, rows)).collect()
}

fn verdict(expect: &Expect, reference: &Contender, rows: &[Row]) -> Verdict {
    let Expect { contender, metric, target } = expect;
    let own = value(rows, contender, *metric);
    let subject = format!("{contender}: {}", metric.says());
    let digits = metric.digits();
    match target {
        Target::Value(bound) => Verdict {
            expected: format!("{subject} {}", says(*bound, digits)),
            found: grouped(own, digits.max(2)),
            held: bound.holds(own),
        },
        Target::Times { bound, of } => {
            let (best, other) = best_of(rows, of, *metric);
            Verdict {
                expected: format!("{subject} {} times {}", says(*bound, 2), names(of)),
                found: format!(
                    "{} ({} against {} of {other})",
                    grouped(own / best, 3),
                    grouped(own, digits),
                    grouped(best, digits)
                ),
                held: bound.holds(own / best),
            }
        }
        Target::Above { bound, of } => {
            let (best, other) = best_of(rows, of, *metric);
            Verdict {
                expected: format!("{subject} minus that of {} {}", names(of), says(*bound, 1)),
                found: format!(
                    "{} ({} against {} of {other})",
                    grouped(own - best, 2),
                    grouped(own, digits),
                    grouped(best, digits)
                ),
                held: bound.holds(own - best),
            }
        }
        Target::BestWithinHits(points) => {
            let hits = value(rows, reference, Metric::HitPercent) - points;
            let keeps = rows.iter().filter(|row| row.median(Metric::HitPercent) >= hits);
            let rivals: Vec<Contender> =
                keeps.map(|row| row.contender.clone()).filter(|rival| rival != contender).collect();
            let (best, other) = best_of(rows, &rivals, *metric);
            Verdict {
                expected: format!(
                    "{subject} best of all with a hit rate within {points} of {reference}'s"
                ),
                found: format!(
                    "{}, next {} of {other}",
                    grouped(own, digits),
                    grouped(best, digits)
                ),
                held: is_better(*metric, own, best)
                    && value(rows, contender, Metric::HitPercent) >= hits,
            }
        }
    }
}

fn says(bound: Bound, digits: usize) -> String {
    match bound {
        Bound::AtLeast(value) => format!("at least {}", grouped(value, digits)),
        Bound::AtMost(value) => format!("at most {}", grouped(value, digits)),
    }
}

fn names(of: &[Contender]) -> String {
    let names = of.iter().map(Contender::name).collect::<Vec<_>>().join(", ");
    if of.len() > 1 { format!("the best of {names}") } else { names }
}

fn value(rows: &[Row], contender: &Contender, metric: Metric) -> f64 {
    find(rows, contender).map_or(f64::NAN, |row| row.median(metric))
}

/// NaN and `nobody` if one of them is missing: then nothing was shown.
fn best_of(rows: &[Row], of: &[Contender], metric: Metric) -> (f64, String) {
    let mut best = (f64::NAN, "nobody".to_owned());
    for contender in of {
        let value = value(rows, contender, metric);
        if value.is_nan() {
            return (f64::NAN, "nobody".to_owned());
        }
        if best.0.is_nan() || is_better(metric, value, best.0) {
            best = (value, contender.name().to_owned());
        }
    }
    best
}

fn is_better(metric: Metric, value: f64, than: f64) -> bool {
    if metric.lower_is_better() { value < than } else { value > than }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spread;

    fn row(name: &str, rps: f64, p99: f64, hits: f64) -> Row {
        let spread = |value| Spread { median: value, low: value, high: value };
        Row {
            contender: Contender::parse(name).unwrap(),
            repeats: 3,
            void_repeats: 0,
            values: [
                (Metric::Rps, spread(rps)),
                (Metric::P99Ms, spread(p99)),
                (Metric::HitPercent, spread(hits)),
            ]
            .into(),
        }
    }

    fn check(expect: &str) -> Verdict {
        let expect: Expect = toml::from_str(expect).unwrap();
        let rows = [
            row("spread", 1200.0, 40.0, 89.0),
            row("static", 1000.0, 80.0, 89.4),
            row("maglev", 1100.0, 70.0, 89.0),
            row("round_robin", 900.0, 10.0, 60.0),
        ];
        verdict(&expect, &Contender::parse("static").unwrap(), &rows)
    }

    #[test]
    fn holds_against_the_best_of_those_named() {
        let times = "contender = 'spread'\nmetric = 'rps'\nat_least = 1.18\n";
        assert!(check(&format!("{times}times = ['static']")).held);
        let verdict = check(&format!("{times}times = ['static', 'maglev']"));
        assert!(!verdict.held, "{verdict}");
        assert!(verdict.found.starts_with("1.091 (1,200 against 1,100 of maglev)"), "{verdict}");
        let less =
            "contender = 'spread'\nmetric = 'p99_ms'\nat_most = 0.6\ntimes = ['static', 'maglev']";
        assert!(check(less).held);
        assert!(!check(&less.replace("0.6", "0.5")).held);
    }

    #[test]
    fn points_and_plain_values() {
        let hits =
            "contender = 'spread'\nmetric = 'hit_percent'\nat_least = -0.5\nabove = ['static']";
        assert!(check(hits).held && !check(&hits.replace("-0.5", "-0.3")).held);
        assert!(check("contender = 'spread'\nmetric = 'p99_ms'\nat_most = 40.0").held);
    }

    #[test]
    fn those_who_lose_their_hits_are_no_rivals_in_latency() {
        let best = "contender = 'spread'\nmetric = 'p99_ms'\nbest_within_hits = 1.0";
        assert!(check(best).held);
        assert!(!check(&best.replace("1.0", "40.0")).held, "round robin is a rival then");
    }

    #[test]
    fn who_did_not_run_proves_nothing() {
        let verdict = check(
            "contender = 'spread'\nmetric = 'rps'\nat_least = 0.1\ntimes = ['static', 'pin']",
        );
        assert!(!verdict.held, "{verdict}");
        assert!(!check("contender = 'pin'\nmetric = 'errors'\nat_most = 0").held);
    }

    #[test]
    fn an_unclear_expectation_is_refused() {
        for wrong in
            ["", "at_least = 1\nat_most = 2", "at_least = 1\ntimes = []", "times = ['pin']"]
        {
            let text = format!("contender = 'spread'\nmetric = 'rps'\n{wrong}");
            let error = toml::from_str::<Expect>(&text).unwrap_err().to_string();
            assert!(error.contains("at_least"), "{error}");
        }
    }
}
