//! The core's counters and gauges as Envoy metrics, written once a tick and never on a request.

use proxy_wasm::types::MetricType;
use rudolph_core::telemetry::{Counter, Counters, Gauge, Gauges};
use rudolph_status::Readings;

use crate::host::{self, HostFault};

/// The metrics of one filter.
#[derive(Debug)]
pub(crate) struct Metrics {
    counters: Vec<u32>,
    gauges: Vec<u32>,
    counted: Counters,
}

impl Metrics {
    pub(crate) fn define(prefix: &str) -> Result<Self, HostFault> {
        let define = |kind, name: &str| host::define_metric(kind, &format!("{prefix}.{name}"));
        let counter = |counter: &Counter| define(MetricType::Counter, counter.name());
        let gauge = |gauge: &Gauge| define(MetricType::Gauge, gauge.name());
        Ok(Self {
            counters: Counter::ALL.iter().map(counter).collect::<Result<_, _>>()?,
            gauges: Gauge::ALL.iter().map(gauge).collect::<Result<_, _>>()?,
            counted: Counters::default(),
        })
    }

    /// Counts what came since the last time, and shows the gauges given. A count that fails is made up for the next time.
    pub(crate) fn write(&mut self, counters: Counters, gauges: Gauges) -> Result<(), HostFault> {
        for (gauge, value) in Gauge::ALL.iter().zip(gauges) {
            if let Some(value) = value {
                self.show(*gauge, value)?;
            }
        }
        for (i, &count) in counters.iter().enumerate() {
            let more = count - self.counted[i];
            if more > 0 {
                host::increment_metric(self.counters[i], more)?;
                self.counted[i] = count;
            }
        }
        Ok(())
    }

    /// What Envoy says of all of them, from all workers.
    pub(crate) fn read(&self) -> Result<Readings, HostFault> {
        let mut readings = Readings::default();
        for (value, id) in readings.counters.iter_mut().zip(&self.counters) {
            *value = host::metric(*id)?;
        }
        for (value, id) in readings.gauges.iter_mut().zip(&self.gauges) {
            *value = host::metric(*id)?;
        }
        Ok(readings)
    }

    /// All workers write one gauge, and the last to adopt a plan must not show an older one.
    fn show(&self, gauge: Gauge, value: u64) -> Result<(), HostFault> {
        let id = self.gauges[gauge as usize];
        if gauge == Gauge::PlanVersion && host::metric(id)? >= value {
            return Ok(());
        }
        host::record_metric(id, value)
    }
}
