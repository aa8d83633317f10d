//! A status page beside a gateway's filters: a second root in the VM of its first worker.

use std::collections::BTreeSet;

use rudolph_mock_host::{LocalResponse, RequestOptions};
use serde_json::Value;

use super::Gateway;

#[derive(Debug)]
pub(crate) struct Page {
    root: u32,
}

impl Page {
    /// Adds the page and lets everybody tell what there is to tell.
    pub(crate) fn add(gateway: &mut Gateway) -> Self {
        let page = Self::add_cold(gateway);
        page.tick(gateway);
        gateway.tick_rounds(25);
        page
    }

    pub(crate) fn add_cold(gateway: &mut Gateway) -> Self {
        Self::configured(gateway, r#"{"mode":"status"}"#)
    }

    /// The filter's own root goes on serving the requests of the test.
    pub(crate) fn configured(gateway: &mut Gateway, text: &str) -> Self {
        let worker = &mut gateway.workers[0];
        let filter = worker.root();
        let root = worker.add_root(text).expect("the page takes its configuration");
        worker.serve_with(filter).expect("the filter is still there");
        Self { root }
    }

    pub(crate) fn tick(&self, gateway: &mut Gateway) {
        gateway.workers[0].tick_root(self.root).expect("the page's tick does not trap");
    }

    pub(crate) fn ask(&self, gateway: &mut Gateway, method: &str, path: &str) -> LocalResponse {
        self.ask_host(gateway, method, path, "127.0.0.1:9902")
    }

    pub(crate) fn ask_host(
        &self,
        gateway: &mut Gateway,
        method: &str,
        path: &str,
        host: &str,
    ) -> LocalResponse {
        let before: BTreeSet<Vec<u8>> = keys(gateway);
        let headers = [(":method", method), (":path", path), (":authority", host)];
        let options = RequestOptions::default().on_root(self.root);
        let stream = gateway.workers[0].request_with(&headers, &options);
        let mut stream = stream.expect("a look does not trap");
        let response = stream.local_response.take().expect("the page answers everything");
        gateway.workers[0].finish(stream).expect("its end does not trap");
        assert_eq!(keys(gateway), before, "a look changes nothing");
        response
    }

    /// The JSON of an answer that must be 200.
    pub(crate) fn json(&self, gateway: &mut Gateway, path: &str) -> Value {
        let response = self.ask(gateway, "GET", path);
        let body = String::from_utf8(response.body).expect("JSON is text");
        assert_eq!(response.status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{path}: {error}: {body}"))
    }

    pub(crate) fn filter(&self, gateway: &mut Gateway) -> Value {
        self.json(gateway, "/status.json")["filter"].clone()
    }
}

fn keys(gateway: &Gateway) -> BTreeSet<Vec<u8>> {
    let data = gateway.host.shared_data();
    let value = |key: Vec<u8>| data.get(&key).map(|value| [&key[..], &value].concat());
    data.keys().into_iter().filter_map(value).collect()
}
