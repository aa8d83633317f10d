//! Every call to Envoy. The SDK's own wrappers panic on a status that they do not expect, which would trap the
//! worker; these return it.
#![allow(unsafe_code)]

use std::ptr::null_mut;

use proxy_wasm::types::{BufferType, LogLevel, MapType, MetricType};

const OK: u32 = 0;
const NOT_FOUND: u32 = 1;
const CAS_MISMATCH: u32 = 8;

/// A status that a call should not have had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostFault(pub(crate) u32);

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn proxy_log(level: LogLevel, message: *const u8, size: usize) -> u32;
    fn proxy_get_current_time_nanoseconds(time: *mut u64) -> u32;
    fn proxy_set_tick_period_milliseconds(period: u32) -> u32;
    fn proxy_get_buffer_bytes(
        buffer: BufferType,
        start: usize,
        max_size: usize,
        data: *mut *mut u8,
        size: *mut usize,
    ) -> u32;
    fn proxy_get_header_map_value(
        map: MapType,
        key: *const u8,
        key_size: usize,
        data: *mut *mut u8,
        size: *mut usize,
    ) -> u32;
    fn proxy_replace_header_map_value(
        map: MapType,
        key: *const u8,
        key_size: usize,
        value: *const u8,
        value_size: usize,
    ) -> u32;
    fn proxy_remove_header_map_value(map: MapType, key: *const u8, key_size: usize) -> u32;
    fn proxy_get_property(
        path: *const u8,
        path_size: usize,
        data: *mut *mut u8,
        size: *mut usize,
    ) -> u32;
    fn proxy_send_local_response(
        status: u32,
        details: *const u8,
        details_size: usize,
        body: *const u8,
        body_size: usize,
        headers: *const u8,
        headers_size: usize,
        grpc_status: i32,
    ) -> u32;
    fn proxy_get_shared_data(
        key: *const u8,
        key_size: usize,
        data: *mut *mut u8,
        size: *mut usize,
        cas: *mut u32,
    ) -> u32;
    fn proxy_set_shared_data(
        key: *const u8,
        key_size: usize,
        value: *const u8,
        value_size: usize,
        cas: u32,
    ) -> u32;
    fn proxy_http_call(
        upstream: *const u8,
        upstream_size: usize,
        headers: *const u8,
        headers_size: usize,
        body: *const u8,
        body_size: usize,
        trailers: *const u8,
        trailers_size: usize,
        timeout: u32,
        token: *mut u32,
    ) -> u32;
    fn proxy_define_metric(kind: MetricType, name: *const u8, size: usize, id: *mut u32) -> u32;
    fn proxy_get_metric(id: u32, value: *mut u64) -> u32;
    fn proxy_record_metric(id: u32, value: u64) -> u32;
    fn proxy_increment_metric(id: u32, offset: i64) -> u32;
}

fn done(status: u32) -> Result<(), HostFault> {
    if status == OK { Ok(()) } else { Err(HostFault(status)) }
}

/// Calls the host for bytes that it allocates here; `None` where there is nothing.
fn bytes_from(
    call: impl FnOnce(*mut *mut u8, *mut usize) -> u32,
) -> Result<Option<Vec<u8>>, HostFault> {
    let mut data: *mut u8 = null_mut();
    let mut size: usize = 0;
    match call(&mut data, &mut size) {
        OK if data.is_null() => Ok(Some(Vec::new())),
        // SAFETY: the host asked our allocator (the export `malloc`) for exactly `size` bytes, filled them
        // and keeps no pointer to them.
        OK => Ok(Some(unsafe { Vec::from_raw_parts(data, size, size) })),
        NOT_FOUND => Ok(None),
        status => Err(HostFault(status)),
    }
}

// SAFETY, for all calls below: the pointers come from live slices and locals, with their true lengths, and
// the host reads or writes them only during the call.

pub(crate) fn log(level: LogLevel, message: &str) {
    // A log line that cannot be written has nowhere to be reported.
    let _ = unsafe { proxy_log(level, message.as_ptr(), message.len()) };
}

pub(crate) fn now_ms() -> Result<u64, HostFault> {
    let mut nanoseconds = 0;
    done(unsafe { proxy_get_current_time_nanoseconds(&mut nanoseconds) })?;
    Ok(nanoseconds / 1_000_000)
}

pub(crate) fn tick_every(period_ms: u64) -> Result<(), HostFault> {
    let period = u32::try_from(period_ms).unwrap_or(u32::MAX);
    done(unsafe { proxy_set_tick_period_milliseconds(period) })
}

pub(crate) fn buffer(buffer: BufferType, size: usize) -> Result<Vec<u8>, HostFault> {
    let bytes =
        bytes_from(|data, length| unsafe { proxy_get_buffer_bytes(buffer, 0, size, data, length) });
    bytes.map(Option::unwrap_or_default)
}

pub(crate) fn header(map: MapType, name: &str) -> Result<Option<Vec<u8>>, HostFault> {
    bytes_from(|data, size| unsafe {
        proxy_get_header_map_value(map, name.as_ptr(), name.len(), data, size)
    })
}

/// Sets a request header to one value, whatever values it had.
pub(crate) fn replace_request_header(name: &str, value: &[u8]) -> Result<(), HostFault> {
    done(unsafe {
        proxy_replace_header_map_value(
            MapType::HttpRequestHeaders,
            name.as_ptr(),
            name.len(),
            value.as_ptr(),
            value.len(),
        )
    })
}

pub(crate) fn remove_request_header(name: &str) -> Result<(), HostFault> {
    done(unsafe {
        proxy_remove_header_map_value(MapType::HttpRequestHeaders, name.as_ptr(), name.len())
    })
}

/// A property by its path, the parts separated by NUL.
pub(crate) fn property(path: &str) -> Result<Option<Vec<u8>>, HostFault> {
    bytes_from(|data, size| unsafe { proxy_get_property(path.as_ptr(), path.len(), data, size) })
}

/// Answers the request at hand; nothing is sent on.
pub(crate) fn respond(status: u32, headers: &[(&str, &str)], body: &[u8]) -> Result<(), HostFault> {
    const NOT_GRPC: i32 = -1;
    const DETAILS: &str = "rudolph_status";
    let headers = serialized(headers);
    done(unsafe {
        proxy_send_local_response(
            status,
            DETAILS.as_ptr(),
            DETAILS.len(),
            body.as_ptr(),
            body.len(),
            headers.as_ptr(),
            headers.len(),
            NOT_GRPC,
        )
    })
}

/// A shared value and its version.
pub(crate) fn shared(key: &str) -> Result<Option<(Vec<u8>, u32)>, HostFault> {
    let mut version = 0;
    let bytes = bytes_from(|data, size| unsafe {
        proxy_get_shared_data(key.as_ptr(), key.len(), data, size, &mut version)
    })?;
    Ok(bytes.map(|bytes| (bytes, version)))
}

/// Stores a shared value if its version is `expected`; says whether it did.
pub(crate) fn set_shared(key: &str, value: &[u8], expected: u32) -> Result<bool, HostFault> {
    let status = unsafe {
        proxy_set_shared_data(key.as_ptr(), key.len(), value.as_ptr(), value.len(), expected)
    };
    match status {
        OK => Ok(true),
        CAS_MISMATCH => Ok(false),
        other => Err(HostFault(other)),
    }
}

/// Sends a request without a body; the answer comes by callback under the token returned.
pub(crate) fn http_call(
    cluster: &str,
    headers: &[(&str, &str)],
    timeout_ms: u32,
) -> Result<u32, HostFault> {
    let headers = serialized(headers);
    let trailers = serialized(&[]);
    let mut token = 0;
    done(unsafe {
        proxy_http_call(
            cluster.as_ptr(),
            cluster.len(),
            headers.as_ptr(),
            headers.len(),
            null_mut(),
            0,
            trailers.as_ptr(),
            trailers.len(),
            timeout_ms,
            &mut token,
        )
    })?;
    Ok(token)
}

/// A header map as the ABI passes it: a count, all lengths, then all texts, each ended by NUL.
fn serialized(map: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = (map.len() as u32).to_le_bytes().to_vec();
    for (name, value) in map {
        bytes.extend((name.len() as u32).to_le_bytes());
        bytes.extend((value.len() as u32).to_le_bytes());
    }
    for (name, value) in map {
        for text in [name, value] {
            bytes.extend(text.as_bytes());
            bytes.push(0);
        }
    }
    bytes
}

pub(crate) fn define_metric(kind: MetricType, name: &str) -> Result<u32, HostFault> {
    let mut id = 0;
    done(unsafe { proxy_define_metric(kind, name.as_ptr(), name.len(), &mut id) })?;
    Ok(id)
}

pub(crate) fn metric(id: u32) -> Result<u64, HostFault> {
    let mut value = 0;
    done(unsafe { proxy_get_metric(id, &mut value) })?;
    Ok(value)
}

pub(crate) fn record_metric(id: u32, value: u64) -> Result<(), HostFault> {
    done(unsafe { proxy_record_metric(id, value) })
}

pub(crate) fn increment_metric(id: u32, by: u64) -> Result<(), HostFault> {
    let by = i64::try_from(by).unwrap_or(i64::MAX);
    done(unsafe { proxy_increment_metric(id, by) })
}
