//! `make top`: what the status page shows, in a terminal, anew each second.

mod document;
mod fetch;
mod options;
mod screen;
mod view;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::fetch::FetchError;
use crate::options::Options;
use crate::screen::Screen;
use crate::view::{Look, Memory};

/// What ends the program before its user does.
#[derive(Debug, thiserror::Error)]
enum TopError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("the terminal or the system: {0}")]
    Io(#[from] std::io::Error),
}

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => return refuse(&error),
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read it has gone, as `head` does: nothing to complain about.
        Err(TopError::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Help goes out whole; an error is one line.
fn refuse(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Nobody may be listening any more.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    eprintln!("{}; see --help", lines.collect::<Vec<_>>().join(" "));
    ExitCode::from(2)
}

fn run(options: &Options) -> Result<(), TopError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(watch(options))
}

async fn watch(options: &Options) -> Result<(), TopError> {
    let mut screen = Screen::of_terminal();
    let look = Look { color: screen.is_terminal() && options.color(), rows: options.rows };
    let mut memory = Memory::default();
    loop {
        let fetched = tokio::select! {
            fetched = fetch::status(options.at, options.filter.as_deref()) => fetched,
            _ = tokio::signal::ctrl_c() => return Ok(()),
        };
        let lines = match fetched {
            Ok(document) => view::lines(&document, &mut memory, look),
            // One look that fails is an error; one who keeps looking is told, and sees when it is back.
            Err(error) if options.once => return Err(error.into()),
            Err(error) => vec![format!("{error}; trying again")],
        };
        screen.draw(&lines)?;
        if options.once {
            return Ok(());
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(1)) => {}
            _ = tokio::signal::ctrl_c() => return Ok(()),
        }
    }
}
