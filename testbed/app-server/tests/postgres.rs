//! The same server before PostgreSQL. Runs where RUDOLPH_TEST_POSTGRES holds a URL of a database to use, and says so where
//! it does not.

mod support;

use rudolph_app_server::{DatabaseUrl, ServerConfig};
use support::{Folder, ask, config, get, server};

#[tokio::test]
async fn servers_share_a_postgres_database() {
    let Ok(url) = std::env::var("RUDOLPH_TEST_POSTGRES") else {
        println!("not run: RUDOLPH_TEST_POSTGRES holds no postgres:// URL");
        return;
    };
    let folder = Folder::new();
    let config = ServerConfig { database: DatabaseUrl::from(url.as_str()), ..config(&folder) };
    let (first, second) = (server(config.clone()), server(config));
    let (first, second) = tokio::join!(first, second); // both may have to make the table
    let path = format!("/kv/%00test-{}", std::process::id());
    for value in ["one", "two"] {
        let put = ask(first.address(), "PUT", &path, value.as_bytes()).await;
        assert_eq!(put.status, 204, "{put:?}");
    }
    let read = get(second.address(), &path).await;
    assert_eq!((read.text().as_str(), read.header("x-cache")), ("two", Some("miss")));
    let made = get(second.address(), &format!("{path}-absent")).await;
    assert_eq!((made.status, made.body.len()), (200, 128));
}

#[tokio::test]
async fn an_unreachable_postgres_is_one_clear_line() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let folder = Folder::new();
    let config = ServerConfig {
        database: DatabaseUrl::Postgres(format!("postgres://nobody@{free}/none")),
        ..config(&folder)
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let error = rudolph_app_server::start(config, listener).await.unwrap_err().to_string();
    assert!(error.contains("refused") && error.lines().count() == 1, "{error}");
}
