//! HTTP calls to clusters, and responses sent in the upstream's place.

use std::time::Duration;

use wasmtime::Linker;

use super::define;
use crate::abi::{Hostcall, Status};
use crate::context::LocalResponse;
use crate::guest::{Guest, Outcome, Span, bytes};
use crate::pairs;
use crate::vm::{HttpCall, VmState};

/// Envoy refuses a call without one of these.
const NEEDED: [&str; 3] = [":path", ":method", ":authority"];

pub(super) fn define_all(linker: &mut Linker<VmState>) -> wasmtime::Result<()> {
    define!(
        linker,
        HttpCall,
        (
            cluster: u32, cluster_size: u32, headers: u32, headers_size: u32, body: u32, body_size: u32,
            trailers: u32, trailers_size: u32, timeout: u32, token: u32
        ),
        |guest, cluster, cluster_size, headers, headers_size, body, body_size, trailers, trailers_size, timeout, token| {
            let spans = CallSpans {
                cluster: (cluster, cluster_size),
                headers: (headers, headers_size),
                body: (body, body_size),
                trailers: (trailers, trailers_size),
            };
            http_call(guest, &spans, timeout, token)
        }
    );
    define!(
        linker,
        SendLocalResponse,
        (
            status: u32, details: u32, details_size: u32, body: u32, body_size: u32,
            headers: u32, headers_size: u32, grpc_status: i32
        ),
        |guest, status, details, details_size, body, body_size, headers, headers_size, grpc_status| {
            let spans = ResponseSpans {
                details: (details, details_size),
                body: (body, body_size),
                headers: (headers, headers_size),
            };
            send_local_response(guest, &spans, status, grpc_status)
        }
    );
    Ok(())
}

struct CallSpans {
    cluster: Span,
    headers: Span,
    body: Span,
    trailers: Span,
}

/// The call belongs to the root context, whichever context made it.
fn http_call(
    guest: &mut Guest<'_, '_>,
    spans: &CallSpans,
    timeout_ms: u32,
    token_at: u32,
) -> Outcome {
    guest.put(token_at, 0_u32.to_le_bytes())?;
    let (memory, state) = guest.split();
    let headers = pairs::parse(bytes(memory, spans.headers)?);
    let cluster = String::from_utf8_lossy(bytes(memory, spans.cluster)?).into_owned();
    let body = bytes(memory, spans.body)?.to_vec();
    let trailers = pairs::parse(bytes(memory, spans.trailers)?);
    let complete = NEEDED.iter().all(|name| headers.get(name).is_some());
    if i32::try_from(timeout_ms).is_err() || !complete || !state.host.is_cluster_known(&cluster) {
        return Err(Status::BadArgument.into());
    }
    let token = state.new_token();
    let root = state.contexts.target_root();
    let timeout = Duration::from_millis(u64::from(timeout_ms));
    state
        .http_calls
        .insert(token, HttpCall { token, root, cluster, headers, body, trailers, timeout });
    guest.put(token_at, token.to_le_bytes())
}

struct ResponseSpans {
    details: Span,
    body: Span,
    headers: Span,
}

/// The first response stands; any one stops the filter chain.
fn send_local_response(
    guest: &mut Guest<'_, '_>,
    spans: &ResponseSpans,
    status: u32,
    grpc_status: i32,
) -> Outcome {
    let (memory, state) = guest.split();
    let details = bytes(memory, spans.details)?.to_vec();
    let body = bytes(memory, spans.body)?.to_vec();
    let headers = pairs::parse(bytes(memory, spans.headers)?);
    state.stop_iteration = true;
    if let Some(stream) = state.contexts.target_stream() {
        let response = LocalResponse { status, headers, body, details, grpc_status };
        stream.local_response.get_or_insert(response);
    }
    Ok(())
}
