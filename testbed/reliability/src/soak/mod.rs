//! A cluster under a modest load for as long as one likes, while things happen to it. What is sampled must not grow.

mod artefacts;
mod disturbance;
mod findings;
mod load;
mod run;
mod sample;

pub use findings::{Finding, Findings};
pub use run::{Options, Outcome, run};
pub use sample::Sample;
