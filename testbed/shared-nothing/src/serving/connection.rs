use std::io::{ErrorKind, Read, Write};

use mio::net::TcpStream;

use super::replies::Replies;
use crate::Limits;
use crate::protocol::{Protocol, Round, Step};

/// A round ends after so many operations, which bounds what its replies can take (by the keys of its last request: one
/// that names a thousand is answered in whole); ...
const ROUND_OPS: usize = 64;
/// ... and after so many bytes, which bounds what can be asked of another thread at once.
const ROUND_BYTES: usize = 256 << 10;
/// What a connection keeps of its memory between requests.
const KEPT_BYTES: usize = 64 << 10;

/// The client is gone, or its socket broke: no more can be done for it.
#[derive(Debug)]
pub(crate) struct Gone;

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    pub(crate) protocol: Protocol,
    pub(crate) generation: u64,
    pub(crate) input: Vec<u8>,
    pub(crate) replies: Replies,
    /// How much of `input` is done with.
    consumed: usize,
    /// How much of what comes next is to be dropped.
    skip: usize,
    /// The socket may have more to read. It says so once, so this is remembered.
    readable: bool,
    writable: bool,
    /// The client's end came together with its last bytes: a short read does not mean that there is no more.
    hung_up: bool,
    /// Nothing more is read: the client said so, or it spoke nonsense.
    last: bool,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, protocol: Protocol, generation: u64) -> Self {
        Self {
            stream,
            protocol,
            generation,
            input: Vec::new(),
            replies: Replies::default(),
            consumed: 0,
            skip: 0,
            readable: true,
            writable: true,
            hung_up: false,
            last: false,
        }
    }

    pub(crate) fn has_news(&mut self, readable: bool, writable: bool, hung_up: bool) {
        self.hung_up |= hung_up;
        self.readable |= readable || hung_up;
        self.writable |= writable;
    }

    /// Reads a round of requests from what has come in. The operations' spans lie in `input`, which stays
    /// as it is until [`Connection::finish_round`]. False if there was no whole request.
    #[inline]
    pub(crate) fn begin_round(&mut self, limits: &Limits, round: &mut Round) -> bool {
        round.clear();
        let dropped = self.skip.min(self.input.len() - self.consumed);
        self.skip -= dropped;
        self.consumed += dropped;
        let start = self.consumed;
        while self.consumed < self.input.len()
            && round.ops.len() < ROUND_OPS
            && self.consumed - start < ROUND_BYTES
            && self.skip == 0
        {
            match self.protocol.next(&self.input, self.consumed, limits, round) {
                Step::Partial => break,
                Step::Took(took) => self.consumed += took,
                Step::Drop { took, skip } => {
                    self.consumed += took;
                    let dropped = skip.min(self.input.len() - self.consumed);
                    self.consumed += dropped;
                    self.skip = skip - dropped;
                }
                Step::Last => {
                    self.consumed = self.input.len();
                    (self.last, self.readable) = (true, false);
                }
            }
        }
        self.consumed > start || dropped > 0
    }

    #[inline]
    pub(crate) fn finish_round(&mut self) {
        if self.consumed == self.input.len() {
            self.input.clear();
            self.input.shrink_to(KEPT_BYTES);
            self.consumed = 0;
        }
    }

    /// May there be something to read?
    #[inline]
    pub(crate) fn is_readable(&self) -> bool {
        self.readable
    }

    /// Takes in what has come. A short read means that there is no more for now.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<(), Gone> {
        match self.stream.read(buffer) {
            Ok(0) => (self.readable, self.last) = (false, true),
            Ok(count) => {
                self.readable = count == buffer.len() || self.hung_up;
                self.input.drain(..self.consumed);
                self.consumed = 0;
                self.input.extend_from_slice(&buffer[..count]);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.readable = false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(Gone),
        }
        Ok(())
    }

    /// Sends what can be sent now.
    pub(crate) fn flush(&mut self) -> Result<(), Gone> {
        while self.writable && !self.replies.unsent().is_empty() {
            match self.stream.write(self.replies.unsent()) {
                Ok(0) => return Err(Gone),
                Ok(count) => self.replies.was_sent(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Gone),
            }
        }
        Ok(())
    }

    /// Everything was read, answered and sent, and nothing more comes.
    pub(crate) fn is_over(&self) -> bool {
        self.last && !self.replies.is_waiting() && self.replies.unsent().is_empty()
    }
}
