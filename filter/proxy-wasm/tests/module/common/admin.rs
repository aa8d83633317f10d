//! An Envoy's admin interface: `/clusters?format=json` as 1.40 writes it.

use rudolph_mock_host::{HttpCall, Worker, WorkerError};

/// One endpoint of the cluster.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) address: String,
    pub(crate) weight: u32,
    pub(crate) priority: u32,
    /// The members of `health_status`, as JSON.
    pub(crate) health: String,
}

impl Endpoint {
    pub(crate) fn healthy(address: &str) -> Self {
        let health = r#""eds_health_status":"HEALTHY""#.into();
        Self { address: address.into(), weight: 1, priority: 0, health }
    }

    fn json(&self) -> String {
        let (ip, port) = self.address.rsplit_once(':').expect("ip:port");
        let ip = ip.trim_matches(['[', ']']);
        let Self { weight, priority, health, .. } = self;
        // Envoy leaves out what is zero.
        let priority =
            if *priority > 0 { format!(r#","priority":{priority}"#) } else { String::new() };
        format!(
            r#"{{"address":{{"socket_address":{{"address":"{ip}","port_value":{port}}}}},"stats":[{{"name":"cx_connect_fail"}},{{"value":"12","name":"cx_total"}},{{"name":"rq_error"}},{{"value":"341","name":"rq_success"}},{{"name":"rq_timeout"}},{{"value":"341","name":"rq_total"}},{{"type":"GAUGE","value":"2","name":"cx_active"}},{{"type":"GAUGE","name":"rq_active"}}],"health_status":{{{health}}},"weight":{weight},"locality":{{}}{priority}}}"#
        )
    }
}

/// How polls are answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// With the endpoints.
    Well,
    /// With this status and a line of text.
    Status(&'static str),
    /// With 200 and these bytes.
    Body(Vec<u8>),
    /// By Envoy's giving the call up.
    Failed,
    /// Not at all.
    Never,
}

/// The admin interface.
#[derive(Clone, Debug)]
pub(crate) struct Admin {
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) answer: Answer,
    /// When each poll came, in milliseconds.
    pub(crate) polls: Vec<u64>,
}

impl Admin {
    pub(crate) fn healthy(addresses: &[String]) -> Self {
        Self {
            endpoints: addresses.iter().map(|address| Endpoint::healthy(address)).collect(),
            answer: Answer::Well,
            polls: Vec::new(),
        }
    }

    pub(crate) fn body(&self) -> String {
        let hosts: Vec<String> = self.endpoints.iter().map(Endpoint::json).collect();
        let breakers =
            r#""circuit_breakers":{"thresholds":[{"max_connections":1024,"max_retries":3}]}"#;
        let other = r#"{"name":"admin","host_statuses":[{"address":{"pipe":{"path":"/run/admin"}},"weight":1}]}"#;
        format!(
            r#"{{"cluster_statuses":[{other},{{"name":"servers","host_statuses":[{}],{breakers},"observability_name":"servers"}}]}}"#,
            hosts.join(",")
        )
    }

    /// Answers the calls of a worker.
    pub(crate) fn serve(&mut self, worker: &mut Worker) -> Result<(), WorkerError> {
        if self.answer == Answer::Never {
            return Ok(());
        }
        for call in worker.http_calls() {
            self.expect_poll(worker, &call);
            let well = |status: &str| [(":status".to_owned(), status.to_owned())];
            match &self.answer {
                Answer::Well => worker.respond_http_call(call.token, &well("200"), self.body()),
                Answer::Status(code) => worker.respond_http_call(call.token, &well(code), "no"),
                Answer::Body(body) => worker.respond_http_call(call.token, &well("200"), body),
                Answer::Failed | Answer::Never => worker.fail_http_call(call.token),
            }?;
        }
        Ok(())
    }

    fn expect_poll(&mut self, worker: &Worker, call: &HttpCall) {
        assert_eq!(call.cluster, "admin");
        assert_eq!(call.headers.get(":method"), Some(&b"GET"[..]));
        assert_eq!(call.headers.get(":path"), Some(&b"/clusters?format=json"[..]));
        self.polls.push(worker.host().clock().nanos() / 1_000_000);
    }
}
