use std::path::PathBuf;
use std::time::{Duration, Instant};

use rudolph_cluster::Cluster;
use serde::Serialize;

use super::artefacts::Artefacts;
use super::disturbance::Disturbance;
use super::load::{Counts, Load};
use super::{Findings, Sample};
use crate::{ReliabilityError, planted_trap, probe};

#[derive(Clone, Debug, Serialize)]
pub struct Options {
    pub minutes: f64,
    /// Requests a second.
    pub rate: f64,
    /// Seconds between two things that happen to the cluster; one is over before the next begins.
    pub disturb_every_s: f64,
    pub sample_every_s: f64,
    pub servers: usize,
    pub workers: u32,
    pub seed: u64,
    /// Where the files go. Left out of them, as it says nothing of the run.
    #[serde(skip)]
    pub folder: PathBuf,
    /// `target/rudolph.wasm`, unless it is elsewhere.
    #[serde(skip)]
    pub module: PathBuf,
}

/// What a run found.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    pub options: Options,
    pub versions: String,
    pub lasted_s: f64,
    pub requests: u64,
    pub hit_percent: f64,
    pub errors: std::collections::BTreeMap<String, u64>,
    pub disturbances: usize,
    /// Disturbances that could not be carried out, as on a machine that is too busy; the run goes on.
    pub not_done: Vec<String>,
    pub findings: Findings,
    pub wrong: Vec<String>,
}

/// Longer than any disturbance; the load ends by itself then, should nobody stop it.
const GRACE: Duration = Duration::from_secs(120);
const PATIENCE: Duration = Duration::from_secs(60);

pub async fn run(
    options: &Options,
    mut told: impl FnMut(&str),
) -> Result<Outcome, ReliabilityError> {
    let versions = rudolph_cluster::envoy_version()?;
    let mut artefacts = Artefacts::create(&options.folder)?;
    let mut cluster = start(options).await?;
    told("the cluster runs");
    let length = Duration::from_secs_f64(options.minutes * 60.0);
    let load = Load::start(cluster.envoy_address(), options.rate, length + GRACE, options.seed)?;
    let mut course = Course::new(options, length);
    let watched = course.watch(&mut cluster, &load, &mut artefacts, &mut told).await;
    let counts = load.stop().await?;
    let (samples, outcome) = course.into_outcome(&counts, versions);
    // What was seen is written also if Envoy ended early, and that is the error.
    artefacts.finish(&samples, &outcome)?;
    watched?;
    Ok(outcome)
}

async fn start(options: &Options) -> Result<Cluster, ReliabilityError> {
    let file = |name: &str| options.folder.join(name);
    let planted = file("rudolph-with-trap.wasm");
    planted_trap::plant(&options.module, &planted)?;
    let extension = probe::extension(&file("probe.wasm"))?;
    let builder = Cluster::builder().servers(options.servers).concurrency(options.workers);
    let builder = builder.strategy("spread").module(planted).bootstrap_extension(extension);
    Ok(builder.patience(PATIENCE).start().await?)
}

struct Course<'o> {
    options: &'o Options,
    started: Instant,
    length: Duration,
    samples: Vec<Sample>,
    turns: usize,
    not_done: Vec<String>,
}

impl<'o> Course<'o> {
    fn new(options: &'o Options, length: Duration) -> Self {
        let started = Instant::now();
        Self { options, started, length, samples: Vec::new(), turns: 0, not_done: Vec::new() }
    }

    async fn watch(
        &mut self,
        cluster: &mut Cluster,
        load: &Load,
        artefacts: &mut Artefacts,
        told: &mut impl FnMut(&str),
    ) -> Result<(), ReliabilityError> {
        let (mut next_sample, mut next_disturbance) = (0.0, self.options.disturb_every_s);
        while self.started.elapsed() < self.length {
            cluster.check_running()?;
            let now_s = self.started.elapsed().as_secs_f64();
            if now_s >= next_sample {
                next_sample =
                    now_s - now_s % self.options.sample_every_s + self.options.sample_every_s;
                self.sample(cluster, load, artefacts, told).await?;
            } else if now_s >= next_disturbance {
                next_disturbance = now_s + self.options.disturb_every_s;
                self.disturb(cluster).await;
            } else {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        Ok(())
    }

    async fn sample(
        &mut self,
        cluster: &Cluster,
        load: &Load,
        artefacts: &mut Artefacts,
        told: &mut impl FnMut(&str),
    ) -> Result<(), ReliabilityError> {
        let at_s = self.started.elapsed().as_secs_f64();
        let sample = match Sample::take(cluster, at_s, &load.counts()).await {
            Ok(sample) => sample,
            // An admin interface that is late once is no end of the run.
            Err(error) => {
                self.not_done.push(format!("{at_s:.0} s: sample: {error}"));
                return Ok(());
            }
        };
        artefacts.add(&sample)?;
        if self.samples.len().is_multiple_of(6) {
            let minutes = at_s / 60.0;
            told(&format!(
                "{minutes:.1} of {} min: {} MiB resident, {} requests, {} failed, plan {}",
                self.options.minutes,
                sample.resident_bytes >> 20,
                sample.requests,
                sample.errors,
                sample.plan_version,
            ));
        }
        self.samples.push(sample);
        Ok(())
    }

    async fn disturb(&mut self, cluster: &mut Cluster) {
        let disturbance = Disturbance::of_turn(self.turns);
        if let Err(error) = disturbance.happen(cluster, self.turns).await {
            let at_s = self.started.elapsed().as_secs_f64();
            let first_line = error.to_string().lines().next().unwrap_or_default().to_owned();
            self.not_done.push(format!("{at_s:.0} s: {disturbance:?}: {first_line}"));
        }
        self.turns += 1;
    }

    fn into_outcome(self, counts: &Counts, versions: String) -> (Vec<Sample>, Outcome) {
        let mut samples = self.samples;
        if let Some(last) = samples.last_mut() {
            // The whole run's, so that nothing that failed at the very end is missing.
            last.errors = counts.errors.values().sum();
            last.requests = counts.requests;
        }
        let findings = Findings::of(&samples);
        let lookups = (counts.hits + counts.misses).max(1);
        let outcome = Outcome {
            options: self.options.clone(),
            versions,
            lasted_s: self.started.elapsed().as_secs_f64(),
            requests: counts.requests,
            hit_percent: 100.0 * counts.hits as f64 / lookups as f64,
            errors: counts.errors.clone(),
            disturbances: self.turns,
            not_done: self.not_done,
            wrong: findings.wrong(),
            findings,
        };
        (samples, outcome)
    }
}
