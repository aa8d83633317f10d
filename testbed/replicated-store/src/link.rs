//! A pipelined connection to a Redis or to another server: calls go out in order and are answered in order.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::{Notify, oneshot};

use crate::resp::{self, Value};

/// Nothing more comes over this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed")]
pub(crate) struct Closed;

/// An answer that is on its way.
#[derive(Debug)]
pub(crate) struct Answer(Option<oneshot::Receiver<Value>>);

impl Answer {
    /// Fails when the connection closes first.
    pub(crate) async fn get(self) -> Result<Value, Closed> {
        self.0.ok_or(Closed)?.await.map_err(|_| Closed)
    }
}

/// The near end of a connection. Clones are the same end; the tasks behind it end with the last.
#[derive(Clone, Debug)]
pub(crate) struct Link(Rc<End>);

#[derive(Debug)]
struct End {
    out: RefCell<BytesMut>,
    waiting: RefCell<VecDeque<oneshot::Sender<Value>>>,
    written: Rc<Notify>,
    closed: Cell<bool>,
    /// Wakes whoever waits for the end of this connection.
    ended: Notify,
}

impl Link {
    /// Must be called within a `LocalSet`.
    pub(crate) fn over<S: AsyncRead + AsyncWrite + 'static>(stream: S) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        let end = Rc::new(End {
            out: RefCell::default(),
            waiting: RefCell::default(),
            written: Rc::default(),
            closed: Cell::new(false),
            ended: Notify::new(),
        });
        tokio::task::spawn_local(write_all(Rc::clone(&end), writer));
        tokio::task::spawn_local(read_all(Rc::clone(&end), reader));
        Self(end)
    }

    /// Queues a command before it returns, so that calls keep their order.
    pub(crate) fn call(&self, parts: &[&[u8]]) -> Answer {
        if self.0.closed.get() {
            return Answer(None);
        }
        let (sender, receiver) = oneshot::channel();
        resp::write_array(parts, &mut self.0.out.borrow_mut());
        self.0.waiting.borrow_mut().push_back(sender);
        self.0.written.notify_one();
        Answer(Some(receiver))
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.closed.get()
    }

    pub(crate) fn close(&self) {
        self.0.close();
    }

    pub(crate) async fn ended(&self) {
        while !self.0.closed.get() {
            self.0.ended.notified().await;
        }
    }
}

impl End {
    fn close(&self) {
        self.closed.set(true);
        self.waiting.borrow_mut().clear();
        self.written.notify_one();
        self.ended.notify_waiters();
        self.ended.notify_one();
    }

    /// Gives answers to those who wait for them; false where the bytes are no answers.
    fn hand_out(&self, buffer: &mut BytesMut) -> bool {
        loop {
            match resp::take(buffer) {
                Ok(Some(value)) => {
                    let waiting = self.waiting.borrow_mut().pop_front();
                    if let Some(waiting) = waiting {
                        // Whoever asked may have stopped waiting.
                        _ = waiting.send(value);
                    }
                }
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }
}

async fn write_all<S: AsyncWrite>(end: Rc<End>, mut writer: WriteHalf<S>) {
    while !end.closed.get() {
        end.written.notified().await;
        let bytes = end.out.borrow_mut().split();
        if !bytes.is_empty() && writer.write_all(&bytes).await.is_err() {
            end.close();
        }
    }
    // The other side may be gone already.
    _ = writer.shutdown().await;
}

async fn read_all<S: AsyncRead>(end: Rc<End>, mut reader: ReadHalf<S>) {
    let mut buffer = BytesMut::with_capacity(16 << 10);
    while !end.closed.get() {
        tokio::select! {
            read = reader.read_buf(&mut buffer) => if !matches!(read, Ok(1..)) { break },
            () = end.ended.notified() => {}
        }
        if !end.hand_out(&mut buffer) {
            break;
        }
    }
    end.close();
}
