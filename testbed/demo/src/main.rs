//! What `make run` runs: servers and Envoy on loopback, load whose hot keys shift, and a table once a second.

mod filter_state;
mod intro;
mod options;
mod plain_hashing;
mod run;
mod screen;
mod second;
mod signals;
mod style;
mod summary;
mod table;
mod warm;

use std::process::ExitCode;

use clap::Parser;

use crate::options::Options;

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => return refuse(&error),
    };
    match run::run(&options) {
        Ok(ending) => ending.exit_code(),
        // Whoever read the table has gone, as `head` does: nothing to complain about.
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
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
