use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::Failure;

const PAUSE: Duration = Duration::from_millis(200);

/// Tries until it succeeds; when the time is over, the last failure says what was missing.
pub async fn eventually<T>(
    limit: Duration,
    mut attempt: impl AsyncFnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let deadline = Instant::now() + limit;
    loop {
        match attempt().await {
            Ok(reached) => return Ok(reached),
            Err(last) if Instant::now() > deadline => {
                return Err(Failure::TooLate { limit, last: Box::new(last) });
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tries_again_and_gives_up_with_the_last_reason() {
        let mut tries = 0;
        let third = eventually(Duration::from_secs(60), async || {
            tries += 1;
            if tries == 3 { Ok(tries) } else { Err(Failure::unmet("tries", 3, tries)) }
        });
        assert_eq!(third.await.unwrap(), 3);
        let never: Result<(), _> =
            eventually(Duration::ZERO, async || Err(Failure::unmet("x", 1, 2))).await;
        let text = never.unwrap_err().to_string();
        assert_eq!(text, "not within 0 s: x: wanted 1, found 2");
    }
}
