//! Short forms of `make chaos`, `make soak` and `make load-limits`, on a real Envoy.

#[path = "../../cluster/tests/common/app_server.rs"]
mod app_server;

use std::path::{Path, PathBuf};

use rudolph_reliability::chaos::{self, Contender, Fault, Phases, Plan, Trial};
use rudolph_reliability::{ReliabilityError, limits, soak};

fn module() -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/rudolph.wasm");
    std::env::var_os("RUDOLPH_WASM").map_or(built, PathBuf::from)
}

fn of(trials: &[Trial], fault: Fault) -> &Trial {
    trials.iter().find(|trial| trial.fault == fault).expect("every fault was tried")
}

#[tokio::test]
async fn a_killed_server_and_a_trap_fail_no_request() -> Result<(), ReliabilityError> {
    app_server::is_built();
    let faults = vec![Fault::Kill, Fault::Trap];
    let plan = Plan { faults, phases: Phases::QUICK, rate: 200.0, seed: 1 };
    let module = module();
    let (filter, rival) = tokio::join!(
        chaos::run(Contender::Spread, &plan, &module, |_| {}),
        chaos::run(Contender::Maglev, &plan, &module, |_| {}),
    );
    let (filter, rival) = (filter?, rival?);
    let trials: Vec<Trial> = filter.iter().chain(&rival).cloned().collect();
    assert_eq!(chaos::judge(&trials), [], "{trials:#?}");
    for trial in &trials {
        assert!(trial.outcome.requests > 500, "hardly any load: {trial:?}");
    }
    // The faults happened: a VM was built anew, and what the killed server had was sent again.
    let risen = |fault, name: &str| of(&filter, fault).outcome.risen.get(name).copied();
    assert!(risen(Fault::Trap, "wasm.rudolph.vm_reload_success") > Some(0), "{filter:#?}");
    assert!(risen(Fault::Kill, "cluster.app.upstream_rq_retry") > Some(0), "{filter:#?}");
    Ok(())
}

#[tokio::test]
async fn a_soak_sees_what_it_judges() -> Result<(), ReliabilityError> {
    app_server::is_built();
    let folder = tempfile::tempdir().expect("a folder");
    let options = soak::Options {
        minutes: 0.3,
        rate: 100.0,
        disturb_every_s: 1.0,
        sample_every_s: 1.0,
        servers: 3,
        workers: 2,
        seed: 1,
        folder: folder.path().to_owned(),
        module: module(),
    };
    let outcome = soak::run(&options, |_| {}).await?;
    assert!(outcome.requests > 500 && outcome.disturbances >= 2, "{outcome:?}");
    let most = |name: &str| {
        let found = outcome.findings.figures.iter().find(|figure| figure.name == name);
        found.map_or(0.0, |figure| figure.most)
    };
    // Two workers, the main thread, and one that they are copied from; the probe has two of its own.
    assert!(most("VMs") >= 6.0, "{outcome:?}");
    assert!(most("linear memory of all VMs") >= 4.0, "{outcome:?}");
    assert!(most("linear memory of the largest VM") < 8.0, "{outcome:?}");
    assert!(most("shared data") > 0.5, "{outcome:?}");
    assert!(most("values in shared data") >= 6.0, "{outcome:?}");
    for name in ["samples.csv", "summary.json", "soak.md", "memory.svg", "shared-data.svg"] {
        assert!(folder.path().join(name).is_file(), "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn two_thousand_connections_and_thirty_two_workers_find_their_servers()
-> Result<(), ReliabilityError> {
    let options = limits::Options { connections: 2_000, workers: 32, rounds: 2, module: module() };
    let outcome = limits::run(&options, |_| {}).await?;
    assert_eq!(outcome.wrong(), Vec::<String>::new(), "{outcome:#?}");
    Ok(())
}
