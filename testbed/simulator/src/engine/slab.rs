//! The requests that are under way, in places that are used again.

use std::ops::{Index, IndexMut};

use rudolph_workload::Operation;

use super::farm::RequestId;

/// Where a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Waiting,
    /// In a slot, with its key in the cache.
    Hit,
    /// In a slot, reading from the database or writing to it.
    Miss,
    /// Its server died; its completion will come and mean nothing.
    Lost,
}

impl State {
    pub(crate) fn is_served(self) -> bool {
        matches!(self, Self::Hit | Self::Miss)
    }
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<T> {
    pub(crate) born_ns: u64,
    pub(crate) worker: u32,
    pub(crate) key: u32,
    pub(crate) operation: Operation,
    pub(crate) server: u32,
    pub(crate) state: State,
    pub(crate) ticket: T,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    places: Vec<Request<T>>,
    taken: Vec<bool>,
    free: Vec<RequestId>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), taken: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    #[inline]
    pub(crate) fn insert(&mut self, request: Request<T>) -> RequestId {
        if let Some(id) = self.free.pop() {
            self.places[id as usize] = request;
            self.taken[id as usize] = true;
            return id;
        }
        self.places.push(request);
        self.taken.push(true);
        (self.places.len() - 1) as RequestId
    }

    /// Takes a request out; its place is free.
    #[inline]
    pub(crate) fn remove(&mut self, id: RequestId) -> Request<T> {
        self.taken[id as usize] = false;
        self.free.push(id);
        self.places[id as usize]
    }

    pub(crate) fn live(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub(crate) fn for_each_live(&mut self, mut visit: impl FnMut(&mut Request<T>)) {
        for (request, _) in self.places.iter_mut().zip(&self.taken).filter(|(_, taken)| **taken) {
            visit(request);
        }
    }
}

impl<T> Index<RequestId> for Slab<T> {
    type Output = Request<T>;

    fn index(&self, id: RequestId) -> &Request<T> {
        &self.places[id as usize]
    }
}

impl<T> IndexMut<RequestId> for Slab<T> {
    fn index_mut(&mut self, id: RequestId) -> &mut Request<T> {
        &mut self.places[id as usize]
    }
}
