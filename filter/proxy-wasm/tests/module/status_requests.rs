//! The status page answers what it knows and refuses the rest, by a status and a reason.

use rudolph_mock_host::LocalResponse;
use serde_json::Value;

use crate::common::{Gateway, Page, Setup};

fn header(response: &LocalResponse, name: &str) -> String {
    String::from_utf8(response.headers.get(name).unwrap_or_default().to_vec()).unwrap()
}

fn reason(response: &LocalResponse) -> String {
    let body: Value = serde_json::from_slice(&response.body).unwrap();
    body["error"].as_str().unwrap().to_owned()
}

#[test]
fn the_page_is_one_small_document_that_loads_nothing() {
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    let page = Page::add(&mut gateway);
    let answer = page.ask(&mut gateway, "GET", "/");
    assert_eq!(answer.status, 200);
    assert_eq!(header(&answer, "content-type"), "text/html; charset=utf-8");
    let policy = header(&answer, "content-security-policy");
    for part in
        ["default-src 'none'", "script-src 'sha256-", "connect-src 'self'", "form-action 'none'"]
    {
        assert!(policy.contains(part), "no {part} in {policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    let text = String::from_utf8(answer.body).unwrap();
    assert!(text.len() < 60 * 1024, "{} bytes", text.len());
    // The name of SVG's elements is an address by its form alone.
    let outside = text.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains("https://"));
    assert!(!text.contains("innerHTML") && !text.contains("eval("));
}

#[test]
fn no_answer_is_kept_or_guessed() {
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    let page = Page::add(&mut gateway);
    for path in ["/", "/status.json", "/explain?key=a", "/nothing"] {
        let answer = page.ask(&mut gateway, "GET", path);
        assert_eq!(header(&answer, "cache-control"), "no-store", "{path}");
        assert_eq!(header(&answer, "x-content-type-options"), "nosniff", "{path}");
        assert!(header(&answer, "content-security-policy").contains("default-src 'none'"));
        assert!(answer.headers.get("access-control-allow-origin").is_none(), "{path}");
    }
}

#[test]
fn what_it_does_not_know_is_refused_with_a_reason() {
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    let page = Page::add(&mut gateway);
    let cases = [
        ("/other", 404, "here are /, /status.json and /explain"),
        ("/status.json/", 404, "here are"),
        ("/status.json?fliter=1", 400, "parameter \"fliter\" is not known; allowed: filter"),
        ("/status.json?filter=x", 400, "allowed: an id from /status.json"),
        ("/status.json?filter=0000000000000001", 404, "there is no filter 0000000000000001"),
        ("/explain", 400, "parameter key is missing or empty"),
        ("/explain?key=", 400, "parameter key is missing or empty"),
        ("/explain?key=a&key=b", 400, "parameter key is there twice"),
        ("/explain?key=a&without=10.9.9.9:1", 400, "allowed: a server of the plan"),
        ("/explain?key=a&then=b", 400, "allowed: key, filter, without"),
    ];
    for (path, status, words) in cases {
        let answer = page.ask(&mut gateway, "GET", path);
        assert_eq!(answer.status, status, "{path}");
        assert!(reason(&answer).contains(words), "{path}: {}", reason(&answer));
    }
    let long = format!("/{}", "x".repeat(10_000));
    assert!(reason(&page.ask(&mut gateway, "GET", &long)).len() < 200);
}

#[test]
fn it_only_reads() {
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    let page = Page::add(&mut gateway);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get"] {
        let answer = page.ask(&mut gateway, method, "/status.json");
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(header(&answer, "allow"), "GET, HEAD");
        assert!(reason(&answer).contains("allowed: GET, HEAD"));
    }
    assert_eq!(page.ask(&mut gateway, "HEAD", "/status.json").status, 200);
}

#[test]
fn a_strange_name_for_it_is_refused_unless_it_is_configured() {
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    let text = r#"{"mode":"status","hosts":["Gateway.Example"]}"#;
    let page = Page::configured(&mut gateway, text);
    let mut status = |host: &str| page.ask_host(&mut gateway, "GET", "/", host).status;
    for own in [
        "127.0.0.1",
        "127.0.0.1:9902",
        "[::1]:9902",
        "localhost:9902",
        "LOCALHOST",
        "gateway.example:80",
    ] {
        assert_eq!(status(own), 200, "{own}");
    }
    for foreign in
        ["", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:9902", "x"]
    {
        assert_eq!(status(foreign), 403, "{foreign}");
    }
}

#[test]
fn a_hostile_key_is_text_and_no_more() {
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    let page = Page::add(&mut gateway);
    let key = "%3Cscript%3Ealert(1)%3C/script%3E%22%5C%00%ff%E2%80%AE";
    let told = page.json(&mut gateway, &format!("/explain?key={key}"));
    let text = told["key"].as_str().unwrap();
    assert!(text.starts_with("<script>alert(1)</script>\"\\\0\u{fffd}"), "{text:?}");
    let answer = page.ask(&mut gateway, "GET", "/%3Cscript%3E\"<b>");
    assert_eq!(header(&answer, "content-type"), "application/json");
    assert!(reason(&answer).contains("<b>"));
}
