//! Load from inside a pod: overlays/load, a Job whose sidecar is its own.

use std::time::Duration;

use rudolph_deployments::Failure;

use crate::kubectl::Kubectl;

const JOB: &str = "job/load";
const SECONDS: &str = "--seconds=90";
const AS_LONG: &str = "--timeout=240s";

#[derive(Debug)]
pub(crate) struct Load<'a> {
    kubectl: &'a Kubectl,
}

/// What the load generator wrote at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Losses {
    pub(crate) requests: u64,
    pub(crate) errors: u64,
    /// Pods that answered.
    pub(crate) servers: Vec<String>,
    text: String,
}

impl<'a> Load<'a> {
    /// Returns when the load is on.
    pub(crate) async fn start(kubectl: &'a Kubectl, seconds: u64) -> Result<Self, Failure> {
        let manifests = kubectl.rendered("load").await?;
        Failure::unless(manifests.contains(SECONDS), "overlays/load", SECONDS, "another duration")?;
        let manifests = manifests.replace(SECONDS, &format!("--seconds={seconds}"));
        kubectl.apply(&manifests, &[]).await?;
        kubectl.run(&["wait", "--for=jsonpath={.status.ready}=1", AS_LONG, JOB]).await?;
        // The generator's warm-up, in which it counts nothing.
        tokio::time::sleep(Duration::from_secs(3)).await;
        Ok(Self { kubectl })
    }

    /// Waits for its end. A Job is complete when the caller has ended, though its sidecar never would.
    pub(crate) async fn finish(self) -> Result<Losses, Failure> {
        self.kubectl.run(&["wait", "--for=condition=Complete", AS_LONG, JOB]).await?;
        let text = self.kubectl.run(&["logs", JOB, "--container", "caller"]).await?;
        self.remove().await?;
        Losses::read(&text)
    }

    pub(crate) async fn remove(self) -> Result<(), Failure> {
        self.kubectl.run(&["delete", JOB, "--cascade=foreground", AS_LONG]).await?;
        Ok(())
    }
}

impl Losses {
    pub(crate) fn read(text: &str) -> Result<Self, Failure> {
        let unreadable = || Failure::unreadable("the load generator's report", text.trim());
        let (requests, errors) = text.lines().find_map(counts).ok_or_else(unreadable)?;
        let servers = text.lines().filter_map(server).map(str::to_owned).collect();
        Ok(Self { requests, errors, servers, text: text.trim().to_owned() })
    }

    pub(crate) fn none(&self) -> Result<(), Failure> {
        Failure::unless(self.errors == 0, "requests lost", 0, &self.text)?;
        Failure::unless(self.requests >= 1000, "requests", "1000 or more", &self.text)
    }
}

/// `200 requests/s over 25.0 s (5000 requests, 0 errors), hits ...`
fn counts(line: &str) -> Option<(u64, u64)> {
    let (_, rest) = line.split_once(" s (")?;
    let (requests, rest) = rest.split_once(" requests, ")?;
    let (errors, _) = rest.split_once(" errors)")?;
    Some((requests.parse().ok()?, errors.parse().ok()?))
}

/// `app-5d9-x: 1700 requests (1.02 of the mean), hits ...`
fn server(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(": ")?;
    let (count, _) = rest.split_once(" requests (")?;
    count.parse::<u64>().ok().map(|_| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_load_generator_writes() {
        let text = "VOID: late\n200 requests/s over 25.0 s (5000 requests, 2 errors), hits 90.0%\n\
                    latency ms: mean 1.00\nerrors: reset 2\n\
                    app-1: 2600 requests (1.04 of the mean), hits 90.0%, p99 2 ms\n\
                    app-2: 2400 requests (0.96 of the mean), hits 90.0%, p99 2 ms\n";
        let losses = Losses::read(text).unwrap();
        assert_eq!((losses.requests, losses.errors), (5000, 2));
        assert_eq!(losses.servers, ["app-1", "app-2"]);
        assert!(losses.none().unwrap_err().to_string().contains("reset 2"));
        assert!(Losses::read("killed").is_err());
    }
}
