//! Makes one `.wasm` of parts of a module in text form: `assemble PART... OUT`.

use std::error::Error;
use std::fs;

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths: Vec<String> = std::env::args().skip(1).collect();
    let out = paths.pop().ok_or("usage: assemble PART... OUT")?;
    let parts: Vec<String> = paths.iter().map(fs::read_to_string).collect::<Result<_, _>>()?;
    fs::write(out, wat::parse_str(format!("(module {})", parts.join("\n")))?)?;
    Ok(())
}
