//! What a worker leaves for the status page, while there is one to look: nothing of it decides anything.

use super::{Desk, Worker};
use crate::admin::LeftOut;
use crate::agreement::arena::key;
use crate::agreement::{SharedStore, Shelf, StoreFault};
use crate::hash::KeyHash;
use crate::planner::merge::LoadMap;
use crate::servers::Members;
use crate::shown::history::SAMPLE_MS;
use crate::shown::watch;
use crate::sketch::Tracked;
use crate::wire::shown::{self, MAX_NAMES, View};

/// How often a worker looks whether anybody may look.
const LOOK_MS: u64 = 1_000;

/// How often it shows itself.
const VIEW_MS: u64 = 500;

/// How often it makes sure that the configuration's text is there.
const TEXT_MS: u64 = 60_000;

/// So much of a hot key is shown.
const MAX_NAME_BYTES: usize = 64;

/// The values of the store that are there for the status page alone.
#[derive(Debug)]
pub(super) struct Display {
    watch: Shelf,
    text: Shelf,
    history: Shelf,
    left_out: Shelf,
    text_at_ms: Option<u64>,
}

impl Display {
    pub(super) fn new(arena: usize) -> Self {
        let shelf = |what| Shelf::new(key(arena, what));
        Self {
            watch: watch::shelf(),
            text: shelf("text"),
            history: shelf("history"),
            left_out: shelf("left_out"),
            text_at_ms: None,
        }
    }
}

/// What the worker remembers of showing itself.
#[derive(Debug, Default)]
pub(super) struct Showing {
    watched: bool,
    looked_ms: Option<u64>,
    viewed_ms: Option<u64>,
    sampled_ms: Option<u64>,
    names: Names,
}

fn due(last_ms: Option<u64>, now_ms: u64, every_ms: u64) -> bool {
    last_ms.is_none_or(|last| now_ms.abs_diff(last) >= every_ms)
}

impl Worker {
    /// Notes the text of a key that is hot, if the configuration lets it be shown.
    #[inline]
    pub fn note_key(&mut self, key: KeyHash, text: &[u8]) {
        if self.config.clear_keys {
            self.showing.names.note(key, text);
        }
    }

    pub(super) fn show(
        &mut self,
        desk: &mut Desk,
        now_ms: u64,
        store: &mut dyn SharedStore,
    ) -> Result<(), StoreFault> {
        if due(self.showing.looked_ms, now_ms, LOOK_MS) {
            self.showing.looked_ms = Some(now_ms);
            let shelf = &mut desk.display.watch;
            self.showing.watched = watch::is_on(shelf, store, &mut self.tally, now_ms)?;
        }
        if !self.showing.watched {
            return Ok(());
        }
        if due(desk.display.text_at_ms, now_ms, TEXT_MS) {
            desk.display.text_at_ms = Some(now_ms);
            self.show_text(desk, store)?;
        }
        if due(self.showing.viewed_ms, now_ms, VIEW_MS) {
            self.showing.viewed_ms = Some(now_ms);
            self.show_view(desk, now_ms, store)?;
        }
        Ok(())
    }

    fn show_text(
        &mut self,
        desk: &mut Desk,
        store: &mut dyn SharedStore,
    ) -> Result<(), StoreFault> {
        let digest = self.config.digest;
        let shelf = &mut desk.display.text;
        let seen = shelf.read_own(store, &mut self.tally, digest, shown::open_text)?;
        if seen.value.is_none() {
            let sealed = shown::seal_text(digest, &self.config.text);
            shelf.replace(store, &mut self.tally, seen.expect, &sealed)?;
        }
        Ok(())
    }

    fn show_view(
        &mut self,
        desk: &mut Desk,
        now_ms: u64,
        store: &mut dyn SharedStore,
    ) -> Result<(), StoreFault> {
        let Some(slot) = desk.slot.number() else { return Ok(()) };
        if self.config.clear_keys {
            let hottest = self.hottest();
            self.showing.names.want(&hottest);
        }
        let digest = self.config.digest;
        let mut shelf = Shelf::new(key(desk.slot.arena(), &format!("slot/{slot}/view")));
        let seen = shelf.read_own(store, &mut self.tally, digest, shown::open_view)?;
        let sealed = shown::seal_view(digest, &self.view(now_ms));
        shelf.replace(store, &mut self.tally, seen.expect, &sealed)?;
        Ok(())
    }

    fn hottest(&self) -> Vec<KeyHash> {
        let mut tracked: Vec<&Tracked> = self.router.sketch().entries().iter().collect();
        tracked.sort_unstable_by(|a, b| b.guaranteed().total_cmp(&a.guaranteed()));
        tracked.iter().take(MAX_NAMES).map(|tracked| tracked.key).collect()
    }

    fn view(&self, now_ms: u64) -> View {
        let (loads, local, plan) = (self.router.loads(), self.router.local(), self.plan());
        let in_flight = |id| u16::try_from(loads.in_flight(id)).unwrap_or(u16::MAX);
        View {
            heartbeat_ms: now_ms,
            plan_version: plan.map_or(0, |plan| plan.version),
            plan_epoch: plan.map_or(0, |plan| plan.epoch),
            members_digest: plan.map_or(0, |plan| plan.members.digest()),
            in_flight: local.iter().map(|&id| in_flight(id)).collect(),
            names: self.showing.names.known(),
        }
    }

    /// The planner knows the load of all: it adds a sample to the last minutes, now and then.
    pub(super) fn sample_history(
        &mut self,
        desk: &mut Desk,
        members: &Members,
        loads: &LoadMap,
        now_ms: u64,
        store: &mut dyn SharedStore,
    ) -> Result<(), StoreFault> {
        let config = self.config.clone();
        if !self.showing.watched || !due(self.showing.sampled_ms, now_ms, SAMPLE_MS) {
            return Ok(());
        }
        // The counts are by these members; right after a change the plan in force may have others.
        let Some(plan) = self.plan().filter(|plan| plan.members == *members).cloned() else {
            return Ok(());
        };
        let shelf = &mut desk.display.history;
        let seen = shelf.read_own(store, &mut self.tally, config.digest, shown::open_history)?;
        let mut history = seen.value.unwrap_or_default();
        self.showing.sampled_ms = history.last_ms().filter(|last| *last <= now_ms);
        if due(self.showing.sampled_ms, now_ms, SAMPLE_MS) {
            self.showing.sampled_ms = Some(now_ms);
            history.add(&plan, config.rotation.candidates, loads, now_ms);
            let sealed = shown::seal_history(config.digest, &history);
            shelf.replace(store, &mut self.tally, seen.expect, &sealed)?;
        }
        Ok(())
    }

    /// Servers that the last poll found and left out, if they changed.
    pub(super) fn show_left_out(
        &mut self,
        left_out: &[LeftOut],
        store: &mut dyn SharedStore,
    ) -> Result<(), StoreFault> {
        let Some(desk) = self.desk.as_mut().filter(|_| self.showing.watched) else {
            return Ok(());
        };
        let (config, shelf) = (self.config.digest, &mut desk.display.left_out);
        let seen = shelf.read_own(store, &mut self.tally, config, shown::open_left_out)?;
        if seen.value.as_deref() != Some(left_out) {
            let sealed = shown::seal_left_out(config, left_out);
            shelf.replace(store, &mut self.tally, seen.expect, &sealed)?;
        }
        Ok(())
    }
}

/// The texts of the few keys that are hottest in this worker, ordered by their hash.
#[derive(Debug, Default)]
struct Names(Vec<(KeyHash, Vec<u8>)>);

impl Names {
    /// From now on these; what is known of them stays.
    fn want(&mut self, keys: &[KeyHash]) {
        let mut wanted: Vec<_> = (keys.iter())
            .map(|key| (*key, self.find(*key).map(|at| self.0[at].1.clone()).unwrap_or_default()))
            .collect();
        wanted.sort_unstable_by_key(|(key, _)| *key);
        self.0 = wanted;
    }

    #[inline]
    fn note(&mut self, key: KeyHash, text: &[u8]) {
        if let Some(at) = self.find(key)
            && self.0[at].1.is_empty()
        {
            self.0[at].1 = text[..text.len().min(MAX_NAME_BYTES)].to_vec();
        }
    }

    #[inline]
    fn find(&self, key: KeyHash) -> Option<usize> {
        self.0.binary_search_by_key(&key, |(known, _)| *known).ok()
    }

    fn known(&self) -> Vec<(KeyHash, Vec<u8>)> {
        self.0.iter().filter(|(_, text)| !text.is_empty()).cloned().collect()
    }
}
