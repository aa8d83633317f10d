//! `rudolph-dist --module FILE --schema FILE --metadata FILE --rust-version VERSION OUTPUT`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rudolph_dist::dist::{self, Input};

/// Writes the module, its image layout, its bill of materials, the configuration's schema and checksums.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// The module.
    #[arg(long, value_name = "FILE")]
    module: PathBuf,
    /// The configuration's JSON Schema.
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// What `cargo metadata` printed, for the module's platform.
    #[arg(long, value_name = "FILE")]
    metadata: PathBuf,
    /// The version of the Rust that built the module.
    #[arg(long, value_name = "VERSION")]
    rust_version: String,
    /// The folder to write: new, or empty.
    output: PathBuf,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let input = Input {
        module: options.module,
        schema: options.schema,
        metadata: options.metadata,
        rust_version: options.rust_version,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        licence: env!("CARGO_PKG_LICENSE").to_owned(),
    };
    match dist::write(&input, &options.output) {
        Ok(written) => {
            println!("module           sha256:{}", written.module_digest);
            println!("image            {}", written.index_digest);
            println!("image, by sha256 {}", written.manifest_digest);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("rudolph-dist: {error}");
            ExitCode::FAILURE
        }
    }
}
