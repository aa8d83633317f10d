//! Polls of the admin interface: who asks and how often, and answers that teach nothing.

use crate::common::admin::Answer;
use crate::common::gateway::TICK_MS;
use crate::common::{Gateway, Setup, address};

const POLL_MS: u64 = 1000;

/// A poll's time, and a tick or two to plan.
const ROUNDS_TO_LEARN: usize = (POLL_MS / TICK_MS) as usize + 2;

#[test]
fn one_worker_at_a_time_polls_at_the_interval() {
    let mut gateway = Gateway::cold(8, &Setup::admin());
    gateway.tick_rounds(200);
    let polls = &gateway.admin.polls;
    for pair in polls.windows(2) {
        let apart = pair[1] - pair[0];
        assert!((POLL_MS..=POLL_MS + TICK_MS).contains(&apart), "{apart} ms between two polls");
    }
    assert!(polls.len() >= 18, "{} polls in 20 s", polls.len());
    assert_eq!(gateway.counter("membership.polls_answered"), polls.len() as u64);
}

#[test]
fn a_poll_that_is_never_answered_stops_nobody() {
    let mut gateway = Gateway::start(4, &Setup::admin());
    gateway.admin.answer = Answer::Never;
    gateway.tick_rounds(50);
    let waiting: usize = gateway.workers.iter().map(|worker| worker.http_calls().len()).sum();
    assert!((4..=6).contains(&waiting), "{waiting} calls wait after 5 s");
    gateway.admin.answer = Answer::Well;
    gateway.admin.endpoints.remove(0);
    gateway.tick_rounds(ROUNDS_TO_LEARN);
    let left = gateway.shared().plan().unwrap().members;
    assert!(left.len() == 4 && left.servers()[0].address.as_str() != address(0));
}

fn owners(gateway: &mut Gateway) -> Vec<Vec<String>> {
    (0..100).map(|i| gateway.request(0, &format!("key-{i}")).owners).collect()
}

/// Answers that teach nothing: the members stay, one line says so, and one when it is over.
fn teaches_nothing(answer: Answer, says: &str) {
    let mut gateway = Gateway::start(1, &Setup::admin());
    let before = owners(&mut gateway);
    gateway.host.log().take();
    let failed = gateway.counter("membership.polls_failed");
    gateway.admin.answer = answer.clone();
    gateway.tick_rounds(100);
    assert_eq!(owners(&mut gateway), before, "{answer:?}");
    let more = gateway.counter("membership.polls_failed") - failed;
    assert!((9..=10).contains(&more), "{answer:?}: {more} polls failed");
    let lines = gateway.host.log().take();
    assert_eq!(lines.len(), 1, "{answer:?}: {lines:?}");
    assert!(lines[0].message.contains(says), "{answer:?}: {}", lines[0].message);
    gateway.admin.answer = Answer::Well;
    gateway.tick_rounds(20);
    assert_eq!(gateway.host.log().take().len(), 1, "{answer:?}: it is over");
}

#[test]
fn an_admin_interface_that_teaches_nothing_changes_nothing() {
    let body = |text: &str| Answer::Body(text.as_bytes().to_vec());
    teaches_nothing(Answer::Status("503"), "does not answer");
    teaches_nothing(Answer::Status("404"), "does not answer");
    teaches_nothing(Answer::Failed, "does not answer");
    teaches_nothing(body("{\"cluster_statuses\":[{\"name\":"), "unreadable");
    teaches_nothing(body(""), "unreadable");
    teaches_nothing(body("servers::default_priority::max_connections::1024"), "unreadable");
    teaches_nothing(Answer::Body(b"\xff\xfe".to_vec()), "unreadable");
    teaches_nothing(body("{}"), "no such cluster");
    teaches_nothing(
        body(r#"{"cluster_statuses":[{"name":"other","host_statuses":[]}]}"#),
        "no such cluster",
    );
}

#[test]
fn an_admin_cluster_that_envoy_does_not_know_is_said_once() {
    let mut gateway = Gateway::cold(1, &Setup::admin());
    gateway.host.set_cluster_known("admin", false);
    gateway.tick_rounds(100);
    assert_eq!(gateway.request(0, "k").reason, "no_plan");
    let lines = gateway.host.log().take();
    assert_eq!(lines.len(), 1, "{lines:?}");
    gateway.host.set_cluster_known("admin", true);
    gateway.tick_rounds(ROUNDS_TO_LEARN);
    assert_eq!(gateway.request(0, "k").owners.len(), 3);
}

#[test]
fn of_many_workers_one_says_what_is_wrong() {
    let mut gateway = Gateway::start(4, &Setup::admin());
    gateway.host.log().take();
    let says = |gateway: &mut Gateway, texts: &[&str]| {
        gateway.tick_rounds(200);
        let lines: Vec<String> =
            gateway.host.log().take().into_iter().map(|line| line.message).collect();
        assert_eq!(lines.len(), texts.len(), "{lines:?}");
        for text in texts {
            assert!(lines.iter().any(|line| line.contains(text)), "no {text:?} in {lines:?}");
        }
    };
    gateway.admin.answer = Answer::Status("503");
    says(&mut gateway, &["does not answer"]);
    gateway.admin.answer = Answer::Well;
    let endpoints = std::mem::take(&mut gateway.admin.endpoints);
    says(&mut gateway, &["answers again", "no server is usable"]);
    gateway.admin.endpoints = endpoints;
    says(&mut gateway, &["a server is usable again"]);
}
