//! One fault after the other on a cluster under load, and the same on Envoy's own `MAGLEV`: who fails which requests, and
//! for how long.

mod artefacts;
mod contender;
mod fault;
mod impostor;
mod judgement;
mod steady;
mod trial;

pub use artefacts::write;
pub use contender::Contender;
pub use fault::Fault;
pub use judgement::{Judgement, judge};
pub use steady::Steadiness;
pub use trial::{Outcome, Phases, Plan, Trial, run};
