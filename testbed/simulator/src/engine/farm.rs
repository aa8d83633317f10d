//! The servers: slots, a queue first come first served, and a cache each; or, for the bound, one queue and one cache
//! for all.

use std::collections::VecDeque;

use super::lru::Lru;
use crate::scenario::Servers;

/// A request by its place in the slab.
pub(crate) type RequestId = u32;

#[derive(Clone, Debug)]
struct Server {
    alive: bool,
    busy: u32,
    queue: VecDeque<RequestId>,
    cache: Lru,
    /// What service times are multiplied by.
    slowness: f64,
}

/// All servers.
#[derive(Clone, Debug)]
pub(crate) struct Farm {
    servers: Vec<Server>,
    slots: u32,
    central: Option<Central>,
}

/// One queue for all: a request takes the fastest free slot, of equals the one that has been free longest.
#[derive(Clone, Debug)]
struct Central {
    queue: VecDeque<RequestId>,
    cache: Lru,
    /// Servers in turn, fastest class first.
    classes: Vec<VecDeque<u32>>,
}

impl Farm {
    pub(crate) fn new(config: &Servers, keys: usize, alive: &[bool], pooled: bool) -> Self {
        let own_cache = if pooled { 0 } else { config.cache_keys };
        let mut servers: Vec<Server> = (alive.iter())
            .map(|&alive| Server {
                alive,
                busy: 0,
                queue: VecDeque::new(),
                cache: Lru::new(own_cache, if pooled { 0 } else { keys }, config.count),
                slowness: 1.0,
            })
            .collect();
        for slow in &config.slow {
            servers[slow.server].slowness = 1.0 / slow.speed;
        }
        let central = pooled.then(|| Central::new(config, keys, &servers));
        Self { servers, slots: config.slots, central }
    }

    pub(crate) fn is_alive(&self, server: u32) -> bool {
        self.servers[server as usize].alive
    }

    #[inline]
    pub(crate) fn slowness(&self, server: u32) -> f64 {
        self.servers[server as usize].slowness
    }

    /// A request arrives: the server that begins with it at once, or it waits.
    #[inline]
    pub(crate) fn arrive(&mut self, server: u32, request: RequestId) -> Option<u32> {
        if self.central.is_some() {
            return self.arrive_centrally(request);
        }
        let here = &mut self.servers[server as usize];
        if here.busy < self.slots {
            here.busy += 1;
            return Some(server);
        }
        here.queue.push_back(request);
        None
    }

    fn arrive_centrally(&mut self, request: RequestId) -> Option<u32> {
        let server = self.free_server();
        match (server, &mut self.central) {
            (Some(server), _) => self.servers[server as usize].busy += 1,
            (None, Some(central)) => central.queue.push_back(request),
            (None, None) => {}
        }
        server
    }

    fn free_server(&mut self) -> Option<u32> {
        let central = self.central.as_mut()?;
        for class in &mut central.classes {
            let free = |&server: &u32| {
                let here = &self.servers[server as usize];
                here.alive && here.busy < self.slots
            };
            if let Some(at) = class.iter().position(free) {
                let server = class.remove(at)?;
                class.push_back(server);
                return Some(server);
            }
        }
        None
    }

    /// A slot becomes free; the request that takes it.
    #[inline]
    pub(crate) fn leave(&mut self, server: u32) -> Option<RequestId> {
        let here = &mut self.servers[server as usize];
        let queue = match &mut self.central {
            Some(central) => &mut central.queue,
            None => &mut here.queue,
        };
        let next = queue.pop_front();
        if next.is_none() {
            here.busy -= 1;
        }
        next
    }

    #[inline]
    fn cache(&mut self, server: u32) -> &mut Lru {
        match &mut self.central {
            Some(central) => &mut central.cache,
            None => &mut self.servers[server as usize].cache,
        }
    }

    /// Whether a server has a key in its cache.
    #[inline]
    pub(crate) fn touch(&mut self, server: u32, key: u32) -> bool {
        self.cache(server).touch(key)
    }

    /// A server has read a key from the database.
    #[inline]
    pub(crate) fn fill(&mut self, server: u32, key: u32) {
        self.cache(server).insert(key);
    }

    /// A server dies; the requests that waited there.
    pub(crate) fn lose(&mut self, server: u32) -> VecDeque<RequestId> {
        let here = &mut self.servers[server as usize];
        here.alive = false;
        here.busy = 0;
        here.cache.clear();
        std::mem::take(&mut here.queue)
    }

    /// A server comes; requests that waited centrally and begin there.
    pub(crate) fn regain(&mut self, server: u32) -> Vec<RequestId> {
        let here = &mut self.servers[server as usize];
        here.alive = true;
        let Some(central) = &mut self.central else {
            return Vec::new();
        };
        let count = central.queue.len().min((self.slots - here.busy) as usize);
        here.busy += count as u32;
        central.queue.drain(..count).collect()
    }

    /// Cache entries for each key that is cached anywhere.
    pub(crate) fn copies_a_key(&self, keys: usize) -> f64 {
        let mut seen = vec![false; keys];
        let (mut entries, mut distinct) = (0_u64, 0_u64);
        let pooled = self.central.iter().map(|central| &central.cache);
        for cache in self.servers.iter().map(|server| &server.cache).chain(pooled) {
            entries += cache.len() as u64;
            for key in cache.keys() {
                distinct += u64::from(!std::mem::replace(&mut seen[key as usize], true));
            }
        }
        if distinct == 0 { 0.0 } else { entries as f64 / distinct as f64 }
    }
}

impl Central {
    fn new(config: &Servers, keys: usize, servers: &[Server]) -> Self {
        let mut speeds: Vec<f64> = servers.iter().map(|server| server.slowness).collect();
        speeds.sort_by(f64::total_cmp);
        speeds.dedup();
        let mut classes = vec![VecDeque::new(); speeds.len()];
        for (number, server) in servers.iter().enumerate() {
            let class = speeds.iter().position(|&speed| speed == server.slowness).unwrap_or(0);
            classes[class].push_back(number as u32);
        }
        let cache = Lru::new(config.cache_keys * config.count, keys, 1);
        Self { queue: VecDeque::new(), cache, classes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rudolph_workload::SplitMix64;

    /// The obvious version: everybody in one list a queue, the first `slots` are served.
    fn compare(pooled: bool, seed: u64) {
        let config = Servers { count: 3, slots: 2, ..Servers::default() };
        let mut farm = Farm::new(&config, 10, &[true; 3], pooled);
        let mut rng = SplitMix64::new(seed);
        let (mut lists, slots) =
            if pooled { (vec![Vec::new()], 6) } else { (vec![Vec::new(); 3], 2) };
        let mut serving: Vec<(u32, usize, RequestId)> = Vec::new();
        for request in 0..5_000 {
            let server = rng.next_below(3) as u32;
            let list = if pooled { 0 } else { server as usize };
            lists[list].push(request);
            let begins = farm.arrive(server, request);
            assert_eq!(begins.is_some(), lists[list].len() <= slots, "seed {seed}, {request}");
            if let Some(server) = begins {
                serving.push((server, list, request));
            }
            while serving.len() > 4 || (rng.next_below(2) == 0 && !serving.is_empty()) {
                let at = rng.next_below(serving.len() as u64) as usize;
                let (server, list, done) = serving.swap_remove(at);
                let next = lists[list].get(slots).copied();
                lists[list].retain(|&other| other != done);
                assert_eq!(farm.leave(server), next, "seed {seed}, {request}");
                serving.extend(next.map(|next| (server, list, next)));
            }
        }
    }

    #[test]
    fn queues_do_as_the_obvious_version() {
        compare(false, 21);
        compare(true, 22);
    }

    #[test]
    fn the_bound_takes_the_fastest_free_server_first() {
        let slow = vec![crate::scenario::Slow { server: 0, speed: 0.5 }];
        let config = Servers { count: 3, slots: 1, slow, ..Servers::default() };
        let mut farm = Farm::new(&config, 10, &[true; 3], true);
        let order: Vec<_> = (0..4).map(|request| farm.arrive(0, request)).collect();
        assert_eq!(order, [Some(1), Some(2), Some(0), None]);
        assert_eq!(farm.leave(2), Some(3));
    }
}
