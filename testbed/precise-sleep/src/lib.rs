//! Sleep to a deadline within tens of microseconds.
//!
//! Tokio's timer counts in milliseconds and rounds up: a service time of 4 ms becomes 5, and arrivals at 6,000 a second
//! come in bursts of six. On Linux a timer file descriptor does better at two system calls a sleep; elsewhere, or when
//! none is to be had, this falls back to tokio's timer.

use tokio::time::Instant;

/// One sleeper, reused for one deadline after another.
#[derive(Debug)]
pub struct PreciseSleep {
    #[cfg(target_os = "linux")]
    timer: Option<linux::Timer>,
}

impl PreciseSleep {
    /// Call inside a tokio runtime that has its I/O driver on.
    #[must_use]
    pub fn new() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            timer: linux::Timer::new().ok(),
        }
    }

    /// Tokio's own timer, which follows `tokio::time::pause`; for tests on simulated time.
    #[must_use]
    pub fn coarse() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            timer: None,
        }
    }

    /// Returns at `deadline`, never before; at once if it has passed. May be dropped half-way and used again.
    pub async fn until(&self, deadline: Instant) {
        #[cfg(target_os = "linux")]
        if let Some(timer) = &self.timer
            && timer.until(deadline).await.is_ok()
        {
            return;
        }
        tokio::time::sleep_until(deadline).await;
    }
}

impl Default for PreciseSleep {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{io, os::fd::OwnedFd, time::Duration};

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::{
        io::{Interest, unix::AsyncFd},
        time::Instant,
    };

    #[derive(Debug)]
    pub(crate) struct Timer {
        fd: AsyncFd<OwnedFd>,
    }

    impl Timer {
        pub(crate) fn new() -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            Ok(Self { fd: watch(fd)? })
        }

        pub(crate) async fn until(&self, deadline: Instant) -> io::Result<()> {
            loop {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Ok(());
                }
                self.arm(left)?;
                self.expired().await?;
            }
        }

        fn arm(&self, left: Duration) -> io::Result<()> {
            let once = Itimerspec {
                it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
                it_value: Timespec {
                    tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
                    tv_nsec: left.subsec_nanos().into(),
                },
            };
            timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::empty(), &once)?;
            Ok(())
        }

        async fn expired(&self) -> io::Result<()> {
            let mut expirations = [0; 8];
            loop {
                let mut ready = self.fd.readable().await?;
                let read = ready.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), &mut expirations)?));
                match read {
                    Ok(result) => return result.map(|_| ()),
                    Err(_would_block) => {} // readiness left over from a sleep dropped half-way
                }
            }
        }
    }

    /// The constructor without `unsafe` is deprecated because a type of one's own may hand out a wrong descriptor; an
    /// `OwnedFd` cannot, so it is sound here, and this workspace stays free of `unsafe`.
    #[allow(deprecated)]
    fn watch(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
        AsyncFd::with_interest(fd, Interest::READABLE)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn never_early_and_reusable_after_a_drop() {
        let sleep = PreciseSleep::new();
        let dropped = tokio::time::timeout(
            Duration::from_millis(2),
            sleep.until(Instant::now() + Duration::from_secs(60)),
        );
        assert!(dropped.await.is_err());
        for micros in [0, 1, 50, 300, 1_700] {
            let deadline = Instant::now() + Duration::from_micros(micros);
            sleep.until(deadline).await;
            assert!(Instant::now() >= deadline, "{micros} us");
        }
        sleep.until(Instant::now() - Duration::from_secs(1)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn coarse_follows_the_paused_clock() {
        let start = Instant::now();
        PreciseSleep::coarse().until(start + Duration::from_secs(3600)).await;
        assert!(start.elapsed() >= Duration::from_secs(3600));
    }
}
