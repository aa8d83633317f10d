//! The files that people paste, as they are.

use rudolph_cluster::{ClusterError, validate};

#[test]
fn envoy_accepts_the_configuration_with_the_filter() {
    validate("envoy/standalone/rudolph.yaml").unwrap();
}

#[test]
fn envoy_accepts_the_baseline() {
    validate("envoy/standalone/maglev.yaml").unwrap();
}

#[test]
fn what_envoy_does_not_accept_is_an_error_in_its_words() {
    let error = validate("envoy/standalone/README.md").unwrap_err();
    assert!(matches!(error, ClusterError::Invalid { .. }), "{error}");
    assert!(error.to_string().contains("README.md"), "{error}");
}
