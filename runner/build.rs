//! Packs the tools that travel in the binary, which would otherwise make up a sixteenth of it.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let tools = Path::new("../assets/tools");
    println!("cargo::rerun-if-changed={}", tools.display());
    println!("cargo::rerun-if-changed=build.rs");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    for name in ["fetch", "search"] {
        let module = fs::read(tools.join(format!("{name}.wasm")))?;
        let packed = miniz_oxide::deflate::compress_to_vec(&module, 9);
        fs::write(Path::new(&out).join(format!("{name}.wasm.deflate")), packed)?;
    }
    Ok(())
}
