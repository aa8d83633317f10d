use std::{rc::Rc, sync::Arc, thread};

use hyper::header::HeaderValue;
use rudolph_precise_sleep::PreciseSleep;
use rudolph_workload::KeyStream;
use tokio::{
    runtime,
    sync::{oneshot, watch},
    task::LocalSet,
};

use crate::{
    ConfigError, HttpSender, LoadConfig, LoadError, Pacer, Report, Snapshot, StopRule, closed_loop,
    open_loop::OpenLoop,
    shared::{Shared, SnapshotSender},
};

/// A run under way, on a thread of its own. Dropping it stops the load.
#[derive(Debug)]
pub struct LoadRun {
    report: oneshot::Receiver<Result<Report, LoadError>>,
    snapshots: watch::Receiver<Option<Arc<Snapshot>>>,
    stopper: Stopper,
}

/// Ends a run early; what was measured until then is reported.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<watch::Sender<bool>>);

impl Stopper {
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl LoadRun {
    /// Validates, and starts sending.
    pub fn start(config: LoadConfig) -> Result<Self, LoadError> {
        config.validate()?;
        let stream = config.workload.build()?;
        // Otherwise exactly the requests to come would be hits.
        let stream = if config.warming { stream.redrawn() } else { stream };
        let host = host_header(&config)?;
        let (answer, report) = oneshot::channel();
        let (seconds, snapshots) = watch::channel(None);
        let (stop, stopped) = watch::channel(false);
        thread::Builder::new().name("load".into()).spawn(move || {
            _ = answer.send(run(config, stream, &host, seconds, stopped)); // nobody may wait for it
        })?;
        Ok(Self { report, snapshots, stopper: Stopper(Arc::new(stop)) })
    }

    /// The last whole second, again each second; `None` before the first. The channel closes when the run ends.
    #[must_use]
    pub fn snapshots(&self) -> watch::Receiver<Option<Arc<Snapshot>>> {
        self.snapshots.clone()
    }

    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Waits for the end. A run in which the generator was the bottleneck is an error that carries its report.
    pub async fn finish(self) -> Result<Report, LoadError> {
        let Self { report, stopper: _keep, .. } = self;
        report.await.map_err(|_| LoadError::Lost)?
    }

    /// Waits for the end, and takes the report also if the generator was the bottleneck: its `void` says so.
    pub async fn finish_anyway(self) -> Result<Report, LoadError> {
        match self.finish().await {
            Err(LoadError::Bottleneck { report, .. }) => Ok(*report),
            other => other,
        }
    }

    /// The same as [`LoadRun::finish`] outside of async code.
    pub fn finish_blocking(self) -> Result<Report, LoadError> {
        let Self { report, stopper: _keep, .. } = self;
        report.blocking_recv().map_err(|_| LoadError::Lost)?
    }
}

fn host_header(config: &LoadConfig) -> Result<HeaderValue, ConfigError> {
    let text = match config.host.as_str() {
        "" => config.target.to_string(),
        host => host.to_owned(),
    };
    HeaderValue::from_str(&text).map_err(|_| ConfigError::OutOfBounds {
        option: "host",
        value: format!("{text:?}"),
        allowed: "visible ASCII without spaces",
    })
}

fn run(
    config: LoadConfig,
    stream: KeyStream,
    host: &HeaderValue,
    seconds: SnapshotSender,
    stopped: watch::Receiver<bool>,
) -> Result<Report, LoadError> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let drive = async {
        let rule = StopRule::new(config.warm_up, config.duration, config.max_requests);
        let shared = Rc::new(Shared::new(rule, stream, seconds)?);
        drive(&config, host, &shared, stopped).await?;
        Ok(shared)
    };
    let local = LocalSet::new();
    let shared: Result<_, LoadError> = local.block_on(&runtime, drive);
    let shared = shared?;
    drop(local); // and with it what was still under way, which held on to `shared`
    let shared = Rc::into_inner(shared).ok_or(LoadError::Lost)?;
    let (totals, generator, window) = shared.into_totals();
    judge(Report::new(config, totals, generator, window))
}

async fn drive(
    config: &LoadConfig,
    host: &HeaderValue,
    shared: &Rc<Shared>,
    mut stopped: watch::Receiver<bool>,
) -> Result<(), LoadError> {
    tokio::select! {
        done = load(config, host, Rc::clone(shared)) => done,
        () = shared.keep_time(PreciseSleep::new()) => Ok(()), // it never returns
        _ = stopped.wait_for(|&stopped| stopped) => Ok(()), // asked, or nobody is left who could ask
    }
}

async fn load(
    config: &LoadConfig,
    host: &HeaderValue,
    shared: Rc<Shared>,
) -> Result<(), LoadError> {
    let sender = || {
        let sender = HttpSender::new(config.target, host.clone(), config.request_timeout);
        sender.warming(config.warming)
    };
    match Pacer::new(config.arrivals, config.arrival_seed) {
        None => {
            closed_loop::run(shared, config.connections, sender).await;
            Ok(())
        }
        Some(pacer) => {
            let open = OpenLoop::new(shared, config.connections, sender);
            let grace = config.request_timeout;
            open.run(pacer, PreciseSleep::new(), grace).await
        }
    }
}

/// Refuses figures that are about the generator.
fn judge(report: Report) -> Result<Report, LoadError> {
    if report.void.is_empty() {
        return Ok(report);
    }
    Err(LoadError::Bottleneck { reasons: report.void.clone(), report: Box::new(report) })
}
