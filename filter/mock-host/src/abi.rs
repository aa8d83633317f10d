//! The numbers of Proxy-Wasm ABI 0.2.1, as Envoy's host defines them.

/// What a host call answers: Envoy's `WasmResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// No such key, header, property, metric or buffer.
    NotFound = 1,
    /// An argument is out of range, or the map does not exist at this moment.
    BadArgument = 2,
    /// A value could not be serialised.
    SerializationFailure = 3,
    /// A value could not be parsed.
    ParseFailure = 4,
    /// An expression is malformed.
    BadExpression = 5,
    /// A pointer leaves the VM's memory, or the VM's allocator failed.
    InvalidMemoryAccess = 6,
    /// A queue is empty.
    Empty = 7,
    /// Shared data: the version given is not the version stored.
    CasMismatch = 8,
    /// A result has an unexpected type.
    ResultMismatch = 9,
    /// Something failed inside the host.
    InternalFailure = 10,
    /// The connection of a callout broke.
    BrokenConnection = 11,
    /// The host does not offer this call.
    Unimplemented = 12,
}

/// What `proxy_on_request_headers` made Envoy do with the stream.
///
/// Envoy turns every answer but 0, and every local response, into "stop all iteration".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The next filter, and in the end the router, sees the request.
    Continue,
    /// The request waits for `proxy_continue_stream` or has been answered locally.
    Pause,
}

/// Severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum LogLevel {
    /// The finest detail.
    Trace = 0,
    /// Detail for developers.
    Debug = 1,
    /// Normal events.
    Info = 2,
    /// Something unexpected that was handled.
    Warn = 3,
    /// Something failed.
    Error = 4,
    /// The plugin cannot work.
    Critical = 5,
}

impl LogLevel {
    /// The level with this ABI number.
    pub fn from_number(number: u32) -> Option<Self> {
        use LogLevel::{Critical, Debug, Error, Info, Trace, Warn};
        [Trace, Debug, Info, Warn, Error, Critical].get(number as usize).copied()
    }
}

/// Kind of a metric. A counter and a gauge of one name are two metrics, as in Envoy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum MetricType {
    /// Only grows.
    Counter = 0,
    /// Goes both ways.
    Gauge = 1,
    /// Takes samples.
    Histogram = 2,
}

impl MetricType {
    /// The kind with this ABI number.
    pub fn from_number(number: u32) -> Option<Self> {
        use MetricType::{Counter, Gauge, Histogram};
        [Counter, Gauge, Histogram].get(number as usize).copied()
    }
}

/// ABI numbers of the header maps the mock host fills; the others do not exist in it.
pub(crate) mod map_type {
    pub(crate) const REQUEST_HEADERS: u32 = 0;
    pub(crate) const HTTP_CALL_RESPONSE_HEADERS: u32 = 6;
    pub(crate) const MAX: u32 = 7;
}

/// ABI numbers of the buffers the mock host fills; the others do not exist in it.
pub(crate) mod buffer_type {
    pub(crate) const HTTP_CALL_RESPONSE_BODY: u32 = 4;
    pub(crate) const VM_CONFIGURATION: u32 = 6;
    pub(crate) const PLUGIN_CONFIGURATION: u32 = 7;
    pub(crate) const MAX: u32 = 8;
}

macro_rules! names {
    ($(#[$doc:meta])* $kind:ident { $($variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $kind {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl $kind {
            /// All of them, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in the module's import or export section.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The one with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

names! {
    /// A function that the host offers to the module: all that the Rust SDK 0.2.5 can import.
    Hostcall {
        Log = "proxy_log",
        GetLogLevel = "proxy_get_log_level",
        GetCurrentTimeNanoseconds = "proxy_get_current_time_nanoseconds",
        SetTickPeriodMilliseconds = "proxy_set_tick_period_milliseconds",
        GetBufferBytes = "proxy_get_buffer_bytes",
        SetBufferBytes = "proxy_set_buffer_bytes",
        GetHeaderMapPairs = "proxy_get_header_map_pairs",
        SetHeaderMapPairs = "proxy_set_header_map_pairs",
        GetHeaderMapValue = "proxy_get_header_map_value",
        RemoveHeaderMapValue = "proxy_remove_header_map_value",
        ReplaceHeaderMapValue = "proxy_replace_header_map_value",
        AddHeaderMapValue = "proxy_add_header_map_value",
        GetProperty = "proxy_get_property",
        SetProperty = "proxy_set_property",
        GetSharedData = "proxy_get_shared_data",
        SetSharedData = "proxy_set_shared_data",
        RegisterSharedQueue = "proxy_register_shared_queue",
        ResolveSharedQueue = "proxy_resolve_shared_queue",
        DequeueSharedQueue = "proxy_dequeue_shared_queue",
        EnqueueSharedQueue = "proxy_enqueue_shared_queue",
        ContinueStream = "proxy_continue_stream",
        CloseStream = "proxy_close_stream",
        SendLocalResponse = "proxy_send_local_response",
        HttpCall = "proxy_http_call",
        GrpcCall = "proxy_grpc_call",
        GrpcStream = "proxy_grpc_stream",
        GrpcSend = "proxy_grpc_send",
        GrpcCancel = "proxy_grpc_cancel",
        GrpcClose = "proxy_grpc_close",
        GetStatus = "proxy_get_status",
        SetEffectiveContext = "proxy_set_effective_context",
        CallForeignFunction = "proxy_call_foreign_function",
        Done = "proxy_done",
        DefineMetric = "proxy_define_metric",
        GetMetric = "proxy_get_metric",
        RecordMetric = "proxy_record_metric",
        IncrementMetric = "proxy_increment_metric",
    }
}

names! {
    /// A function of the module that the host calls, if the module exports it.
    Callback {
        Initialize = "_initialize",
        Main = "main",
        Start = "_start",
        ContextCreate = "proxy_on_context_create",
        VmStart = "proxy_on_vm_start",
        Configure = "proxy_on_configure",
        Tick = "proxy_on_tick",
        RequestHeaders = "proxy_on_request_headers",
        HttpCallResponse = "proxy_on_http_call_response",
        Done = "proxy_on_done",
        Log = "proxy_on_log",
        Delete = "proxy_on_delete",
    }
}
