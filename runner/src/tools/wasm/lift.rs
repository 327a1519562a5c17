//! Any `.wasm` that exports `schema` and `run` becomes a component.
//!
//! A component is taken as it is. A core module that says its world (what `wit-bindgen` adds) is encoded by it; a bare
//! one gets the world of the tool contract. Imports of WASI preview 1 are met by the adapter.
//! Nothing here runs or trusts the module: it is validated before anything else looks at it.

use std::borrow::Cow;

use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wasmparser::{Encoding, ExternalKind, Parser, Payload, Validator};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use super::broken::{Broken, Phase};

/// The contract, as the SDK ships it.
pub(crate) const WIT: &str = include_str!("../../../../tool-sdk/wit/tool.wit");

/// The component that `bytes` are, or can be made into.
pub(crate) fn lift(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Broken> {
    let outline = Outline::read(bytes)?;
    match outline.encoding {
        Encoding::Component => Ok(Cow::Borrowed(bytes)),
        Encoding::Module => {
            outline.check()?;
            encode(bytes, &outline).map(Cow::Owned)
        }
    }
}

fn encode(bytes: &[u8], outline: &Outline) -> Result<Vec<u8>, Broken> {
    let mut module = Cow::Borrowed(bytes);
    if !outline.says_its_world {
        let internal = |error| {
            Broken::new(Phase::Parse, format!("the tool contract does not parse: {error:#}"))
        };
        let mut resolve = Resolve::default();
        let package = resolve.push_str("tool.wit", WIT).map_err(internal)?;
        let name = if outline.has("load") { "engine" } else { "tool" };
        let world = resolve.select_world(&[package], Some(name)).map_err(internal)?;
        embed_component_metadata(module.to_mut(), &resolve, world, StringEncoding::UTF8)
            .map_err(internal)?;
    }
    let encoded = ComponentEncoder::default()
        .validate(false)
        .module(&module)
        .and_then(|encoder| {
            encoder.adapter(
                WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME,
                WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
            )
        })
        .and_then(|mut encoder| encoder.encode());
    encoded.map_err(|error| outline.explain(&format!("{error:#}")))
}

/// What can be seen of a module without running it.
struct Outline {
    encoding: Encoding,
    says_its_world: bool,
    imports: Vec<(String, String)>,
    exports: Vec<String>,
    functions: Vec<String>,
}

impl Outline {
    fn read(bytes: &[u8]) -> Result<Self, Broken> {
        if bytes.is_empty() {
            return Err(Broken::new(Phase::Parse, "the file is empty"));
        }
        if !bytes.starts_with(b"\0asm") {
            return Err(Broken::new(
                Phase::Parse,
                "the file is not WebAssembly: it does not begin with `\\0asm`",
            )
            .hint(not_wasm_hint(bytes)));
        }
        let bad = |error: wasmparser::BinaryReaderError| {
            let broken = Broken::new(Phase::Parse, format!("the module is not valid: {error}"));
            let cut_off = error.message().contains("unexpected end");
            if cut_off {
                broken.hint("the file looks half written; it is read again as soon as it changes")
            } else {
                broken
            }
        };
        Validator::new().validate_all(bytes).map_err(bad)?;
        let mut outline = Self {
            encoding: Encoding::Module,
            says_its_world: false,
            imports: Vec::new(),
            exports: Vec::new(),
            functions: Vec::new(),
        };
        // The first payload tells a component; its parts are looked at when it is linked.
        for payload in Parser::new(0).parse_all(bytes) {
            match payload.map_err(bad)? {
                Payload::Version { encoding: Encoding::Component, .. } => {
                    outline.encoding = Encoding::Component;
                    break;
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import.map_err(bad)?;
                        outline.imports.push((import.module.to_owned(), import.name.to_owned()));
                    }
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export.map_err(bad)?;
                        outline.exports.push(export.name.to_owned());
                        if export.kind == ExternalKind::Func {
                            outline.functions.push(export.name.to_owned());
                        }
                    }
                }
                Payload::CustomSection(section) if section.name().starts_with("component-type") => {
                    outline.says_its_world = true;
                }
                _ => {}
            }
        }
        Ok(outline)
    }

    fn has(&self, name: &str) -> bool {
        self.functions.iter().any(|export| export == name || export == &format!("cm32p2||{name}"))
    }

    /// What has to hold before a core module is worth encoding.
    fn check(&self) -> Result<(), Broken> {
        let missing: Vec<String> = self
            .imports
            .iter()
            .filter(|(module, _)| !is_provided(module))
            .map(|(module, name)| format!("{module}.{name}"))
            .collect();
        if let Some(other) = other_contract(self.imports.iter().map(|(module, _)| module.as_str()))
        {
            return Err(other);
        }
        if !missing.is_empty() {
            let hint = import_hint(&missing);
            return Err(Broken::new(Phase::Link, "the module imports what nothing here provides")
                .missing(missing)
                .hint(hint));
        }
        for name in ["schema", "run"] {
            if !self.has(name) {
                return Err(Broken::new(
                    Phase::Link,
                    format!("the module does not export a function `{name}`"),
                )
                .exports(self.exports.clone())
                .hint(self.export_hint()));
            }
        }
        Ok(())
    }

    fn export_hint(&self) -> &'static str {
        if self.has("_start") {
            "this is a program; a tool is a library (in Rust: crate-type = [\"cdylib\"]; in C: -mexec-model=reactor) \
             that exports `schema` and `run`"
        } else {
            "a tool exports `schema: func() -> string` and `run: func(args: string) -> result<string, string>`"
        }
    }

    /// The encoder's complaint, with what the module has.
    fn explain(&self, error: &str) -> Broken {
        let broken = Broken::new(Phase::Link, error).exports(self.exports.clone());
        if error.contains("cabi_realloc") || error.contains("realloc") {
            broken.hint("export `cabi_realloc(old, old_size, align, new_size) -> pointer`: strings come in through it")
        } else if error.contains("memory") {
            broken.hint("export the memory as `memory`")
        } else {
            broken.hint(
                "in the canonical ABI: schema() -> pointer to {ptr, len}; run(ptr, len) -> pointer to {is_err u8, ptr, len}",
            )
        }
    }
}

/// Whether imports of a core module's import module can be met.
fn is_provided(module: &str) -> bool {
    module == WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME
        || module.starts_with("wasi:")
        || module.starts_with("autocode:tool/host")
        || module.starts_with("cm32p2|")
        || module == "$root"
        || module.starts_with("[export]")
}

/// A module built for a contract that this runner does not speak.
pub(crate) fn other_contract<'a>(mut imports: impl Iterator<Item = &'a str>) -> Option<Broken> {
    let import =
        imports.find(|name| name.starts_with("autocode:tool/") && !name.contains("@0.1."))?;
    let cause = format!("the tool was built for {import}; this runner speaks autocode:tool@0.1");
    Some(
        Broken::new(Phase::Link, cause)
            .hint("build it again with the SDK that this autocode ships"),
    )
}

fn import_hint(missing: &[String]) -> &'static str {
    let any = |text: &str| missing.iter().any(|name| name.contains(text));
    if any("__wbindgen") {
        "wasm-bindgen needs a JavaScript host: build for wasm32-wasip1 without it (often a default feature of a \
         dependency, such as `js` or `wasmbind`)"
    } else if any("wasi_unstable") {
        "this is a WASI of 2019: build for wasm32-wasip1 (wasi_snapshot_preview1)"
    } else if any("env.abort") {
        "AssemblyScript: compile with `--use abort=`"
    } else if any("env.emscripten") || any("env.__syscall") || any("env.invoke_") {
        "this was built by Emscripten: use a WASI toolchain (clang or zig with --target=wasm32-wasi)"
    } else {
        "a tool may import WASI and autocode:tool/host@0.1.0, nothing else; functions from `env` are usually symbols \
         that were not linked in"
    }
}

fn not_wasm_hint(bytes: &[u8]) -> &'static str {
    if bytes.starts_with(b"(module") || bytes.starts_with(b"(component") {
        "this is WebAssembly text: assemble it (wat2wasm, wasm-tools parse)"
    } else if bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"\xcf\xfa\xed\xfe") {
        "this is native code: build for wasm32-wasip1"
    } else {
        "if it is still being written, it is read again as soon as it changes"
    }
}
