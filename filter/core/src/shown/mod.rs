//! What is left for the status page while there is one to look: whether [`watch`] says so, and the [`history`] of the last
//! minutes with the [`counterfactual`], what hashing alone would have made of the same load.

pub mod counterfactual;
pub mod history;
pub mod watch;
