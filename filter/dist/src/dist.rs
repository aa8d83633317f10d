//! The folder with everything in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::layout::Labels;
use crate::{DistError, bom, digest, layer, layout};

const WASM_VERSION_1: &[u8] = b"\0asm\x01\0\0\0";

/// Where the parts are, and what is said of them.
#[derive(Clone, Debug)]
pub struct Input {
    pub module: PathBuf,
    pub schema: PathBuf,
    /// What `cargo metadata --filter-platform wasm32-unknown-unknown` printed.
    pub metadata: PathBuf,
    pub rust_version: String,
    pub version: String,
    pub licence: String,
}

/// What a user needs to name the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub module_digest: String,
    pub index_digest: String,
    pub manifest_digest: String,
}

/// Writes all into `output`.
///
/// # Errors
/// When a part is missing or unsound, or `output` holds something already.
pub fn write(input: &Input, output: &Path) -> Result<Written, DistError> {
    let module = read(&input.module)?;
    if !module.starts_with(WASM_VERSION_1) {
        return Err(DistError::NotWasm { path: input.module.clone() });
    }
    let labels = Labels { version: &input.version, licence: &input.licence };
    let layout = layout::build(&layer::pack(&module)?, labels)?;
    let written = Written {
        module_digest: digest::hex(&module),
        index_digest: layout.index_digest.clone(),
        manifest_digest: layout.manifest_digest.clone(),
    };
    let files = collect(input, module, layout)?;
    claim(output)?;
    for (path, content) in &files {
        write_file(&output.join(path), content)?;
    }
    write_file(&output.join("SHA256SUMS"), sums(&files).as_bytes())?;
    Ok(written)
}

type File = (String, Vec<u8>);

fn collect(input: &Input, module: Vec<u8>, layout: layout::Layout) -> Result<Vec<File>, DistError> {
    let name = format!("rudolph-{}", input.version);
    let subject = bom::Subject { module: &module, rust_version: &input.rust_version };
    let bom = bom::build(&read(&input.metadata)?, subject)?;
    let mut bom = serde_json::to_vec_pretty(&bom).map_err(|source| DistError::Json { source })?;
    bom.push(b'\n');
    let mut files = vec![
        (format!("{name}.cdx.json"), bom),
        (format!("{name}.schema.json"), schema(&input.schema)?),
        (format!("{name}.wasm"), module),
    ];
    let in_layout = |(path, content)| (format!("{name}.oci/{path}"), content);
    files.extend(layout.files.into_iter().map(in_layout));
    files.sort();
    Ok(files)
}

fn schema(path: &Path) -> Result<Vec<u8>, DistError> {
    let bytes = read(path)?;
    serde_json::from_slice::<serde_json::Value>(&bytes)
        .map_err(|source| DistError::NotJson { path: path.to_owned(), source })?;
    Ok(bytes)
}

/// In the form that `sha256sum -c` reads.
fn sums(files: &[File]) -> String {
    files.iter().map(|(path, content)| format!("{}  {path}\n", digest::hex(content))).collect()
}

/// What another run left would make the folder a mixture.
fn claim(output: &Path) -> Result<(), DistError> {
    let failed = |source| DistError::Write { path: output.to_owned(), source };
    fs::create_dir_all(output).map_err(failed)?;
    match fs::read_dir(output).map_err(failed)?.next() {
        None => Ok(()),
        Some(_) => Err(DistError::NotEmpty { path: output.to_owned() }),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, DistError> {
    fs::read(path).map_err(|source| DistError::Read { path: path.to_owned(), source })
}

fn write_file(path: &Path, content: &[u8]) -> Result<(), DistError> {
    let failed = |source| DistError::Write { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, content).map_err(failed)
}
