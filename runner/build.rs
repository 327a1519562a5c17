//! Packs the wasm modules that travel in the binary, of which they would otherwise be a tenth.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    for (folder, name) in [("", "js-engine"), ("tools/", "fetch"), ("tools/", "search")] {
        let module = format!("../assets/{folder}{name}.wasm");
        println!("cargo::rerun-if-changed={module}");
        let module = fs::read(module)?;
        let packed = miniz_oxide::deflate::compress_to_vec(&module, 9);
        fs::write(Path::new(&out).join(format!("{name}.wasm.deflate")), packed)?;
    }
    Ok(())
}
