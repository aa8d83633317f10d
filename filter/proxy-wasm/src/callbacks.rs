//! What Envoy calls. `exports.txt` gives these symbols the names of the ABI.
//!
//! A context is a root (one configured filter in this worker, or one status page) or a stream (one request under a root). What is
//! unknown is ignored: a callback must never trap.
#![allow(unsafe_code)] // `no_mangle` alone

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use proxy_wasm::types::{BufferType, LogLevel};
use rudolph_core::config::{ConfigError, Configuration};

use crate::filter::{Filter, Sent};
use crate::host::{self, HostFault};
use crate::status::StatusPage;

/// Envoy is to go on with the request.
const CONTINUE: u32 = 0;

/// Envoy is to stop: the request was answered.
const PAUSE: u32 = 1;

#[derive(Debug, Default)]
struct Vm {
    roots: HashMap<u32, Option<Root>, ById>,
    streams: HashMap<u32, Stream, ById>,
}

#[derive(Debug)]
enum Root {
    Route(Box<Filter>),
    Status(Box<StatusPage>),
}

impl Root {
    fn configure(text: &[u8]) -> Result<Self, ConfigError> {
        Ok(match Configuration::from_json(text)? {
            Configuration::Route(config) => Self::Route(Box::new(Filter::new(*config))),
            Configuration::Status(config) => Self::Status(Box::new(StatusPage::new(config))),
        })
    }

    fn start(&self) -> Result<(), HostFault> {
        match self {
            Self::Route(filter) => filter.start(),
            Self::Status(page) => page.start(),
        }
    }
}

#[derive(Debug)]
struct Stream {
    root: u32,
    sent: Option<Sent>,
}

type ById = BuildHasherDefault<IdHasher>;

/// Context ids are small numbers that count up: one multiplication spreads them.
#[derive(Debug, Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, id: u32) {
        self.0 = (self.0 ^ u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

thread_local! {
    static VM: RefCell<Vm> = RefCell::default();
}

/// Runs with the VM's state. Envoy never calls back into a callback, so the state is never taken twice.
fn with_vm<T: Default>(run: impl FnOnce(&mut Vm) -> T) -> T {
    VM.with(|vm| match vm.try_borrow_mut() {
        Ok(mut vm) => run(&mut vm),
        Err(_) => T::default(),
    })
}

fn with_filter<T: Default>(root: u32, run: impl FnOnce(&mut Filter) -> T) -> T {
    with_vm(|vm| match vm.roots.get_mut(&root) {
        Some(Some(Root::Route(filter))) => run(filter),
        _ => T::default(),
    })
}

proxy_wasm::main! {{
    std::panic::set_hook(Box::new(|info| host::log(LogLevel::Critical, &info.to_string())));
}}

#[unsafe(no_mangle)]
extern "C" fn rudolph_on_context_create(context: u32, parent: u32) {
    with_vm(|vm| {
        if parent == 0 {
            vm.roots.insert(context, None);
        } else {
            let stream = Stream { root: parent, sent: None };
            vm.streams.insert(context, stream);
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn rudolph_on_vm_start(_root: u32, _size: usize) -> u32 {
    1
}

#[unsafe(no_mangle)]
extern "C" fn rudolph_on_configure(root: u32, size: usize) -> u32 {
    let text = host::buffer(BufferType::PluginConfiguration, size);
    let configured = match text.map(|text| Root::configure(&text)) {
        Ok(Ok(root)) => root,
        Ok(Err(refusal)) => {
            host::log(LogLevel::Error, &refusal.to_string());
            return 0;
        }
        Err(fault) => {
            let text = format!("configuration: Envoy did not hand it over: {fault:?}");
            host::log(LogLevel::Error, &text);
            return 0;
        }
    };
    let started = configured.start().is_ok();
    with_vm(|vm| vm.roots.insert(root, Some(configured)).map(drop));
    u32::from(started)
}

#[unsafe(no_mangle)]
extern "C" fn rudolph_on_tick(root: u32) {
    with_vm(|vm| match vm.roots.get_mut(&root) {
        Some(Some(Root::Route(filter))) => filter.on_tick(),
        Some(Some(Root::Status(page))) => page.on_tick(),
        _ => {}
    });
}

#[unsafe(no_mangle)]
extern "C" fn rudolph_on_http_call_response(
    root: u32,
    _token: u32,
    headers: usize,
    body_size: usize,
    _trailers: usize,
) {
    with_filter(root, |filter| filter.on_clusters(headers, body_size));
}

#[unsafe(no_mangle)]
extern "C" fn rudolph_on_request_headers(context: u32, _headers: usize, _end: u32) -> u32 {
    with_vm(|vm| {
        let Some(stream) = vm.streams.get_mut(&context) else {
            return CONTINUE;
        };
        match vm.roots.get_mut(&stream.root) {
            Some(Some(Root::Route(filter))) => stream.sent = filter.on_request(),
            Some(Some(Root::Status(_))) => {
                let root = stream.root;
                answer(vm, root);
                return PAUSE;
            }
            _ => {}
        }
        CONTINUE
    })
}

/// The page is taken out while it answers, so that it can look at the filters beside it.
fn answer(vm: &mut Vm, root: u32) {
    let Some(place) = vm.roots.get_mut(&root) else { return };
    let Some(Root::Status(mut page)) = place.take() else { return };
    let filters = vm.roots.values().filter_map(|root| match root {
        Some(Root::Route(filter)) => Some(&**filter),
        _ => None,
    });
    page.on_request(filters);
    vm.roots.insert(root, Some(Root::Status(page)));
}

#[unsafe(no_mangle)]
extern "C" fn rudolph_on_delete(context: u32) {
    with_vm(|vm| {
        if let Some(stream) = vm.streams.remove(&context) {
            if let (Some(sent), Some(Some(Root::Route(filter)))) =
                (stream.sent, vm.roots.get_mut(&stream.root))
            {
                filter.on_finished(&sent);
            }
        } else if let Some(Some(Root::Route(mut filter))) = vm.roots.remove(&context) {
            filter.on_end();
        }
    });
}
