//! Packs the wasm modules that travel in the binary, of which they would otherwise be a tenth, and makes it start fast.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CC");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    let out = PathBuf::from(out);
    for name in ["js-engine", "tools/add", "tools/fetch", "tools/search"] {
        let module = format!("../assets/{name}.wasm");
        let name = name.trim_start_matches("tools/");
        println!("cargo::rerun-if-changed={module}");
        let module = fs::read(module)?;
        let packed = miniz_oxide::deflate::compress_to_vec(&module, 9);
        fs::write(out.join(format!("{name}.wasm.deflate")), packed)?;
    }
    if is_release_for_this_linux() {
        link_for_a_fast_start(&out)?;
    }
    Ok(())
}

/// Only where it is built is it known what the system it runs on has.
fn is_release_for_this_linux() -> bool {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|is| is == value);
    is("PROFILE", "release")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && env::var_os("HOST") == env::var_os("TARGET")
}

/// Some tens of thousands of addresses are put in at each start: packed, they are a thirtieth of the file's size and
/// quicker to read. And the unwinder is linked in: as a shared library it would be one more to find, map and initialise.
fn link_for_a_fast_start(out: &Path) -> io::Result<()> {
    if libc_version().is_some_and(|version| version >= (2, 36)) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    let libraries: Option<Vec<String>> =
        ["libgcc_eh.a", "libgcc.a"].into_iter().map(library).collect();
    if let Some(libraries) = libraries {
        // What `-lgcc_s` finds first.
        fs::write(out.join("libgcc_s.so"), format!("INPUT ( {} )\n", libraries.join(" ")))?;
        println!("cargo::rustc-link-search=native={}", out.display());
    }
    Ok(())
}

/// Where the C compiler has a library of its own.
fn library(name: &str) -> Option<String> {
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(compiler).arg(format!("-print-file-name={name}")).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    // A linker script has no way to write such a name.
    let plain = !path.contains(|c: char| c.is_whitespace() || "()\"".contains(c));
    (plain && Path::new(&path).is_absolute()).then_some(path)
}

/// The C library's version here.
fn libc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
