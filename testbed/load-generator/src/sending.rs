use std::{
    future::{Future, poll_fn},
    net::SocketAddr,
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::http1,
    header::{HeaderName, HeaderValue},
};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::{CacheMark, Outcome, PreparedRequest, Reply, SendError};

/// How one request at a time goes out and its answer comes back.
pub trait Sending {
    fn send(&mut self, request: &PreparedRequest) -> impl Future<Output = Outcome>;
}

/// One keep-alive connection, opened when first needed and again when it has closed.
#[derive(Debug)]
pub struct HttpSender {
    target: SocketAddr,
    host: HeaderValue,
    timeout: Duration,
    warming: bool,
    connection: Option<Connection>,
}

const X_SERVER: HeaderName = HeaderName::from_static("x-server");
const X_WARM: HeaderName = HeaderName::from_static("x-warm");
const X_CACHE: HeaderName = HeaderName::from_static("x-cache");

impl HttpSender {
    #[must_use]
    pub fn new(target: SocketAddr, host: HeaderValue, timeout: Duration) -> Self {
        Self { target, host, timeout, warming: false, connection: None }
    }

    /// Asks the testbed's servers to fill their caches and to take no service time.
    #[must_use]
    pub fn warming(self, warming: bool) -> Self {
        Self { warming, ..self }
    }

    async fn exchange(&mut self, request: &PreparedRequest) -> Outcome {
        let mut http = request.to_http(&self.host).ok_or(SendError::Request)?;
        if self.warming {
            http.headers_mut().insert(X_WARM, HeaderValue::from_static("1"));
        }
        match self.try_exchange(http).await {
            Ok(reply) => Ok(reply),
            // The server had closed the idle connection and never saw this request: it goes out on a new one.
            Err(Failed::Unsent(http)) => self.try_exchange(*http).await.map_err(Failed::into_error),
            Err(failed) => Err(failed.into_error()),
        }
    }

    async fn try_exchange(&mut self, http: Request<Full<Bytes>>) -> Result<Reply, Failed> {
        // Taken out: whatever goes wrong, or drops this future, leaves no half-used connection behind.
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(self.target).await?,
        };
        let reply = connection.exchange(http).await?;
        if connection.is_reusable() {
            self.connection = Some(connection);
        }
        Ok(reply)
    }
}

impl Sending for HttpSender {
    async fn send(&mut self, request: &PreparedRequest) -> Outcome {
        let timeout = self.timeout;
        let answered = tokio::time::timeout(timeout, self.exchange(request)).await;
        answered.unwrap_or(Err(SendError::Timeout))
    }
}

enum Failed {
    Error(SendError),
    Unsent(Box<Request<Full<Bytes>>>),
}

impl Failed {
    fn into_error(self) -> SendError {
        match self {
            Self::Error(error) => error,
            Self::Unsent(_) => SendError::Reset,
        }
    }
}

type Driver = http1::Connection<TokioIo<TcpStream>, Full<Bytes>>;

/// hyper's connection, driven from the task that waits for the answer: no second task, no wake between the two.
#[derive(Debug)]
struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    /// `None` once the connection has ended. Dropping it is what hands a request back that was never sent.
    driver: Option<Pin<Box<Driver>>>,
}

impl Connection {
    async fn open(target: SocketAddr) -> Result<Self, Failed> {
        let refused = |_| Failed::Error(SendError::Connect);
        let stream = TcpStream::connect(target).await.map_err(refused)?;
        _ = stream.set_nodelay(true); // only slower without
        let handshake = http1::handshake(TokioIo::new(stream)).await;
        let (sender, driver) = handshake.map_err(|_| Failed::Error(SendError::Connect))?;
        Ok(Self { sender, driver: Some(Box::pin(driver)) })
    }

    fn is_reusable(&self) -> bool {
        self.driver.is_some() && !self.sender.is_closed()
    }

    async fn exchange(&mut self, http: Request<Full<Bytes>>) -> Result<Reply, Failed> {
        let Self { sender, driver } = self;
        let mut work = pin!(async {
            let answer = sender.try_send_request(http).await;
            match answer {
                Ok(response) => read(response).await,
                Err(mut error) => Err(match error.take_message() {
                    Some(http) => Failed::Unsent(Box::new(http)),
                    None => Failed::Error(SendError::Reset),
                }),
            }
        });
        poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            let ended =
                driver.as_mut().is_some_and(|driver| driver.as_mut().poll(context).is_ready());
            if ended {
                *driver = None;
            }
            work.as_mut().poll(context)
        })
        .await
    }
}

async fn read(response: Response<Incoming>) -> Result<Reply, Failed> {
    let (head, mut body) = response.into_parts();
    while let Some(frame) = body.frame().await {
        frame.map_err(|_| Failed::Error(SendError::Reset))?;
    }
    let cache = head.headers.get(X_CACHE).and_then(|value| match value.as_bytes() {
        b"hit" => Some(CacheMark::Hit),
        b"miss" => Some(CacheMark::Miss),
        _ => None,
    });
    Ok(Reply { status: head.status.as_u16(), server: head.headers.get(X_SERVER).cloned(), cache })
}
