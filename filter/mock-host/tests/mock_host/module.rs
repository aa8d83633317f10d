use std::path::Path;

use rudolph_mock_host::{ExternKind, FilterModule, Hostcall, ModuleError};

const NEEDED: &str = r#"
(memory (export "memory") 1)
(func (export "proxy_abi_version_0_2_1"))
(func (export "malloc") (param i32) (result i32) (i32.const 0))
"#;

fn load(text: &str) -> Result<FilterModule, ModuleError> {
    FilterModule::from_bytes(&wat::parse_str(format!("(module {text})")).unwrap())
}

#[test]
fn imports_and_exports_are_listed_by_name() {
    let module = load(&format!(
        r#"(import "env" "proxy_log" (func (param i32 i32 i32) (result i32)))
           (import "env" "proxy_done" (func (result i32)))
           {NEEDED}
           (global (export "a_global") i32 (i32.const 0))"#
    ))
    .unwrap();
    assert_eq!(module.imports(), ["env.proxy_done", "env.proxy_log"]);
    let exports = module.exports();
    let expected = [
        ("a_global", ExternKind::Global),
        ("malloc", ExternKind::Function),
        ("memory", ExternKind::Memory),
        ("proxy_abi_version_0_2_1", ExternKind::Function),
    ];
    assert_eq!(exports, expected.map(|(name, kind)| (name.to_owned(), kind)));
}

#[test]
fn an_unknown_import_is_named() {
    let error = load(&format!(r#"(import "env" "proxy_dance" (func)) {NEEDED}"#)).unwrap_err();
    let expected = ModuleError::UnknownImport { module: "env".into(), name: "proxy_dance".into() };
    assert_eq!(error, expected);
    assert!(error.to_string().contains("env.proxy_dance"));

    let error = load(&format!(r#"(import "wasi_snapshot_preview1" "proxy_log" (func)) {NEEDED}"#))
        .unwrap_err();
    assert!(
        matches!(error, ModuleError::UnknownImport { module, .. } if module == "wasi_snapshot_preview1")
    );
}

#[test]
fn an_import_of_the_wrong_type_is_named() {
    let error =
        load(&format!(r#"(import "env" "proxy_done" (func (result i64))) {NEEDED}"#)).unwrap_err();
    assert!(
        matches!(&error, ModuleError::ImportMismatch { reason } if reason.contains("proxy_done")),
        "{error}"
    );
}

#[test]
fn what_envoy_needs_must_be_exported() {
    let without = |export: &str| {
        let kept: Vec<_> = NEEDED.lines().filter(|line| !line.contains(export)).collect();
        load(&kept.join("\n")).unwrap_err()
    };
    assert_eq!(without("abi_version"), ModuleError::NoAbiVersion);
    assert_eq!(without("memory"), ModuleError::NoMemory);
    assert_eq!(without("malloc"), ModuleError::NoAllocator);
    assert!(load(&NEEDED.replace("malloc", "proxy_on_memory_allocate")).is_ok());
}

#[test]
fn garbage_and_missing_files_are_refused() {
    assert!(matches!(FilterModule::from_bytes(b"not wasm"), Err(ModuleError::Invalid { .. })));
    let error = FilterModule::from_file("no/such.wasm").unwrap_err();
    assert!(
        matches!(&error, ModuleError::Unreadable { path, .. } if path == Path::new("no/such.wasm"))
    );
}

#[test]
fn a_module_can_be_shared_by_threads() {
    fn check<T: Send + Sync>() {}
    check::<FilterModule>();
}

/// The signatures that the Rust SDK 0.2.5 declares, with all of its imports at once.
#[test]
fn every_host_call_links() {
    let wide = |name: &str| match name {
        "proxy_record_metric" | "proxy_increment_metric" => "i32 i64",
        "proxy_done" => "",
        "proxy_get_log_level"
        | "proxy_get_current_time_nanoseconds"
        | "proxy_set_tick_period_milliseconds" => "i32",
        "proxy_continue_stream"
        | "proxy_close_stream"
        | "proxy_grpc_cancel"
        | "proxy_grpc_close" => "i32",
        "proxy_set_effective_context" => "i32",
        "proxy_get_metric" => "i32 i32",
        "proxy_log" | "proxy_get_header_map_pairs" | "proxy_set_header_map_pairs" => "i32 i32 i32",
        "proxy_remove_header_map_value" | "proxy_register_shared_queue" | "proxy_get_status" => {
            "i32 i32 i32"
        }
        "proxy_dequeue_shared_queue" | "proxy_enqueue_shared_queue" => "i32 i32 i32",
        "proxy_get_property" | "proxy_set_property" | "proxy_define_metric" | "proxy_grpc_send" => {
            "i32 i32 i32 i32"
        }
        "proxy_call_foreign_function" => "i32 i32 i32 i32 i32 i32",
        "proxy_send_local_response" => "i32 i32 i32 i32 i32 i32 i32 i32",
        "proxy_grpc_stream" => "i32 i32 i32 i32 i32 i32 i32 i32 i32",
        "proxy_http_call" => "i32 i32 i32 i32 i32 i32 i32 i32 i32 i32",
        "proxy_grpc_call" => "i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32",
        _ => "i32 i32 i32 i32 i32",
    };
    let import = |name: &str| {
        format!(r#"(import "env" "{name}" (func (param {}) (result i32)))"#, wide(name))
    };
    let imports: Vec<_> = Hostcall::ALL.iter().map(|hostcall| import(hostcall.name())).collect();
    load(&format!("{} {NEEDED}", imports.join("\n"))).unwrap();
}
