//! Short forms of `make chaos`, `make soak` and `make load-limits`, on a real Envoy.

#[path = "../../cluster/tests/common/app_server.rs"]
mod app_server;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rudolph_cluster::{Cluster, ServerSettings};
use rudolph_reliability::chaos::{self, Contender, Fault, Phases, Plan, Trial};
use rudolph_reliability::{limits, planted_trap, soak};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn module() -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/rudolph.wasm");
    std::env::var_os("RUDOLPH_WASM").map_or(built, PathBuf::from)
}

/// How much a counter rose in the trial of a fault.
fn risen(trials: &[Trial], fault: Fault, name: &str) -> Option<u64> {
    let trial = trials.iter().find(|trial| trial.fault == fault)?;
    trial.outcome.risen.get(name).copied()
}

#[tokio::test]
async fn a_killed_server_and_a_trap_fail_no_request() -> Result<(), Failure> {
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
    assert!(risen(&filter, Fault::Trap, "wasm.rudolph.vm_reload_success") > Some(0), "{filter:#?}");
    assert!(risen(&filter, Fault::Kill, "cluster.app.upstream_rq_retry") > Some(0), "{filter:#?}");
    Ok(())
}

/// What docs say of a trap: Envoy answers 503 to the request that trapped and to all that its worker has under way, and
/// the next finds a new VM.
#[tokio::test]
async fn a_trap_fails_what_its_worker_has_under_way() -> Result<(), Failure> {
    app_server::is_built();
    let folder = tempfile::tempdir()?;
    let planted = folder.path().join("planted.wasm");
    planted_trap::plant(&module(), &planted)?;
    let long = Duration::from_millis(1_500);
    let settings = ServerSettings { hit: long, miss: long, ..ServerSettings::default() };
    let builder = Cluster::builder().servers(2).server_settings(settings).concurrency(1);
    let cluster = builder.module(planted).patience(Duration::from_secs(60)).start().await?;
    // No VM is so young that Envoy would wait before it builds another.
    tokio::time::sleep(long).await;
    let gateway = cluster.envoy_address();
    let slow = (0..4).map(|key| tokio::spawn(status(gateway, key)));
    let slow: Vec<_> = slow.collect();
    tokio::time::sleep(long / 3).await;
    assert_eq!(planted_trap::pull(gateway).await?, 503);
    for request in slow {
        assert_eq!(request.await??, 503);
    }
    assert_eq!(status(gateway, 9).await?, 200);
    Ok(())
}

async fn status(gateway: SocketAddr, key: u32) -> Result<u16, Failure> {
    let mut stream = TcpStream::connect(gateway).await?;
    let request =
        format!("GET /kv/{key} HTTP/1.1\r\nhost: a\r\nx-key: {key}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    let text = String::from_utf8_lossy(&answer);
    Ok(text.split(' ').nth(1).ok_or("no status line")?.parse()?)
}

#[tokio::test]
async fn a_soak_sees_what_it_judges() -> Result<(), Failure> {
    app_server::is_built();
    let folder = tempfile::tempdir()?;
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
async fn two_thousand_connections_and_thirty_two_workers_find_their_servers() -> Result<(), Failure>
{
    let options = limits::Options { connections: 2_000, workers: 32, rounds: 2, module: module() };
    let outcome = limits::run(&options, |_| {}).await?;
    assert_eq!(outcome.wrong(), Vec::<String>::new(), "{outcome:#?}");
    Ok(())
}
