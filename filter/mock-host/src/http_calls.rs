//! HTTP calls that the module dispatched, and the answers a test gives.

use crate::abi::Callback;
use crate::context::CallAnswer;
use crate::error::WorkerError;
use crate::headers::Headers;
use crate::vm::HttpCall;
use crate::worker::Worker;

impl Worker {
    /// The calls nobody has answered yet, oldest first.
    pub fn http_calls(&self) -> Vec<HttpCall> {
        self.instance.seen().http_calls.values().cloned().collect()
    }

    /// Answers a call: `proxy_on_http_call_response` of the root context that made it, with headers
    /// (`:status` among them) and body readable meanwhile.
    ///
    /// A refused or broken connection and a timeout arrive so too, as observed in Envoy 1.40: as a response
    /// that Envoy itself makes, with `:status` 503 or 504 and a line of text.
    ///
    /// # Errors
    /// When no such call is in flight, or the VM traps.
    pub fn respond_http_call<N: AsRef<[u8]>, V: AsRef<[u8]>>(
        &mut self,
        token: u32,
        headers: &[(N, V)],
        body: impl AsRef<[u8]>,
    ) -> Result<(), WorkerError> {
        let headers = Headers::from_pairs(headers);
        self.answer(token, Some((headers, body.as_ref().to_vec())))
    }

    /// Fails a call for a reason inside Envoy, such as the cluster's removal: the same callback with no
    /// headers and no body. Reading them is then a bad argument, on which the Rust SDK's own wrappers panic.
    ///
    /// # Errors
    /// As `respond_http_call`.
    pub fn fail_http_call(&mut self, token: u32) -> Result<(), WorkerError> {
        self.answer(token, None)
    }

    fn answer(
        &mut self,
        token: u32,
        response: Option<(Headers, Vec<u8>)>,
    ) -> Result<(), WorkerError> {
        self.begin();
        if self.trap().is_some() {
            return Err(WorkerError::WorkerTrapped);
        }
        let call = self.instance.state().http_calls.remove(&token);
        let root = call.ok_or(WorkerError::UnknownToken { token })?.root;
        let sizes = response
            .as_ref()
            .map_or((0, 0), |(headers, body)| (size(headers.len()), size(body.len())));
        self.instance.contexts().answer =
            response.map(|(headers, body)| CallAnswer { root, headers, body });
        let arguments = (root, token, sizes.0, sizes.1, 0);
        let outcome = self.instance.call(
            Callback::HttpCallResponse,
            root,
            |exports| &exports.http_call_response,
            arguments,
        );
        self.instance.contexts().answer = None;
        outcome.map(drop)
    }
}

fn size(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
