//! Phase 4 of `spread`: which keys are hot over all workers, and on how many servers each is.

use super::merge::LoadMap;
use crate::config::Spread;
use crate::hot::{HotKey, MAX_HOT_KEYS};

/// A key must have been seen so often for certain before it may be called hot.
pub const LEAST_COUNT: f32 = 6.0;

/// On how many of `servers` servers a key is whose guaranteed count is `count` of `total`; `None` if it is not hot.
#[inline]
#[must_use]
pub fn copies(config: &Spread, count: f32, total: f32, servers: usize) -> Option<usize> {
    if count < LEAST_COUNT {
        return None;
    }
    // The key's load in units of one server's fair share.
    let load = count / total * servers as f32;
    if load < config.hot_threshold {
        return None;
    }
    let most = if config.max_copies == 0 { servers } else { config.max_copies.min(servers) };
    let wanted =
        if config.proportional { (load / config.share_per_copy).ceil() as usize } else { 2 };
    Some(wanted.max(2).min(most))
}

/// The hot keys of the load map.
#[must_use]
pub fn hot_keys(config: &Spread, servers: usize, loads: &LoadMap) -> Vec<HotKey> {
    if !config.hot_keys {
        return Vec::new();
    }
    loads
        .keys
        .iter()
        .filter_map(|merged| {
            let copies = copies(config, merged.guaranteed, loads.total, servers)?;
            Some(HotKey { key: merged.key, value: copies as u16 })
        })
        .take(MAX_HOT_KEYS)
        .collect()
}
