//! The status page: what the workers left in the shared store, as a page, as JSON, and as the reason for one key.
//!
//! It reads and never decides. [`Status::answer`] turns a request into a response, in these steps, a file each:
//! 1. [`request`]: what is asked, or why it is refused;
//! 2. [`survey`]: everything of one configuration, as its workers told it in [`rudolph_core::shown`];
//! 3. [`report`]: the document, with the [`causes`] of fall-backs from Envoy's own counters;
//! 4. [`explain`]: the way of one key, by [`lookup`], which uses the router's own tables.

mod causes;
mod document;
mod explain;
mod lookup;
mod page;
mod report;
mod request;
mod survey;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use causes::{MetricSource, Readings};
pub use document::DOCUMENT_FORMAT;
pub use page::{POLICY, document};
pub use request::{Request, Response};

use causes::Meter;
use request::{Asked, Refusal};
use rudolph_core::agreement::{SharedStore, StoreFault};
use rudolph_core::config::{Config, StatusConfig};
use rudolph_core::plan::Plan;
use rudolph_core::shown::watch;
use rudolph_core::table::Table;
use survey::{Filter, Survey};

/// Tables that are kept: they cost milliseconds to make.
const MAX_TABLES: usize = 3;

/// Tables that were needed lately, the last one last.
#[derive(Debug, Default)]
pub struct Tables(Vec<(u64, Arc<Plan>, Arc<Table>)>);

impl Tables {
    /// A table that somebody else has: it need not be made.
    pub fn lend(&mut self, config: &Config, plan: &Arc<Plan>, table: &Arc<Table>) {
        self.keep(config.digest, plan.clone(), table.clone());
    }

    fn keep(&mut self, digest: u64, plan: Arc<Plan>, table: Arc<Table>) {
        self.0.retain(|(other, known, _)| *other != digest || !known.places_like(&plan));
        if self.0.len() == MAX_TABLES {
            self.0.remove(0);
        }
        self.0.push((digest, plan, table));
    }

    fn of(&mut self, config: &Config, plan: &Plan) -> Arc<Table> {
        let fits = |(digest, known, _): &&(u64, Arc<Plan>, Arc<Table>)| {
            *digest == config.digest && known.places_like(plan)
        };
        if let Some((_, _, table)) = self.0.iter().find(fits) {
            return table.clone();
        }
        let table = Arc::new(Table::of(plan, config));
        self.keep(config.digest, Arc::new(plan.clone()), table.clone());
        table
    }
}

/// One place that serves the page.
#[derive(Debug)]
pub struct Status {
    config: StatusConfig,
    rules: Vec<Arc<Config>>,
    tables: Tables,
    meters: BTreeMap<String, Meter>,
}

impl Status {
    #[must_use]
    pub fn new(config: StatusConfig) -> Self {
        Self { config, rules: Vec::new(), tables: Tables::default(), meters: BTreeMap::new() }
    }

    /// Tables that the filters of this VM have are lent here before a request is answered.
    pub fn tables(&mut self) -> &mut Tables {
        &mut self.tables
    }

    /// Says that somebody may look, and notes what was counted so far; every [`watch::HEARTBEAT_MS`].
    ///
    /// # Errors
    /// The store's.
    pub fn tick(
        &mut self,
        now_ms: u64,
        store: &mut dyn SharedStore,
        metrics: &mut dyn MetricSource,
    ) -> Result<(), StoreFault> {
        watch::keep_on(store, now_ms)?;
        let filters = survey::filters(store, &mut self.rules, now_ms)?;
        let prefixes = filters.iter().map(|filter| filter.config.stat_prefix.clone());
        let mut before = std::mem::take(&mut self.meters);
        for prefix in prefixes {
            let mut meter = before.remove(&prefix).unwrap_or_default();
            if let Some(readings) = metrics.read(&prefix) {
                meter.note(now_ms, readings.counters);
            }
            self.meters.insert(prefix, meter);
        }
        Ok(())
    }

    /// Answers a request; changes nothing.
    pub fn answer(
        &mut self,
        request: &Request,
        now_ms: u64,
        store: &mut dyn SharedStore,
        metrics: &mut dyn MetricSource,
    ) -> Response {
        match request::read(request, &self.config.hosts) {
            Ok(Asked::Page) => request::html(page::document().into_bytes(), page::POLICY),
            Ok(asked) => self.look(asked, now_ms, store, metrics),
            Err(refusal) => request::refused(&refusal),
        }
    }

    fn look(
        &mut self,
        asked: Asked,
        now_ms: u64,
        store: &mut dyn SharedStore,
        metrics: &mut dyn MetricSource,
    ) -> Response {
        let Ok(filters) = survey::filters(store, &mut self.rules, now_ms) else {
            return request::failed();
        };
        let wanted = match &asked {
            Asked::Status { filter } | Asked::Explain { filter, .. } => *filter,
            Asked::Page => None,
        };
        let chosen = match choose(&filters, wanted) {
            Ok(chosen) => chosen,
            Err(refusal) => return request::refused(&refusal),
        };
        let survey = chosen.map(|filter| Survey::take(store, filter, now_ms)).transpose();
        let Ok(survey) = survey else {
            return request::failed();
        };
        match asked {
            Asked::Explain { key, without, .. } => {
                let tables = &mut self.tables;
                match explain::explain(survey.as_ref(), tables, key, without.as_deref(), now_ms) {
                    Ok(explanation) => request::json(200, &explanation),
                    Err(refusal) => request::refused(&refusal),
                }
            }
            Asked::Page | Asked::Status { .. } => {
                let state = survey.map(|survey| self.state(&survey, now_ms, metrics));
                request::json(200, &report::document(&self.config, &filters, state, now_ms))
            }
        }
    }

    fn state(
        &mut self,
        survey: &Survey,
        now_ms: u64,
        metrics: &mut dyn MetricSource,
    ) -> document::FilterState {
        let prefix = &survey.config.stat_prefix;
        let readings = metrics.read(prefix);
        let meter = self.meters.entry(prefix.clone()).or_default();
        report::state(survey, &mut self.tables, meter, readings.as_ref(), now_ms)
    }
}

/// The one that is asked for, or the first.
fn choose(filters: &[Filter], wanted: Option<u64>) -> Result<Option<&Filter>, Refusal> {
    match wanted {
        None => Ok(filters.first()),
        Some(id) => match filters.iter().find(|filter| filter.config.digest == id) {
            Some(filter) => Ok(Some(filter)),
            None => Err(Refusal::NoSuchFilter(id)),
        },
    }
}
