//! From trials to files and the page, for every shipped experiment, with trials made up by a seed.

#![allow(clippy::unwrap_used)] // helpers of tests are tests too

use rudolph_experiments::{
    Contender, Machine, Metric, SHIPPED, Second, Seconds, Spec, Trial,
    artefacts::Outcome,
    campaign,
    raw::{self, Setting},
    report, shipped,
};
use rudolph_workload::SplitMix64;

const SEED: u64 = 7;

/// Trials as a run would leave them, with figures from a generator.
fn trials(spec: &Spec) -> Vec<Trial> {
    let mut rng = SplitMix64::for_purpose(SEED, 0);
    campaign::order(spec)
        .into_iter()
        .map(|(repeat, who)| trial(spec, repeat, who, &mut rng))
        .collect()
}

fn trial(spec: &Spec, repeat: u32, contender: Contender, rng: &mut SplitMix64) -> Trial {
    let mut seconds = |share: f64| {
        let mut second = |at: u64| Second {
            second: at,
            requests: 500 + rng.next_below(100),
            hits: 400 + rng.next_below(50),
            misses: 50,
            errors: 0,
            p50_ms: 5.0,
            p95_ms: 10.0 + rng.next_unit() * 5.0,
            p99_ms: 20.0 + rng.next_unit() * 5.0,
            share_over_mean: share,
        };
        (0..spec.load.seconds).map(&mut second).collect::<Vec<_>>()
    };
    let seconds = Seconds {
        all: seconds(1.3),
        servers: (0..spec.servers.count).map(|at| (format!("s{at}"), seconds(1.0))).collect(),
    };
    Trial {
        contender,
        repeat,
        seed: spec.workload_of(repeat).seed,
        values: Metric::ALL.map(|metric| (metric, 1.0 + rng.next_below(64) as f64 / 64.0)).into(),
        machine_busy_percent: 30.0,
        generator_cpu_percent: 20.0,
        generator_lag_p99_ms: 0.2,
        void: Vec::new(),
        seconds,
    }
}

fn setting(spec: &Spec) -> Setting {
    Setting {
        spec: spec.clone(),
        quick: false,
        machine: Machine::this(),
        command: "make".to_owned(),
        versions: "Envoy".to_owned(),
    }
}

fn outcome(spec: &Spec, trials: &[Trial]) -> Outcome {
    Outcome::of(setting(spec), trials)
}

#[test]
fn every_experiment_is_told_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    for (name, _) in SHIPPED {
        let spec = shipped(name).unwrap();
        let trials = trials(&spec);
        let outcome = outcome(&spec, &trials);
        assert_eq!(outcome.rows.len(), spec.contenders.len(), "{name}");
        assert_eq!(outcome.verdicts.len(), spec.expectations.len(), "{name}");
        assert!(outcome.paragraphs.len() >= 2, "{name}");
        for paragraph in &outcome.paragraphs {
            assert!(!paragraph.contains("NaN") && !paragraph.contains('–'), "{name}: {paragraph}");
        }
        for plot in &outcome.plots {
            assert!(!plot.svg.contains("NaN") && plot.svg.len() > 1000, "{name}: {}", plot.name);
        }
        raw::write(&folder.path().join(name), &setting(&spec), &trials).unwrap();
    }
    let page = report::page(folder.path()).unwrap();
    let order: Vec<&str> = page.sections.iter().map(|section| section.id.as_str()).collect();
    assert_eq!(order, SHIPPED.map(|(name, _)| name));
    assert!(page.html().contains("All strategies and rivals, closed loop"));
    for file in ["summary.json", "table.md", "rps.svg", "rps.png"] {
        assert!(folder.path().join("rivals").join(file).is_file(), "{file}");
    }
}

#[test]
fn what_was_written_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let spec = shipped("failover").unwrap();
    let mut trials = trials(&spec);
    // One contender's hits never came back.
    for trial in trials.iter_mut().filter(|trial| trial.contender == spec.reference) {
        trial.values.retain(|(metric, _)| *metric != Metric::RecoveryS);
        trial.values.push((Metric::RecoveryS, f64::INFINITY));
    }
    let outcome = outcome(&spec, &trials);
    raw::write(folder.path(), &outcome.setting, &trials).unwrap();
    let (setting, read) = raw::read(folder.path()).unwrap();
    assert_eq!(setting, outcome.setting);
    let again = Outcome::of(setting, &read);
    assert_eq!(again.rows, outcome.rows);
    assert_eq!(again.paragraphs, outcome.paragraphs);
    assert_eq!(again.plots, outcome.plots);
    assert!(again.table().text().contains("never"));
}

#[test]
fn plots_of_an_earlier_run_go_and_strangers_files_stay() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["notes.txt", "earlier.svg", "earlier.png"] {
        std::fs::write(folder.path().join(name), "before").unwrap();
    }
    let spec = shipped("fig6a").unwrap();
    outcome(&spec, &trials(&spec)).write(folder.path()).unwrap();
    assert!(folder.path().join("notes.txt").exists() && folder.path().join("rps.svg").exists());
    assert!(!folder.path().join("earlier.svg").exists());
    assert!(!folder.path().join("earlier.png").exists());
}

#[test]
fn void_figures_are_marked_wherever_they_show() {
    let spec = shipped("fig6a").unwrap();
    let mut trials = trials(&spec);
    for trial in trials.iter_mut().filter(|trial| trial.contender == spec.reference) {
        trial.void = vec!["the machine's processors were 99% busy (allowed: 92%)".to_owned()];
    }
    let outcome = outcome(&spec, &trials);
    assert_eq!(outcome.void.len(), 3);
    let notice = outcome.notice().unwrap();
    assert!(notice.starts_with("Void") && notice.contains("static, repeat 2"), "{notice}");
    assert!(outcome.table().text().contains("static (void)"));
    assert!(outcome.plots[0].svg.contains("static (void)"));
}
