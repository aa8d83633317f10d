use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use mio::Waker;

use super::Batch;

/// Between any two threads at most one batch is asked and one answered at a time.
const LETTERS_A_PEER: usize = 2;

#[derive(Debug)]
pub(crate) enum Letter {
    Ask { from: usize, batch: Box<Batch> },
    Answer { from: usize, batch: Box<Batch> },
}

/// Where others put letters for one thread.
#[derive(Debug, Clone)]
pub(crate) struct PostOffice {
    letters: SyncSender<Letter>,
    asleep: Arc<AtomicBool>,
    waker: Arc<Waker>,
}

/// Where the thread itself takes them out.
#[derive(Debug)]
pub(crate) struct Inbox {
    letters: Receiver<Letter>,
    asleep: Arc<AtomicBool>,
}

/// A post office and an inbox for each thread; a waker is the thread's own.
pub(crate) fn post_offices(wakers: Vec<Waker>) -> (Vec<PostOffice>, Vec<Inbox>) {
    let capacity = (LETTERS_A_PEER * wakers.len()).max(1);
    wakers
        .into_iter()
        .map(|waker| {
            let (sender, receiver) = sync_channel(capacity);
            let asleep = Arc::new(AtomicBool::new(false));
            let office =
                PostOffice { letters: sender, asleep: asleep.clone(), waker: Arc::new(waker) };
            (office, Inbox { letters: receiver, asleep })
        })
        .unzip()
}

impl PostOffice {
    /// Never blocks: there is room for all that may be under way. A thread that ended takes no letters.
    pub(crate) fn send(&self, letter: Letter) -> io::Result<()> {
        if self.letters.try_send(letter).is_err() {
            return Ok(());
        }
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) && self.asleep.swap(false, Ordering::Relaxed) {
            return self.waker.wake();
        }
        Ok(())
    }

    pub(crate) fn wake(&self) -> io::Result<()> {
        self.waker.wake()
    }
}

impl Inbox {
    #[inline]
    pub(crate) fn take(&self) -> Option<Letter> {
        self.letters.try_recv().ok()
    }

    /// To be called before the thread sleeps, and to be followed by a last look: a letter that came before that look
    /// is found by it, and who sends a later one sees that the thread sleeps.
    pub(crate) fn fall_asleep(&self) {
        self.asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    pub(crate) fn wake_up(&self) {
        self.asleep.store(false, Ordering::Relaxed);
    }
}
