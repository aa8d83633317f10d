use clap::{Parser, ValueEnum};
use rudolph_cluster::Baseline;

/// Servers and Envoy on loopback, load whose hot keys shift, and a table once a second.
#[derive(Debug, Clone, Parser)]
#[command(version)]
pub(crate) struct Options {
    /// How long to run; 0 runs until Ctrl-C
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub(crate) seconds: u64,
    /// A strategy of the filter, or a policy of Envoy itself without the filter
    #[arg(long, default_value = "spread", ignore_case = true)]
    pub(crate) strategy: Strategy,
    /// Application servers
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) servers: u16,
    /// Clients, each with one request at a time
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=2_000))]
    pub(crate) clients: u16,
    /// Different keys
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) keys: u64,
    /// Skew of the load: the key of rank r gets r^-alpha of it
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) alpha: f64,
    /// How often the ranks go to other keys; 0 is never
    #[arg(long, default_value_t = 10.0, allow_negative_numbers = true)]
    pub(crate) reshuffle_seconds: f64,
    /// The same seed gives the same stream of keys
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Strategy {
    Spread,
    Pin,
    Rotation,
    Lpt,
    Static,
    Maglev,
    RingHash,
    RoundRobin,
    LeastRequest,
}

impl Strategy {
    /// The policy of Envoy, where it is not a strategy of the filter.
    pub(crate) fn baseline(self) -> Option<Baseline> {
        match self {
            Self::Spread | Self::Pin | Self::Rotation | Self::Lpt | Self::Static => None,
            Self::Maglev => Some(Baseline::Maglev),
            Self::RingHash => Some(Baseline::RingHash),
            Self::RoundRobin => Some(Baseline::RoundRobin),
            Self::LeastRequest => Some(Baseline::LeastRequest),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Spread => "spread",
            Self::Pin => "pin",
            Self::Rotation => "rotation",
            Self::Lpt => "lpt",
            Self::Static => "static",
            Self::Maglev => "maglev",
            Self::RingHash => "ring_hash",
            Self::RoundRobin => "round_robin",
            Self::LeastRequest => "least_request",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_called_what_the_command_line_calls_it() {
        for strategy in Strategy::value_variants() {
            let value = strategy.to_possible_value().unwrap();
            assert_eq!(strategy.name(), value.get_name());
        }
    }

    #[test]
    fn a_bad_value_is_named_with_what_is_allowed() {
        let error =
            Options::try_parse_from(["demo", "--strategy", "fast"]).unwrap_err().to_string();
        assert!(error.contains("'fast'") && error.contains("rotation"), "{error}");
        let error = Options::try_parse_from(["demo", "--servers", "0"]).unwrap_err().to_string();
        assert!(error.contains("1..=64"), "{error}");
    }
}
