//! The compiled module under a mock Proxy-Wasm host: several workers, one store of shared data, and a clock that
//! the test moves. `scripts/build-filter.sh` makes the module; `RUDOLPH_WASM` names another.

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod bad_config;
#[cfg(test)]
mod chaos;
#[cfg(test)]
mod common;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod heavy;
#[cfg(test)]
mod hot_keys;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod membership;
#[cfg(test)]
mod polling;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod reload;
#[cfg(test)]
mod replicas;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod shared_data;
#[cfg(test)]
mod status;
#[cfg(test)]
mod status_requests;
#[cfg(test)]
mod surface;
