//! How long a service takes: lognormal with mean 1, and the exponential gaps of Poisson arrivals.

use rudolph_workload::SplitMix64;

/// Draws factors around 1.
#[derive(Clone, Debug)]
pub(crate) struct Noise {
    rng: SplitMix64,
    sigma: f64,
    spare: Option<f64>,
}

impl Noise {
    pub(crate) fn new(sigma: f64, rng: SplitMix64) -> Self {
        Self { rng, sigma, spare: None }
    }

    /// A lognormal factor with mean 1; always 1 without a sigma.
    #[inline]
    pub(crate) fn factor(&mut self) -> f64 {
        if self.sigma == 0.0 {
            return 1.0;
        }
        (self.sigma * self.normal() - 0.5 * self.sigma * self.sigma).exp()
    }

    /// The polar method gives two at once.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let x = 2.0 * self.rng.next_unit() - 1.0;
            let y = 2.0 * self.rng.next_unit() - 1.0;
            let square = x * x + y * y;
            if square < 1.0 && square > 0.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * scale);
                return x * scale;
            }
        }
    }
}

/// An exponential variate with mean 1.
#[inline]
pub(crate) fn exponential(rng: &mut SplitMix64) -> f64 {
    -(1.0 - rng.next_unit()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_one_and_the_spread_is_sigma() {
        let mut noise = Noise::new(0.5, SplitMix64::new(5));
        let logs: Vec<f64> = (0..200_000).map(|_| noise.factor()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let variance =
            logs.iter().map(|x| (x.ln() + 0.125).powi(2)).sum::<f64>() / logs.len() as f64;
        assert!((mean - 1.0).abs() < 0.01, "seed 5: mean {mean}");
        assert!((variance - 0.25).abs() < 0.01, "seed 5: variance of the logarithm {variance}");
        let mut rng = SplitMix64::new(6);
        let gaps = (0..200_000).map(|_| exponential(&mut rng)).sum::<f64>() / 200_000.0;
        assert!((gaps - 1.0).abs() < 0.01, "seed 6: mean gap {gaps}");
    }
}
