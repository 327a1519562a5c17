//! The languages whose compiler takes one command line: C, Zig, AssemblyScript, Python.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::compiler::{self, Compiler};
use super::super::{Language, Result, ToolkitError, sdk};
use crate::env::Env;

pub(super) fn build(env: &Env, language: Language, source: &Path) -> Result<Vec<u8>> {
    let scratch = scratch(env)?;
    let module = scratch.path().join("tool.wasm");
    let (compiler, args) = match language {
        Language::C => c(env, source, &module)?,
        Language::Zig => zig_build(env, &module)?,
        Language::AssemblyScript => assemblyscript(env, source, &module)?,
        Language::Python => python(env, &module)?,
        Language::JavaScript | Language::Rust => {
            return Err(ToolkitError::Failed(format!("{} is built elsewhere", language.label())));
        }
    };
    let mut command = compiler.command(env, source);
    // Zig would leave a directory in the source.
    command.args(args).env("ZIG_LOCAL_CACHE_DIR", env.cache_dir.join("zig"));
    compiler::compile(command)?;
    fs::read(&module).map_err(|error| ToolkitError::io("the compiler made no module", &error))
}

type CommandLine = (Compiler, Vec<OsString>);

fn scratch(env: &Env) -> Result<tempfile::TempDir> {
    let parent = env.cache_dir.join("build");
    fs::create_dir_all(&parent).and_then(|()| tempfile::tempdir_in(&parent)).map_err(|error| {
        ToolkitError::io(format_args!("cannot write to {}", parent.display()), &error)
    })
}

fn args<const N: usize>(args: [&str; N]) -> Vec<OsString> {
    args.map(OsString::from).into()
}

/// `zig`, or the one that pip installs.
fn zig(env: &Env) -> Option<Compiler> {
    Compiler::named(env, "zig").or_else(|| Compiler::python_module(env, "ziglang"))
}

/// A clang of the WASI SDK, zig's, or a clang with a wasm sysroot, in this order.
fn c_compiler(env: &Env) -> Option<Compiler> {
    let wasi_sdk =
        env.get("WASI_SDK_PATH").and_then(|dir| Compiler::at(PathBuf::from(dir).join("bin/clang")));
    wasi_sdk
        .map(|clang| clang.with(&["--target=wasm32-wasip1"]))
        .or_else(|| Some(zig(env)?.with(&["cc", "-target", "wasm32-wasi"])))
        .or_else(|| {
            let names = ["clang".to_owned()]
                .into_iter()
                .chain((14..=30).rev().map(|version| format!("clang-{version}")));
            names
                .into_iter()
                .find_map(|name| Compiler::named(env, &name))
                .map(|clang| clang.with(&["--target=wasm32-wasi"]))
        })
}

fn c(env: &Env, source: &Path, module: &Path) -> Result<CommandLine> {
    let compiler = c_compiler(env).ok_or_else(|| {
        missing("a C compiler for wasm", "pip install ziglang, or set WASI_SDK_PATH to a WASI SDK")
    })?;
    let mut line = args(["-mexec-model=reactor", "-Os", "-Wl,--strip-debug", "-o"]);
    line.push(module.into());
    line.extend(files(source, "c")?);
    Ok((compiler, line))
}

fn zig_build(env: &Env, module: &Path) -> Result<CommandLine> {
    let compiler = zig(env).ok_or_else(|| missing("zig", "pip install ziglang"))?;
    let mut line = args(["build-exe", Language::Zig.entry(), "-target", "wasm32-freestanding"]);
    line.extend(args(["-fno-entry", "-rdynamic", "-O", "ReleaseSmall", "-fstrip"]));
    let mut emit = OsString::from("-femit-bin=");
    emit.push(module);
    line.push(emit);
    Ok((compiler, line))
}

fn assemblyscript(env: &Env, source: &Path, module: &Path) -> Result<CommandLine> {
    // A project's own compiler comes before one that is installed for all.
    let local = source.ancestors().find_map(|dir| Compiler::at(dir.join("node_modules/.bin/asc")));
    let compiler = local.or_else(|| Compiler::named(env, "asc")).ok_or_else(|| {
        missing("asc, the compiler of AssemblyScript", "npm install -g assemblyscript")
    })?;
    let mut line = args([
        Language::AssemblyScript.entry(),
        "-O3",
        "--runtime",
        "stub",
        "--use",
        "abort=",
        "-o",
    ]);
    line.push(module.into());
    Ok((compiler, line))
}

fn python(env: &Env, module: &Path) -> Result<CommandLine> {
    let compiler = Compiler::named(env, "componentize-py")
        .ok_or_else(|| missing("componentize-py", "pip install componentize-py"))?;
    let mut line = args(["-d"]);
    line.push(sdk::unpack(env)?.join("tool-sdk/wit").into());
    line.extend(args(["-w", "tool", "componentize", "tool", "-o"]));
    line.push(module.into());
    Ok((compiler, line))
}

/// The files of `source` that end in `.extension`, by name.
fn files(source: &Path, extension: &str) -> Result<Vec<OsString>> {
    let entries = fs::read_dir(source).map_err(|error| {
        ToolkitError::io(format_args!("cannot read {}", source.display()), &error)
    })?;
    let mut names: Vec<OsString> = entries
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| Path::new(name).extension().is_some_and(|found| found == extension))
        .collect();
    names.sort();
    Ok(names)
}

fn missing(what: &str, how: &str) -> ToolkitError {
    ToolkitError::Failed(format!(
        "{what} is not installed: {how}\nJavaScript needs nothing installed: autocode tool new NAME --lang js"
    ))
}
