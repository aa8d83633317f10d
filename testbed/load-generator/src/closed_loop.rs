use std::{rc::Rc, time::Duration};

use tokio::task::JoinSet;

use crate::{Phase, SendError, Sending, shared::Shared};

/// A target that refuses connections is asked again after this, not in a tight loop.
const PAUSE_AFTER_REFUSAL: Duration = Duration::from_millis(20);

/// So many clients, each with one request under way. REQUIRES: a `LocalSet`.
pub(crate) async fn run<S: Sending + 'static>(
    shared: Rc<Shared>,
    clients: usize,
    sender: impl Fn() -> S,
) {
    let mut tasks = JoinSet::new();
    for _ in 0..clients {
        tasks.spawn_local(client(Rc::clone(&shared), sender()));
    }
    while tasks.join_next().await.is_some() {}
}

async fn client<S: Sending>(shared: Rc<Shared>, mut sender: S) {
    loop {
        let start_ns = shared.now_ns();
        if shared.rule.phase(start_ns, shared.started()) == Phase::Done {
            return;
        }
        let request = shared.begin_request(start_ns);
        let outcome = sender.send(&request).await;
        shared.finish_request(start_ns, request.key, &outcome);
        if matches!(outcome, Err(SendError::Connect)) {
            tokio::time::sleep(PAUSE_AFTER_REFUSAL).await;
        }
    }
}
