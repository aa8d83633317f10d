//! The filter's configuration.

use rudolph_core::config::{Config, Membership};

/// The longest refusal: a field's path, what was written there, and what is allowed.
const MOST_TEXT: usize = 4_000;

/// A text is refused in one line, or gives a configuration within its documented bounds, and the same each time.
pub fn config(text: &[u8]) {
    match Config::from_json(text) {
        Err(error) => {
            let told = error.to_string();
            assert!(told.starts_with("configuration: "), "{told:?}");
            assert!(!told.chars().any(char::is_control), "more than a line: {told:?}");
            assert!(told.len() <= MOST_TEXT, "{} bytes of refusal", told.len());
        }
        Ok(config) => {
            assert_eq!(Config::from_json(text), Ok(config.clone()));
            assert!((10..=1000).contains(&config.tick_ms));
            assert!(config.epoch_ms >= config.tick_ms);
            assert!((1..=8).contains(&config.owners));
            assert!(!config.key.sources.is_empty());
            assert!(!config.upstream_header.is_empty());
            if let Some(replicas) = &config.replicas {
                assert!((1..=8).contains(&replicas.count) && config.is_rendezvous());
            }
            assert!(config.spread.hot_threshold.is_finite());
            assert!(config.pin.tolerance >= 1.0 && config.rotation.lambda >= 0.0);
            if let Membership::Static(members) = &config.membership {
                assert!(!members.is_empty());
            }
        }
    }
}
