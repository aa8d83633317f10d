use crate::SplitMix64;

/// Draws ranks `1..=n` with probability proportional to `rank^-alpha`.
///
/// Rejection-inversion (Hörmann and Derflinger, 1996): exact for every alpha >= 0, no table, so a change of alpha costs
/// nothing and a hundred million keys need no memory. About 1.1 tries a draw.
#[derive(Clone, Debug)]
pub struct Zipf {
    ranks: f64,
    alpha: f64,
    integral_at_first: f64,
    integral_at_last: f64,
    /// Below this distance from the rounded rank the draw is accepted without evaluating the integral.
    sure_distance: f64,
}

impl Zipf {
    /// REQUIRES: `ranks` in 1..=2^53 and `alpha` finite and not negative; the spec checks both.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // bounded by the spec
    pub fn new(ranks: u64, alpha: f64) -> Self {
        let ranks = ranks.max(1) as f64;
        let beside_two = integral(2.5, alpha) - density(2.0, alpha);
        Self {
            ranks,
            alpha,
            integral_at_first: integral(1.5, alpha) - 1.0,
            integral_at_last: integral(ranks + 0.5, alpha),
            sure_distance: 2.0 - inverse_integral(beside_two, alpha),
        }
    }

    /// A rank in `1..=ranks`.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped to 1..=ranks
    pub fn sample(&self, rng: &mut SplitMix64) -> u64 {
        let span = self.integral_at_first - self.integral_at_last;
        loop {
            let area = self.integral_at_last + rng.next_unit() * span;
            let exact = inverse_integral(area, self.alpha);
            let rank = exact.round().clamp(1.0, self.ranks);
            if rank - exact <= self.sure_distance
                || area >= integral(rank + 0.5, self.alpha) - density(rank, self.alpha)
            {
                return rank as u64;
            }
        }
    }
}

fn density(x: f64, alpha: f64) -> f64 {
    (-alpha * x.ln()).exp()
}

/// The integral of `x^-alpha` from 1 to x, continuous through alpha = 1.
fn integral(x: f64, alpha: f64) -> f64 {
    let log = x.ln();
    expm1_over((1.0 - alpha) * log) * log
}

fn inverse_integral(area: f64, alpha: f64) -> f64 {
    let scaled = (area * (1.0 - alpha)).max(-1.0);
    (ln1p_over(scaled) * area).exp()
}

/// `ln(1 + x) / x`, with its series near 0.
fn ln1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.ln_1p() / x } else { 1.0 - x * (0.5 - x / 3.0) }
}

/// `(exp(x) - 1) / x`, with its series near 0.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.exp_m1() / x } else { 1.0 + x * 0.5 * (1.0 + x / 3.0) }
}
