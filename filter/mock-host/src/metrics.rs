//! Envoy's metrics as a module sees them: names belong to the host, ids to one VM.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::abi::{MetricType, Status};
use crate::locked::Locked;

/// Samples a histogram was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistogramSummary {
    /// Number of samples.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
}

#[derive(Debug, Default)]
struct Registry {
    index: BTreeMap<(MetricType, Vec<u8>), usize>,
    values: Vec<HistogramSummary>,
}

/// A handle on the metrics of one host; clones see the same metrics. They never expire.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Locked<Registry>>);

impl Metrics {
    /// The place of a metric, made on first use: the same name is the same metric for every VM.
    pub(crate) fn define(&self, kind: MetricType, name: &[u8]) -> usize {
        let mut registry = self.0.hold();
        if let Some(&place) = registry.index.get(&(kind, name.to_vec())) {
            return place;
        }
        let place = registry.values.len();
        registry.values.push(HistogramSummary::default());
        registry.index.insert((kind, name.to_vec()), place);
        place
    }

    pub(crate) fn value(&self, place: usize) -> u64 {
        self.0.hold().values[place].sum
    }

    pub(crate) fn change(&self, place: usize, change: impl FnOnce(u64) -> u64) {
        let value = &mut self.0.hold().values[place];
        value.sum = change(value.sum);
        value.count += 1;
    }

    fn find(&self, kind: MetricType, name: &str) -> Option<HistogramSummary> {
        let registry = self.0.hold();
        let place = *registry.index.get(&(kind, name.as_bytes().to_vec()))?;
        registry.values.get(place).copied()
    }

    /// Value of a counter, by the name the module gave it (Envoy shows it with `wasmcustom.` before).
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.find(MetricType::Counter, name).map(|value| value.sum)
    }

    /// Value of a gauge.
    pub fn gauge(&self, name: &str) -> Option<u64> {
        self.find(MetricType::Gauge, name).map(|value| value.sum)
    }

    /// Samples of a histogram.
    pub fn histogram(&self, name: &str) -> Option<HistogramSummary> {
        self.find(MetricType::Histogram, name)
    }

    /// Every metric, by kind and then name.
    pub fn names(&self) -> Vec<(MetricType, String)> {
        let registry = self.0.hold();
        let text = |name: &Vec<u8>| String::from_utf8_lossy(name).into_owned();
        registry.index.keys().map(|(kind, name)| (*kind, text(name))).collect()
    }

    /// Number of distinct metrics: to assert that no name holds a key or a bin.
    pub fn distinct_names(&self) -> usize {
        self.0.hold().index.len()
    }
}

const TYPE_BITS: u32 = 2;
const TYPE_MASK: u32 = 3;

/// The metric ids one VM was given: the kind in the low two bits, then a number from 1.
/// Defining a name again gives a new id for the same metric, as in Envoy.
#[derive(Debug, Default)]
pub(crate) struct MetricIds {
    places: [Vec<usize>; 3],
}

impl MetricIds {
    pub(crate) fn define(
        &mut self,
        metrics: &Metrics,
        kind: u32,
        name: &[u8],
    ) -> Result<u32, Status> {
        let kind = MetricType::from_number(kind).ok_or(Status::BadArgument)?;
        let places = &mut self.places[kind as usize];
        places.push(metrics.define(kind, name));
        let number = u32::try_from(places.len()).map_err(|_| Status::InternalFailure)?;
        Ok(number << TYPE_BITS | kind as u32)
    }

    fn kind(id: u32) -> Option<MetricType> {
        MetricType::from_number(id & TYPE_MASK)
    }

    fn place(&self, kind: MetricType, id: u32) -> Result<usize, Status> {
        let number = (id >> TYPE_BITS) as usize;
        let place = number.checked_sub(1).and_then(|at| self.places[kind as usize].get(at));
        place.copied().ok_or(Status::NotFound)
    }

    /// A counter takes only positive steps: 0 and less are bad arguments. Histograms take none.
    pub(crate) fn increment(&self, metrics: &Metrics, id: u32, by: i64) -> Result<(), Status> {
        let kind = Self::kind(id).ok_or(Status::BadArgument)?;
        if kind == MetricType::Histogram {
            return Err(Status::BadArgument);
        }
        let place = self.place(kind, id)?;
        if kind == MetricType::Counter && by <= 0 {
            return Err(Status::BadArgument);
        }
        metrics.change(place, |value| value.wrapping_add_signed(by));
        Ok(())
    }

    /// Sets a gauge, adds to a counter, samples a histogram.
    pub(crate) fn record(&self, metrics: &Metrics, id: u32, given: u64) -> Result<(), Status> {
        let kind = Self::kind(id).ok_or(Status::NotFound)?;
        let place = self.place(kind, id)?;
        metrics.change(place, |value| match kind {
            MetricType::Gauge => given,
            MetricType::Counter | MetricType::Histogram => value.wrapping_add(given),
        });
        Ok(())
    }

    pub(crate) fn get(&self, metrics: &Metrics, id: u32) -> Result<u64, Status> {
        let kind = Self::kind(id).ok_or(Status::BadArgument)?;
        if kind == MetricType::Histogram {
            return Err(Status::BadArgument);
        }
        Ok(metrics.value(self.place(kind, id)?))
    }
}
