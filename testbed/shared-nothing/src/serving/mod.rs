//! Sockets: who listens, who reads, and in which order replies leave.

mod connection;
mod connections;
mod replies;
mod server;
mod worker;

pub use server::{Server, ServerConfig, StartError};
