//! Strategies and rivals side by side in real Envoy: a TOML [`Spec`] a figure, and what came out as tables and plots.
//!
//! A [`Spec`] names the contenders, the servers, the load and what is expected of whom. [`campaign`] runs each contender
//! once a repeat, in an order that turns from repeat to repeat so that the machine's drift hits all alike, each on a
//! cluster of its own that [`trial`] starts, warms, loads, disturbs and takes down. A [`Trial`] is what one such run
//! measured, and whether the machine rather than the servers was its limit.
//!
//! [`summary`] turns trials into rows of medians; [`expectation`] holds them against what the spec asks; [`story`] says
//! in words what the numbers show; [`table`] and [`figures`] draw them. [`raw`] keeps the trials in one folder an experiment;
//! [`artefacts`] writes beside them what is made from them, and [`report`] makes all of it anew and puts it on one page.
//! What has another form than contenders side by side adds a [`chapter`].

pub mod artefacts;
pub mod campaign;
pub mod chapter;
mod contender;
pub mod expectation;
pub mod figures;
mod machine;
mod metric;
mod number;
pub mod progress;
pub mod raw;
pub mod redis;
pub mod report;
mod seconds;
pub mod sequential;
mod shipped;
mod spec;
pub mod story;
pub mod summary;
pub mod table;
pub mod trial;

pub use contender::{Contender, ContenderError};
pub use machine::Machine;
pub use metric::Metric;
pub use number::median;
pub use seconds::{Second, Seconds};
pub use shipped::{SHIPPED, shipped};
pub use spec::{
    Action, Bound, Event, Expect, Figure, Load, Published, PublishedRow, Quick, Servers, Spec,
    SpecError, Target,
};
pub use summary::{Row, Spread};
pub use trial::Trial;
