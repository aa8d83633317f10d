//! The same server before a real PostgreSQL.

mod support;

use rudolph_app_server::{DatabaseUrl, ServerConfig};
use support::{Folder, ask, config, get, postgres::Postgres, server};

#[tokio::test]
async fn servers_share_a_postgres_database() {
    let postgres = Postgres::start();
    let folder = Folder::new();
    let config =
        ServerConfig { database: DatabaseUrl::Postgres(postgres.url()), ..config(&folder) };
    let (first, second) = (server(config.clone()), server(config));
    let (first, second) = tokio::join!(first, second); // both may have to make the table
    // A key may hold any byte, also those that text columns refuse.
    let path = "/kv/%00%ff";
    for value in ["one", "two"] {
        let put = ask(first.address(), "PUT", path, value.as_bytes()).await;
        assert_eq!(put.status, 204, "{put:?}");
    }
    let read = get(second.address(), path).await;
    assert_eq!((read.text().as_str(), read.header("x-cache")), ("two", Some("miss")));
    let made = get(second.address(), &format!("{path}-absent")).await;
    assert_eq!((made.status, made.body.len()), (200, 128));
    for key in ["b2", "a1", "b1", "c1"] {
        ask(first.address(), "PUT", &format!("/kv/{key}"), b"value").await;
    }
    assert_eq!(get(second.address(), "/kv/b?to=c").await.text(), "b1\nb2\n");
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
