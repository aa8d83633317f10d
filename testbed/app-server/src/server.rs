use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{header::HeaderValue, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::{conn::auto, graceful::GracefulShutdown},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{JoinHandle, JoinSet},
};

use crate::{ConfigError, DatabaseError, Engine, ServerConfig, http::Handler, open_database};

/// Where a server is in its life; health tells it to the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Serving,
    /// Health says 503; requests are still taken.
    Draining,
    /// No new connections; those open end after their request.
    Closing,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error("the listener cannot be used: {0}")]
    Listener(#[from] io::Error),
}

/// A server at work. Dropping this leaves it at work until the runtime ends.
#[derive(Debug)]
pub struct RunningServer {
    address: SocketAddr,
    engine: Arc<Engine>,
    phase: watch::Sender<Phase>,
    drain_notice: Duration,
    accepting: JoinHandle<()>,
}

/// Starts a server on a listener that is bound already, so that its address is known before anything runs.
pub async fn start(
    config: ServerConfig,
    listener: std::net::TcpListener,
) -> Result<RunningServer, StartError> {
    config.validate()?;
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let address = listener.local_addr()?;
    let database = open_database(&config.database, config.database_readers).await?;
    let engine = Arc::new(Engine::new(&config, database));
    let (phase, phase_seen) = watch::channel(Phase::Serving);
    let handler = Arc::new(Handler {
        engine: Arc::clone(&engine),
        name: server_name(&config.name, address),
        max_value_bytes: config.max_value_bytes,
        phase: phase_seen.clone(),
    });
    let accepting = tokio::spawn(accept(listener, handler, phase_seen, config.drain_timeout));
    Ok(RunningServer { address, engine, phase, drain_notice: config.drain_notice, accepting })
}

fn server_name(name: &str, address: SocketAddr) -> HeaderValue {
    let named = HeaderValue::from_str(name).ok().filter(|_| !name.is_empty());
    let by_address = || HeaderValue::from_str(&address.to_string());
    // An address is always a valid header value.
    named.or_else(|| by_address().ok()).unwrap_or_else(|| HeaderValue::from_static("server"))
}

impl RunningServer {
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Health goes 503; after the notice no connection is taken; requests in flight are finished, up to the timeout.
    pub async fn drain(self) {
        self.phase.send_replace(Phase::Draining);
        tokio::time::sleep(self.drain_notice).await;
        self.phase.send_replace(Phase::Closing);
        _ = self.accepting.await; // it neither panics nor is cancelled
    }

    /// As if killed: the listener and every connection close now, and whatever was in flight is lost.
    pub async fn abort(self) {
        self.accepting.abort();
        _ = self.accepting.await; // cancelled, as asked
    }
}

/// Owns the listener and, through the set, every connection: when this task ends they all do.
async fn accept(
    listener: TcpListener,
    handler: Arc<Handler>,
    mut phase: watch::Receiver<Phase>,
    drain_timeout: Duration,
) {
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => serve(stream, &handler, &graceful, &mut connections),
                // Out of file descriptors, mostly: do not spin.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
            () = closing(&mut phase) => break,
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    _ = tokio::time::timeout(drain_timeout, graceful.shutdown()).await;
}

async fn closing(phase: &mut watch::Receiver<Phase>) {
    let asked = |&phase: &Phase| phase == Phase::Closing;
    let told = phase.wait_for(asked).await.is_ok();
    if !told {
        // The handle was dropped: nobody can ask any more.
        std::future::pending::<()>().await;
    }
}

fn serve(
    stream: TcpStream,
    handler: &Arc<Handler>,
    graceful: &GracefulShutdown,
    connections: &mut JoinSet<()>,
) {
    _ = stream.set_nodelay(true); // only slower without
    let handler = Arc::clone(handler);
    let service = service_fn(move |request| Arc::clone(&handler).handle(request));
    let connection = auto::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .into_owned();
    let connection = graceful.watch(connection);
    connections.spawn(async move {
        _ = connection.await; // clients may leave as they like
    });
}
