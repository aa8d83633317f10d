use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use rudolph_cache::HashedKey;

use super::connection::{Connection, Gone};
use super::connections::Connections;
use crate::Limits;
use crate::engine::{Home, Inbox, Letter, Outgoing, PostOffice, Store, Ticket};
use crate::protocol::{Op, Protocol, Round};

/// The waker's; listeners have those below, connections those from 0 on.
pub(crate) const WAKER: Token = Token(usize::MAX);
const EVENTS: usize = 1024;
const READ_BYTES: usize = 64 << 10;
/// Replies that a client does not take: with so many waiting, it is not read from.
const UNSENT_BYTES: usize = 256 << 10;
/// A connection gives way to the others after so many rounds.
const ROUNDS_A_TURN: usize = 16;
/// A listener that had no room for a connection is looked at again after so long.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// One thread: its connections, its part of the keys, and what it has under way to the others.
#[derive(Debug)]
pub(crate) struct Worker {
    index: usize,
    poll: Poll,
    listeners: Vec<(TcpListener, Protocol)>,
    limits: Limits,
    store: Store,
    inbox: Inbox,
    offices: Vec<PostOffice>,
    outgoing: Vec<Outgoing>,
    connections: Connections,
    generation: u64,
    round: Round,
    /// Of the round's operations. Those without a key have one that says nothing.
    homes: Vec<Home>,
    buffer: Vec<u8>,
    /// Connections to be looked at in the next turn, whatever the poll says.
    again: Vec<usize>,
    /// Connections that wait for room in a batch.
    stalled: Vec<usize>,
    /// A listener has connections that could not be accepted.
    accept_later: bool,
    stop: Arc<AtomicBool>,
}

/// What a connection's turn came to.
enum Turn {
    Rest,
    Again,
    Stalled,
}

impl Worker {
    #[expect(clippy::too_many_arguments, reason = "called once, with the parts that threads share")]
    pub(crate) fn new(
        index: usize,
        poll: Poll,
        mut listeners: Vec<(TcpListener, Protocol)>,
        limits: Limits,
        store: Store,
        inbox: Inbox,
        offices: Vec<PostOffice>,
        stop: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        for (i, (listener, _)) in listeners.iter_mut().enumerate() {
            poll.registry().register(listener, listener_token(i), Interest::READABLE)?;
        }
        let outgoing = offices.iter().map(|_| Outgoing::new()).collect();
        Ok(Self {
            index,
            poll,
            listeners,
            limits,
            store,
            inbox,
            offices,
            outgoing,
            connections: Connections::default(),
            generation: 0,
            round: Round::default(),
            homes: Vec::new(),
            buffer: vec![0; READ_BYTES],
            again: Vec::new(),
            stalled: Vec::new(),
            accept_later: false,
            stop,
        })
    }

    /// Until the server stops.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        while !self.stop.load(Ordering::Relaxed) {
            self.wait(&mut events)?;
            self.read_letters()?;
            for event in &events {
                self.react(event)?;
            }
            for number in std::mem::take(&mut self.again) {
                self.serve(number);
            }
            self.send_batches()?;
            // Who has to answer may wait for this core. Once it has run, its answer is here, and this thread need not sleep
            // and be woken.
            if self.outgoing.iter().any(Outgoing::is_under_way) {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    fn wait(&mut self, events: &mut Events) -> io::Result<()> {
        self.inbox.fall_asleep();
        let came = self.read_letters()?;
        let timeout = match (came || !self.again.is_empty(), self.accept_later) {
            (true, _) => Some(Duration::ZERO),
            (false, true) => Some(ACCEPT_AGAIN),
            (false, false) => None,
        };
        let polled = self.poll.poll(events, timeout);
        self.inbox.wake_up();
        match polled {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            polled => polled?,
        }
        if std::mem::take(&mut self.accept_later) {
            (0..self.listeners.len()).try_for_each(|i| self.accept(i))?;
        }
        Ok(())
    }

    fn react(&mut self, event: &Event) -> io::Result<()> {
        let token = event.token();
        if token == WAKER {
            return Ok(());
        }
        if let Some(listener) = (0..self.listeners.len()).find(|i| listener_token(*i) == token) {
            return self.accept(listener);
        }
        if let Some(connection) = self.connections.get_mut(token.0) {
            let hung_up = event.is_read_closed() || event.is_error();
            connection.has_news(event.is_readable(), event.is_writable(), hung_up);
            self.serve(token.0);
        }
        Ok(())
    }

    fn accept(&mut self, listener: usize) -> io::Result<()> {
        loop {
            let (listener, protocol) = &self.listeners[listener];
            match listener.accept() {
                Ok((stream, _)) => self.admit(stream, *protocol),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // No file descriptor is left, for one: those who are here are served on.
                Err(_) => {
                    self.accept_later = true;
                    return Ok(());
                }
            }
        }
    }

    /// A client that goes away meanwhile is no fault of the server's.
    fn admit(&mut self, mut stream: TcpStream, protocol: Protocol) {
        if self.connections.open() >= self.limits.connections {
            use std::io::Write;
            _ = match protocol {
                Protocol::Redis => stream.write(b"-ERR max number of clients reached\r\n"),
                Protocol::Memcached => stream.write(b"ERROR Too many open connections\r\n"),
            };
            return;
        }
        _ = stream.set_nodelay(true);
        let number = self.connections.reserve();
        let interest = Interest::READABLE | Interest::WRITABLE;
        if self.poll.registry().register(&mut stream, Token(number), interest).is_err() {
            self.connections.release(number);
            return;
        }
        self.generation += 1;
        let connection = Connection::new(stream, protocol, self.generation);
        self.connections.put(number, Box::new(connection));
    }

    /// Does for a connection what can be done now.
    fn serve(&mut self, number: usize) {
        let Some(mut connection) = self.connections.take(number) else {
            return;
        };
        let turn = self.advance(number, &mut connection);
        // What is ready while the rest is waited for goes out with it: one write a round, not two.
        let turn = match turn {
            Ok(turn) if !connection.replies.is_waiting() => connection.flush().map(|()| turn),
            turn => turn,
        };
        match turn {
            Err(Gone) => self.close(number, &mut connection),
            Ok(Turn::Rest) if connection.is_over() => self.close(number, &mut connection),
            Ok(turn) => {
                self.connections.put(number, connection);
                match turn {
                    Turn::Rest => {}
                    Turn::Again => self.again.push(number),
                    Turn::Stalled => self.stalled.push(number),
                }
            }
        }
    }

    fn close(&mut self, number: usize, connection: &mut Connection) {
        _ = self.poll.registry().deregister(&mut connection.stream);
        self.connections.release(number);
    }

    fn advance(&mut self, number: usize, connection: &mut Connection) -> Result<Turn, Gone> {
        for _ in 0..ROUNDS_A_TURN {
            if connection.replies.is_waiting() {
                return Ok(Turn::Rest);
            }
            if connection.replies.unsent().len() > UNSENT_BYTES {
                connection.flush()?;
                if connection.replies.unsent().len() > UNSENT_BYTES {
                    return Ok(Turn::Rest);
                }
            }
            if self.outgoing.iter().any(Outgoing::is_full) {
                return Ok(Turn::Stalled);
            }
            if connection.begin_round(&self.limits, &mut self.round) {
                self.perform(number, connection);
                connection.finish_round();
            } else if connection.is_readable() {
                connection.read(&mut self.buffer)?;
            } else {
                return Ok(Turn::Rest);
            }
        }
        Ok(Turn::Again)
    }

    /// What belongs here is done, what belongs to others joins what goes to them.
    fn perform(&mut self, number: usize, connection: &mut Connection) {
        let Connection { input, replies, protocol, generation, .. } = connection;
        self.homes.clear();
        for op in &self.round.ops {
            let key = op.key().map_or(&[][..], |key| key.of(input));
            self.homes.push(self.store.home(key));
        }
        let ops = || self.round.ops.iter().zip(&self.homes);
        if self.round.ops.len() > 1 {
            self.store.glance(ops().filter_map(|(op, home)| {
                let key = op.key().filter(|_| self.store.is_here(*home))?.of(input);
                Some(HashedKey { key, hash: home.hash })
            }));
        }
        for (op, home) in ops() {
            let ticket = |place| Ticket { connection: number, generation: *generation, place };
            match *op {
                Op::Say { text } => {
                    replies.here(|out| out.extend_from_slice(text.of(&self.round.said)));
                }
                Op::Get { .. } | Op::Set { .. } => {
                    if self.store.is_here(*home) {
                        let store = &mut self.store;
                        replies.here(|out| store.perform(*op, home.hash, input, *protocol, out));
                    } else {
                        let ticket = ticket(replies.elsewhere());
                        let batch = self.outgoing[home.thread].filling();
                        batch.ask(ticket, *protocol, *op, home.hash, input);
                    }
                }
                Op::Sum(sum) => {
                    let (mine, others) = (self.store.sum(sum, input), self.store.others());
                    if others == 0 {
                        replies.here(|out| sum.write(mine, self.offices.len(), out));
                        continue;
                    }
                    let ticket = ticket(replies.sum(sum, mine, others));
                    for (owner, outgoing) in self.outgoing.iter_mut().enumerate() {
                        if owner != self.index {
                            outgoing.filling().ask(ticket, *protocol, *op, home.hash, input);
                        }
                    }
                }
            }
        }
    }

    /// Answers what others ask and hands out what they answered. True if there was anything.
    fn read_letters(&mut self) -> io::Result<bool> {
        let mut came = false;
        while let Some(letter) = self.inbox.take() {
            came = true;
            match letter {
                Letter::Ask { from, mut batch } => {
                    batch.answer(&mut self.store);
                    self.offices[from].send(Letter::Answer { from: self.index, batch })?;
                }
                Letter::Answer { from, batch } => {
                    let threads = self.offices.len();
                    for (ticket, part) in batch.answers() {
                        let connection = self.connections.get_mut(ticket.connection);
                        let connection = connection.filter(|c| c.generation == ticket.generation);
                        if let Some(connection) = connection
                            && connection.replies.arrived(ticket.place, part, threads)
                        {
                            self.again.push(ticket.connection);
                        }
                    }
                    self.outgoing[from].came_back(batch);
                    self.again.append(&mut self.stalled);
                }
            }
        }
        Ok(came)
    }

    fn send_batches(&mut self) -> io::Result<()> {
        for (to, outgoing) in self.outgoing.iter_mut().enumerate() {
            if let Some(batch) = outgoing.ready() {
                self.offices[to].send(Letter::Ask { from: self.index, batch })?;
            }
        }
        Ok(())
    }
}

fn listener_token(index: usize) -> Token {
    Token(usize::MAX - 1 - index)
}
