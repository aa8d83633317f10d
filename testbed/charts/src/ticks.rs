//! Round numbers along an axis: 1, 2 and 5 times powers of ten.

use crate::number::{exponent, grouped};

/// Spans narrower than this share of the values are rounding noise.
const NARROWEST: f64 = 1e-9;

/// Whether the axis ends at round numbers or at its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    Round,
    AtValues,
}

/// A value with a grid line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: String,
}

/// A round distance: 1, 2 or 5 times a power of ten.
#[derive(Clone, Copy, Debug)]
struct Step {
    times: f64,
    power: i32,
}

impl Step {
    fn at_least(distance: f64) -> Self {
        let mut power = distance.log10().floor() as i32;
        loop {
            for times in [1.0, 2.0, 5.0] {
                let step = Step { times, power };
                if step.size() >= distance * (1.0 - NARROWEST) {
                    return step;
                }
            }
            power += 1;
        }
    }

    fn size(self) -> f64 {
        self.multiple(1.0)
    }

    /// Exact where a double can be: powers of ten are never inverted first.
    fn multiple(self, count: f64) -> f64 {
        if self.power < 0 {
            count * self.times / power_of_ten(-self.power)
        } else {
            count * self.times * power_of_ten(self.power)
        }
    }

    fn decimals(self) -> usize {
        usize::try_from(-self.power).unwrap_or(0)
    }
}

fn power_of_ten(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(f64::INFINITY)
}

/// Low end, high end and ticks of a linear axis.
pub(crate) fn linear(
    span: Option<(f64, f64)>,
    from_zero: bool,
    ends: Ends,
    target: u32,
) -> (f64, f64, Vec<Tick>) {
    let (mut low, mut high) = span.unwrap_or((0.0, 1.0));
    if from_zero {
        low = low.min(0.0);
        high = high.max(0.0);
    }
    let largest = low.abs().max(high.abs());
    if high - low <= largest * NARROWEST {
        let margin = if largest > 0.0 { largest * 0.1 } else { 1.0 };
        low -= margin;
        high += margin;
        if from_zero && largest == 0.0 {
            low = 0.0;
        }
    }
    let step = Step::at_least((high - low).max(1e-300) / f64::from(target.max(1)));
    let (first, last) = match ends {
        Ends::Round => ((low / step.size()).floor(), (high / step.size()).ceil()),
        Ends::AtValues => ((low / step.size()).ceil(), (high / step.size()).floor()),
    };
    let count = (last - first + 1.0).clamp(0.0, 40.0) as u32;
    let ticks: Vec<Tick> = (0..count)
        .map(|index| step.multiple(first + f64::from(index)))
        .map(|at| Tick { at, label: linear_label(at, step) })
        .collect();
    if ends == Ends::Round {
        low = low.min(step.multiple(first));
        high = high.max(step.multiple(last));
    }
    (low, high, ticks)
}

fn linear_label(at: f64, step: Step) -> String {
    if at == 0.0 {
        "0".to_owned()
    } else if step.decimals() > 6 {
        exponent(at)
    } else {
        grouped(at, step.decimals())
    }
}

/// The same of a logarithmic axis.
pub(crate) fn logarithmic(
    span: Option<(f64, f64)>,
    ends: Ends,
    target: u32,
) -> (f64, f64, Vec<Tick>) {
    let (mut low, mut high) = span.unwrap_or((1.0, 10.0));
    if high <= low * (1.0 + NARROWEST) {
        low /= 2.0;
        high *= 2.0;
    }
    let round = round_numbers(low, high, target);
    let inside = |value: &f64| *value >= low && *value <= high;
    let too_few = round.iter().copied().filter(inside).count() < 2;
    let mut shown = round.clone();
    if ends == Ends::Round || too_few {
        // From the last round number that is not above the values to the first not below.
        let below = round.iter().copied().rfind(|&value| value <= low).unwrap_or(low);
        let above = round.iter().copied().find(|&value| value >= high).unwrap_or(high);
        low = low.min(below);
        high = high.max(above);
    }
    shown.retain(|&value| value >= low && value <= high);
    let ticks = shown.into_iter().map(|at| Tick { at, label: log_label(at) }).collect();
    (low, high, ticks)
}

fn round_numbers(low: f64, high: f64, target: u32) -> Vec<f64> {
    let first = (low.log10().floor() as i32 - 1).max(-300);
    let last = (high.log10().ceil() as i32 + 1).min(300);
    let decades = last - first - 2;
    let stride = (decades / target.max(1) as i32).max(1);
    // With all three steps there are some three ticks a decade; that may be half as many again as asked for.
    let has_room = decades * 3 <= target as i32 * 2;
    let times: &[f64] = if has_room { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let mut out = Vec::new();
    for power in (first..=last).filter(|power| power.rem_euclid(stride) == 0) {
        for &times in times {
            out.push(Step { times, power }.size());
        }
    }
    out
}

fn log_label(at: f64) -> String {
    if at < 1e-4 {
        return exponent(at);
    }
    let decimals = (-at.log10().floor()).max(0.0) as usize;
    grouped(at, decimals)
}
