use super::*;

const SHIPPED: &str = include_str!("../../../../envoy/standalone/rudolph.yaml");
const BASELINE: &str = include_str!("../../../../envoy/standalone/maglev.yaml");

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

fn rendered(text: &str, admin: &AdminAddress, kind: Kind<'_>) -> Rendered {
    let changes = Changes {
        listener: address(1000),
        admin,
        servers_file: Path::new("/t/servers.json"),
        kind,
    };
    render_text(text, &changes).unwrap()
}

fn with_filter(admin: &AdminAddress, fields: &Value) -> Rendered {
    let status = json!({ "title": "Here" });
    let kind = Kind::Filter {
        file: Path::new("/t/filter.json"),
        module: Path::new("/m.wasm"),
        fields: fields.as_object().unwrap(),
        polls: None,
        failure_policy: None,
        status: Some(StatusPage { listener: address(3000), fields: status.as_object().unwrap() }),
        echo_debug: Some("x-rudolph-debug"),
    };
    rendered(SHIPPED, admin, kind)
}

#[test]
fn puts_the_addresses_of_this_cluster_in_place() {
    let admin = AdminAddress::Tcp(address(2000));
    let mut parts = with_filter(&admin, &json!({ "strategy": "pin" }));
    let bootstrap = &mut parts.bootstrap;
    assert_eq!(bootstrap["admin"]["address"]["socket_address"]["port_value"], 2000);
    assert_eq!(
        bootstrap["static_resources"]["listeners"][0]["address"]["socket_address"]["port_value"],
        1000
    );
    let own_admin = cluster(bootstrap, ADMIN_CLUSTER).unwrap().to_string();
    assert!(
        own_admin.contains("\"port_value\":2000") && !own_admin.contains("9901"),
        "{own_admin}"
    );
    let servers = cluster(bootstrap, SERVERS).unwrap().to_string();
    assert!(servers.contains("/t/servers.json") && !servers.contains("9001"), "{servers}");
    assert!(bootstrap.to_string().contains("%REQ(x-rudolph-debug)%"));
}

#[test]
fn the_status_page_has_an_address_of_this_cluster_and_the_same_module() {
    let admin = AdminAddress::Tcp(address(2000));
    let mut parts = with_filter(&admin, &json!({}));
    let page = listeners(&mut parts.bootstrap).unwrap().pop().unwrap();
    assert_eq!(page["address"]["socket_address"]["port_value"], 3000);
    let filter = page.pointer(STATUS_FILTER).unwrap();
    // Another vm_config would be another VM, with nothing to see.
    assert_eq!(filter["vm_config"], parts.filter.unwrap().wasm["config"]["vm_config"]);
    let text = filter["configuration"]["value"].as_str().unwrap();
    let config: Value = serde_json::from_str(text).unwrap();
    assert_eq!(config, json!({ "mode": "status", "title": "Here" }));
}

#[test]
fn without_a_status_page_there_is_no_listener_for_it() {
    let admin = AdminAddress::Tcp(address(2000));
    let no_fields = Map::new();
    let kind = Kind::Filter {
        file: Path::new("/t/filter.json"),
        module: Path::new("/m.wasm"),
        fields: &no_fields,
        polls: None,
        failure_policy: None,
        status: None,
        echo_debug: None,
    };
    let mut parts = rendered(SHIPPED, &admin, kind);
    assert_eq!(listeners(&mut parts.bootstrap).unwrap().len(), 1);
}

#[test]
fn changes_only_the_named_fields_of_the_filter() {
    let admin = AdminAddress::Tcp(address(2000));
    let parts = with_filter(&admin, &json!({ "strategy": "pin", "owners": 2 })).filter.unwrap();
    assert_eq!(parts.config["strategy"], "pin");
    assert_eq!(parts.config["owners"], 2);
    assert_eq!(parts.config["key"], json!([{ "header": "x-key" }]));
    assert_eq!(parts.wasm["config"]["vm_config"]["code"]["local"]["filename"], "/m.wasm");
    let resource = parts.resource("not even JSON");
    assert_eq!(
        resource["resources"][0]["typed_config"]["config"]["configuration"]["value"],
        "not even JSON"
    );
}

#[test]
fn the_admin_interface_can_be_a_unix_socket() {
    let admin = AdminAddress::Unix("/t/admin.sock".into());
    let mut parts = with_filter(&admin, &json!({}));
    assert_eq!(parts.bootstrap["admin"]["address"]["pipe"]["path"], "/t/admin.sock");
    assert!(
        cluster(&mut parts.bootstrap, ADMIN_CLUSTER).unwrap().to_string().contains("/t/admin.sock")
    );
}

#[test]
fn a_baseline_has_nothing_of_the_filter() {
    let admin = AdminAddress::Tcp(address(2000));
    let parts = rendered(
        BASELINE,
        &admin,
        Kind::Baseline { policy: Baseline::MaglevBounded(150), servers: &[] },
    );
    let text = parts.bootstrap.to_string();
    assert!(parts.filter.is_none());
    assert!(text.contains("\"hash_balance_factor\":150"), "{text}");
    assert!(!text.contains("wasm") && !text.contains("override_host"), "{text}");
}

/// The baseline must stay comparable: whatever is not the filter's is the same in both files.
#[test]
fn the_shipped_files_differ_only_in_what_the_filter_adds() {
    let mut with: Value = yaml_serde::from_str(SHIPPED).unwrap();
    let without: Value = yaml_serde::from_str(BASELINE).unwrap();
    let remove_named = |list: &mut Value, prefix: &str| {
        let list = list.as_array_mut().unwrap();
        list.retain(|entry| !entry["name"].as_str().unwrap().starts_with(prefix));
    };
    remove_named(at(&mut with, "/static_resources/listeners").unwrap(), "rudolph");
    remove_named(at(&mut with, &format!("{MANAGER}/http_filters")).unwrap(), "rudolph");
    let manager = at(&mut with, MANAGER).unwrap().as_object_mut().unwrap();
    assert!(manager.remove("early_header_mutation_extensions").is_some());
    remove_named(at(&mut with, "/static_resources/clusters").unwrap(), ADMIN_CLUSTER);
    let servers = cluster(&mut with, SERVERS).unwrap();
    servers["load_balancing_policy"] = Baseline::Maglev.policy();
    let options = at(servers, PROTOCOL).unwrap().as_object_mut().unwrap();
    assert!(options.remove("http_filters").is_some());
    assert_eq!(with, without);
}

#[test]
fn a_bare_gateway_routes_as_before() {
    let admin = AdminAddress::Tcp(address(2000));
    let mut parts = with_filter(&admin, &json!({}));
    let shipped = parts.bootstrap.clone();
    make_bare(&mut parts.bootstrap).unwrap();
    for place in [
        format!("{MANAGER}/route_config"),
        format!("{MANAGER}/http_filters/0"),
        format!("{MANAGER}/early_header_mutation_extensions"),
    ] {
        assert_eq!(parts.bootstrap.pointer(&place), shipped.pointer(&place), "{place}");
    }
    let text = parts.bootstrap.to_string();
    assert!(text.contains("\"suppress_envoy_headers\":true"), "{text}");
    assert!(!text.contains("upstream_codec") && shipped.to_string().contains("upstream_codec"));
}

#[test]
fn a_file_of_another_shape_is_refused_by_the_place_that_is_missing() {
    let admin = AdminAddress::Tcp(address(2000));
    let changes = Changes {
        listener: address(1),
        admin: &admin,
        servers_file: Path::new("/t"),
        kind: Kind::Baseline { policy: Baseline::Maglev, servers: &[] },
    };
    let error = |text| render_text(text, &changes).unwrap_err();
    assert_eq!(error("admin: {}"), "nothing at /static_resources/listeners/0/address");
    assert!(error("a: [").contains("line"), "{}", error("a: ["));
}
