//! `rudolph-trim-exports --keep-file exports.txt in.wasm out.wasm`

use std::fs;
use std::process::ExitCode;

use rudolph_trim_exports::{Args, TrimError, trim};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rudolph-trim-exports: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), TrimError> {
    let Args { keep, input, output } = Args::parse(std::env::args().skip(1))?;
    let wasm = fs::read(&input).map_err(|source| TrimError::Read { path: input, source })?;
    let trimmed = trim(&wasm, &keep)?;
    fs::write(&output, trimmed).map_err(|source| TrimError::Write { path: output, source })
}
