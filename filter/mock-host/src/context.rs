//! Root and stream contexts of one VM: ids are unique within the VM, and 0 is the VM itself.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::abi::{Status, map_type};
use crate::headers::Headers;

/// A response that the module sent in the upstream's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalResponse {
    /// HTTP status.
    pub status: u32,
    /// Headers the module added.
    pub headers: Headers,
    /// Body.
    pub body: Vec<u8>,
    /// Envoy's response code details.
    pub details: Vec<u8>,
    /// gRPC status, -1 for none.
    pub grpc_status: i32,
}

#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) plugin_configuration: Arc<[u8]>,
    pub(crate) tick_period_ms: u32,
    /// `proxy_on_done` returned false: the module still has work and will call `proxy_done`.
    pub(crate) awaits_done: bool,
}

/// What a module may do with a request's headers at this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing: they are not there yet, or have gone on to the next filter.
    #[default]
    None,
    /// Read, in the log phase.
    Read,
    /// Read and change, while it handles them or holds them back.
    Write,
}

#[derive(Debug, Default)]
pub(crate) struct StreamState {
    pub(crate) root: u32,
    pub(crate) headers: Headers,
    pub(crate) headers_access: Access,
    pub(crate) continued: bool,
    pub(crate) local_response: Option<LocalResponse>,
    pub(crate) properties: BTreeMap<Vec<u8>, Arc<[u8]>>,
}

/// The answer to an HTTP call while `proxy_on_http_call_response` runs; a failed call has none.
#[derive(Debug)]
pub(crate) struct CallAnswer {
    pub(crate) root: u32,
    pub(crate) headers: Headers,
    pub(crate) body: Vec<u8>,
}

/// Where a header value lies, so that it can be copied after the VM's allocator has run.
pub(crate) struct HeaderPlace {
    pub(crate) context: u32,
    pub(crate) map: u32,
    pub(crate) at: Range<usize>,
}

#[derive(Debug, Default)]
pub(crate) struct Contexts {
    pub(crate) roots: BTreeMap<u32, Root>,
    pub(crate) streams: BTreeMap<u32, StreamState>,
    pub(crate) answer: Option<CallAnswer>,
    /// The root whose plugin configuration can be read now.
    pub(crate) configuring: Option<u32>,
    pub(crate) current: u32,
    pub(crate) effective: u32,
    last_id: u32,
}

impl Contexts {
    pub(crate) fn new_id(&mut self) -> u32 {
        loop {
            self.last_id = self.last_id.wrapping_add(1);
            if !self.exists(self.last_id) {
                return self.last_id;
            }
        }
    }

    pub(crate) fn exists(&self, id: u32) -> bool {
        id == 0 || self.roots.contains_key(&id) || self.streams.contains_key(&id)
    }

    /// The context a host call acts on: the one set by the module, if it still exists.
    pub(crate) fn target(&self) -> u32 {
        if self.effective != 0 && self.exists(self.effective) {
            self.effective
        } else {
            self.current
        }
    }

    /// The root of the target, which is the target itself unless that is a stream.
    pub(crate) fn target_root(&self) -> u32 {
        let target = self.target();
        self.streams.get(&target).map_or(target, |stream| stream.root)
    }

    pub(crate) fn target_stream(&mut self) -> Option<&mut StreamState> {
        let target = self.target();
        self.streams.get_mut(&target)
    }

    pub(crate) fn target_answer(&self) -> Option<&CallAnswer> {
        let root = self.target_root();
        self.answer.as_ref().filter(|answer| answer.root == root)
    }

    /// The map a module may read; `None` where Envoy has a null pointer at this moment.
    pub(crate) fn readable(&self, context: u32, map: u32) -> Option<&Headers> {
        match map {
            map_type::REQUEST_HEADERS => {
                let stream = self.streams.get(&context)?;
                (stream.headers_access != Access::None).then_some(&stream.headers)
            }
            map_type::HTTP_CALL_RESPONSE_HEADERS => {
                self.target_answer().map(|answer| &answer.headers)
            }
            _ => None,
        }
    }

    /// The map a module may change: only the request's own headers.
    pub(crate) fn writable(&mut self, map: u32) -> Result<&mut Headers, Status> {
        if map != map_type::REQUEST_HEADERS {
            return Err(Status::BadArgument);
        }
        let stream = self.target_stream().filter(|stream| stream.headers_access == Access::Write);
        stream.map(|stream| &mut stream.headers).ok_or(Status::BadArgument)
    }

    pub(crate) fn find_header(&self, map: u32, name: &[u8]) -> Result<HeaderPlace, Status> {
        let context = self.target();
        let headers = self.readable(context, map).ok_or(Status::BadArgument)?;
        let at = headers.find(name).ok_or(Status::NotFound)?;
        Ok(HeaderPlace { context, map, at })
    }

    pub(crate) fn header_at(&self, place: &HeaderPlace) -> &[u8] {
        let headers = self.readable(place.context, place.map);
        headers.map_or(&[], |headers| headers.at(place.at.clone()))
    }
}
