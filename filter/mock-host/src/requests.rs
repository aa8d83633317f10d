//! HTTP requests through a worker.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use crate::abi::{Action, Callback};
use crate::context::{Access, LocalResponse, StreamState};
use crate::error::WorkerError;
use crate::headers::Headers;
use crate::host::property_key;
use crate::worker::Worker;

/// How a request differs from the plain case: no body, no properties, served by the newest root.
#[derive(Clone, Debug, Default)]
pub struct RequestOptions {
    has_body: bool,
    root: Option<u32>,
    properties: BTreeMap<Vec<u8>, Arc<[u8]>>,
}

impl RequestOptions {
    /// A body follows: `end_of_stream` is false.
    #[must_use]
    pub fn with_body(mut self) -> Self {
        self.has_body = true;
        self
    }

    /// An older root serves it, as for a connection of a draining listener.
    #[must_use]
    pub fn on_root(mut self, root: u32) -> Self {
        self.root = Some(root);
        self
    }

    /// A property of this request, such as `["source", "address"]`; it goes before the host's.
    #[must_use]
    pub fn with_property(mut self, path: &[&str], value: &[u8]) -> Self {
        self.properties.insert(property_key(path), value.into());
        self
    }
}

/// A request after the filter saw its headers. Hand it back to `Worker::finish` when the stream ends.
#[derive(Debug)]
pub struct Stream {
    /// Id of its context.
    pub id: u32,
    /// What the filter chain does now.
    pub action: Action,
    /// The headers as the filter left them.
    pub headers: Headers,
    /// The response the filter sent, if any.
    pub local_response: Option<LocalResponse>,
    generation: u32,
}

impl Worker {
    /// A request without a body: `proxy_on_context_create` and `proxy_on_request_headers`.
    ///
    /// # Errors
    /// When the VM traps, or has trapped before. What Envoy does then (answer 503, let the request through,
    /// reload) is for the test to decide; `headers_at_trap` has the headers as the VM left them.
    pub fn request<N: AsRef<[u8]>, V: AsRef<[u8]>>(
        &mut self,
        headers: &[(N, V)],
    ) -> Result<Stream, WorkerError> {
        self.request_with(headers, &RequestOptions::default())
    }

    /// A request that differs from the plain case.
    ///
    /// # Errors
    /// As `request`, and when the root asked for does not exist.
    pub fn request_with<N: AsRef<[u8]>, V: AsRef<[u8]>>(
        &mut self,
        headers: &[(N, V)],
        options: &RequestOptions,
    ) -> Result<Stream, WorkerError> {
        self.begin();
        let root = options.root.unwrap_or(self.root);
        self.known_root(root)?;
        let mut map = self.spare_headers.pop().unwrap_or_default();
        map.extend_from(headers);
        let count = u32::try_from(map.len()).unwrap_or(u32::MAX);
        let id = self.open_stream(root, map, options);
        let outcome = self.run_request(id, root, count, !options.has_body);
        if outcome.is_err() {
            self.headers_at_trap =
                self.instance.contexts().streams.remove(&id).map(|stream| stream.headers);
        }
        outcome.map(|action| self.stream_after(id, action))
    }

    fn open_stream(&mut self, root: u32, headers: Headers, options: &RequestOptions) -> u32 {
        let contexts = self.instance.contexts();
        let id = contexts.new_id();
        let properties = options.properties.clone();
        let stream = StreamState {
            root,
            headers,
            headers_access: Access::Write,
            properties,
            ..StreamState::default()
        };
        contexts.streams.insert(id, stream);
        id
    }

    fn run_request(
        &mut self,
        id: u32,
        root: u32,
        count: u32,
        end_of_stream: bool,
    ) -> Result<Action, WorkerError> {
        self.instance.call(
            Callback::ContextCreate,
            id,
            |exports| &exports.context_create,
            (id, root),
        )?;
        let arguments = (id, count, u32::from(end_of_stream));
        let answer = self.instance.call(
            Callback::RequestHeaders,
            id,
            |exports| &exports.request_headers,
            arguments,
        )?;
        let goes_on = answer.unwrap_or(0) == 0 && !self.instance.seen().stop_iteration;
        Ok(if goes_on { Action::Continue } else { Action::Pause })
    }

    /// Moves the headers out of the VM's reach if the request goes on, else copies them.
    fn stream_after(&mut self, id: u32, action: Action) -> Stream {
        let mut stream = Stream {
            id,
            action,
            headers: Headers::default(),
            local_response: None,
            generation: self.generation,
        };
        if let Some(state) = self.instance.contexts().streams.get_mut(&id) {
            stream.local_response = state.local_response.clone();
            if action == Action::Continue {
                state.headers_access = Access::None;
                stream.headers = mem::take(&mut state.headers);
            } else {
                stream.headers = state.headers.clone();
            }
        }
        stream
    }

    /// Looks again at a paused request: a later callback may have changed it, answered it, or let it go on.
    pub fn refresh(&mut self, stream: &mut Stream) {
        let current = stream.generation == self.generation && stream.action == Action::Pause;
        if !current {
            return;
        }
        let Some(state) = self.instance.contexts().streams.get(&stream.id) else {
            return;
        };
        let action = if state.continued { Action::Continue } else { Action::Pause };
        *stream = self.stream_after(stream.id, action);
    }

    /// The stream ends: `proxy_on_log`, `proxy_on_done` (both if exported) and `proxy_on_delete`, in
    /// Envoy's order. A stream of a VM that was reloaded since ends without a call.
    ///
    /// # Errors
    /// When the VM traps, or has trapped before.
    pub fn finish(&mut self, stream: Stream) -> Result<(), WorkerError> {
        self.begin();
        let Stream { id, headers, generation, .. } = stream;
        if generation != self.generation {
            return Ok(());
        }
        let spare = self.log_stream(id, headers)?;
        self.instance.call(Callback::Done, id, |exports| &exports.done, id)?;
        self.instance.call(Callback::Delete, id, |exports| &exports.delete, id)?;
        self.instance.contexts().streams.remove(&id);
        self.keep_spare(spare);
        Ok(())
    }

    /// In the log phase the request's headers can be seen once more.
    fn log_stream(&mut self, id: u32, headers: Headers) -> Result<Headers, WorkerError> {
        if !self.instance.exports_log() {
            return Ok(headers);
        }
        if let Some(state) = self.instance.contexts().streams.get_mut(&id) {
            state.headers = headers;
            state.headers_access = Access::Read;
        }
        self.instance.call(Callback::Log, id, |exports| &exports.log, id)?;
        let Some(state) = self.instance.contexts().streams.get_mut(&id) else {
            return Ok(Headers::default());
        };
        state.headers_access = Access::None;
        Ok(mem::take(&mut state.headers))
    }

    fn keep_spare(&mut self, mut headers: Headers) {
        const MOST: usize = 64;
        if self.spare_headers.len() < MOST {
            headers.clear();
            self.spare_headers.push(headers);
        }
    }

    /// The headers of the last request that failed, as the VM left them: with `FAIL_OPEN` the
    /// upstream would see these.
    pub fn headers_at_trap(&self) -> Option<&Headers> {
        self.headers_at_trap.as_ref()
    }
}
