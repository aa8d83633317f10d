//! Every semantic of the mock host, tried out by small hand-written modules.

#[cfg(test)]
mod clock;
#[cfg(test)]
mod envoy;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod http_calls;
#[cfg(test)]
mod lifecycle;
#[cfg(test)]
mod metrics;
#[cfg(test)]
mod module;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod shared_data;
#[cfg(test)]
mod support;
