//! `rudolph-compose-test`: brings docker-compose.yml up, checks what it promises, and takes it down again.
//!
//! Images must be there already (scripts/compose-test.sh sees to that). `RUDOLPH_COMPOSE` is the command for Compose,
//! `docker compose` unless told.

mod changes;
mod docker;
mod figures;
mod hardening;
mod homes;
mod panels;
mod stack;

use std::io::{self, Write};
use std::process::ExitCode;

use rudolph_deployments::{Checks, Failure};
use stack::Stack;
use tokio::signal::unix::{SignalKind, signal};

const SERVERS: usize = 5;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let stack = match Stack::new() {
        Ok(stack) => stack,
        Err(error) => return refuse(&error),
    };
    let mut checks = Checks::new();
    let completed = tokio::select! {
        () = run(&stack, &mut checks) => true,
        () = told_to_stop() => false,
    };
    checks.check("everything is taken down", stack.down()).await;
    if !completed {
        checks.check("all checks were made", async { Err(Failure::Interrupted) }).await;
    }
    checks.finish()
}

async fn run(stack: &Stack, checks: &mut Checks) {
    if !checks.check("the stack comes up", stack.up(SERVERS)).await {
        stack.show_logs().await;
        return;
    }
    checks.check("five servers are members", homes::members_are(stack, SERVERS)).await;
    checks.check("containers are hardened", hardening::of_containers(stack)).await;
    checks
        .check("the admin interface is out of reach", hardening::of_the_admin_interface(stack))
        .await;
    checks.check("the status page shows them", homes::are_shown(stack, SERVERS)).await;
    checks.check("a key keeps its server", homes::are_kept(stack, SERVERS)).await;
    checks.check("what is written is read again", homes::values_survive(stack)).await;
    checks.check("five servers become eight", changes::more_servers(stack, 8)).await;
    checks.check("eight servers become four", changes::fewer_servers(stack, 4)).await;
    checks.check("a killed server comes back", changes::killed_and_back(stack, 4)).await;
    checks.check("values survived all that", homes::values_are_there(stack)).await;
    checks.check("the load is served", figures::load_is_served(stack)).await;
    checks.check("Prometheus sees every target", figures::targets_are_up(stack, 4)).await;
    checks.check("Prometheus has Envoy's figures", figures::agree(stack)).await;
    panels::check_all(stack, checks).await;
    checks.check("no container restarted by itself", hardening::of_restarts(stack)).await;
    if stack.has_grafana().await {
        checks.check("Grafana serves the dashboard", panels::in_grafana(stack)).await;
    } else {
        checks.skip("Grafana serves the dashboard", "its image is not here and cannot be pulled");
    }
    if !checks.all_held() {
        stack.show_logs().await;
    }
}

/// Ctrl-C, a polite kill, and a terminal that goes away.
async fn told_to_stop() {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = kinds.map(signal) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
}

fn refuse(error: &Failure) -> ExitCode {
    _ = writeln!(io::stderr(), "rudolph-compose-test: {error}"); // nobody may be listening
    ExitCode::from(2)
}
