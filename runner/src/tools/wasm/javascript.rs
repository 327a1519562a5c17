//! JavaScript tools: the engine's module and a script made one ordinary module, and taken apart again.
//!
//! The joined module is the engine byte for byte, with one more active data segment that fills the slot which the
//! engine's export `script_slot` names: a little-endian `u32` length, then the script. Any host that runs the tool
//! contract runs it. Taking apart joins anew and compares, so that a module that only looks like one of ours never runs
//! on the shared engine.

use std::ops::Range;
use std::sync::LazyLock;

use super::shared::SharedEngine;
use thiserror::Error;
use wasmparser::{
    BinaryReader, BinaryReaderError, DataSectionReader, ExportSectionReader, ExternalKind,
    GlobalSectionReader, MemorySectionReader, Operator,
};

/// The engine, built from `runner/js-engine` by its `build.sh`; it travels packed.
static ENGINE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/js-engine.wasm.deflate"));
    // The build script packed it; a test unpacks it.
    miniz_oxide::inflate::decompress_to_vec(packed).unwrap_or_default()
});

/// The engine's module.
#[must_use]
pub fn engine() -> &'static [u8] {
    &ENGINE
}

/// The same, as the loader takes it: compiled once for all scripts.
pub const SHARED: SharedEngine = SharedEngine { split: engine_and_script };

fn engine_and_script(module: &[u8]) -> Option<(&'static [u8], &str)> {
    // Most modules are none of ours, and then the engine stays packed.
    memchr::memmem::find(module, SLOT_EXPORT.as_bytes())?;
    Some((engine(), split(module, engine())?))
}

/// Longest script in bytes: the engine's slot without the length.
pub const MAX_SCRIPT: usize = (1 << 20) - LENGTH_BYTES;

const LENGTH_BYTES: usize = 4;

/// The engine's export whose value is the address of the slot.
const SLOT_EXPORT: &str = "script_slot";

/// Section ids of the binary format.
mod id {
    pub const MEMORY: u8 = 5;
    pub const GLOBAL: u8 = 6;
    pub const EXPORT: u8 = 7;
    pub const DATA: u8 = 11;
    pub const DATA_COUNT: u8 = 12;
}

/// Why an engine and a script do not become a module.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum JoinError {
    /// There is nothing to run.
    #[error("the script is empty")]
    Empty,
    /// The slot is too small.
    #[error("the script has {0} bytes; at most {MAX_SCRIPT} fit")]
    TooLong(usize),
    /// The module is not the engine.
    #[error("the JavaScript engine's module cannot take a script: {0}")]
    Engine(String),
}

impl From<BinaryReaderError> for JoinError {
    fn from(error: BinaryReaderError) -> Self {
        Self::Engine(error.to_string())
    }
}

/// An ordinary core module that runs `script`.
///
/// # Errors
/// The script is empty or too long, or `engine` is not an engine.
pub fn join(engine: &[u8], script: &str) -> Result<Vec<u8>, JoinError> {
    if script.is_empty() {
        return Err(JoinError::Empty);
    }
    if script.len() > MAX_SCRIPT {
        return Err(JoinError::TooLong(script.len()));
    }
    let sections = sections(engine)?;
    let segment = segment(slot(engine, &sections)?, script);
    let mut out = Vec::with_capacity(engine.len() + segment.len() + 16);
    out.extend_from_slice(&engine[..HEADER]);
    let mut filled = false;
    for section in &sections {
        let body = &engine[section.body.clone()];
        match section.id {
            id::DATA_COUNT => write_section(&mut out, section.id, &[&one_more(body)?.0]),
            id::DATA => {
                let (count, segments) = one_more(body)?;
                write_section(&mut out, section.id, &[&count, segments, &segment]);
                filled = true;
            }
            _ => out.extend_from_slice(&engine[section.whole.clone()]),
        }
    }
    if filled { Ok(out) } else { Err(JoinError::Engine("it has no data section".to_owned())) }
}

/// The script in `module`, if `module` is exactly what [`join`] makes of `engine` and that script.
pub fn split<'a>(module: &'a [u8], engine: &[u8]) -> Option<&'a str> {
    let sections = sections(module).ok()?;
    let data = DataSectionReader::new(body(module, &sections, id::DATA)?).ok()?;
    let last = data.into_iter().last()?.ok()?;
    let script = std::str::from_utf8(last.data.get(LENGTH_BYTES..)?).ok()?;
    (join(engine, script).ok()? == module).then_some(script)
}

/// A module's magic and version.
const HEADER: usize = 8;

/// A section, with its header and without.
struct Section {
    id: u8,
    whole: Range<usize>,
    body: Range<usize>,
}

fn sections(module: &[u8]) -> Result<Vec<Section>, JoinError> {
    if !module.starts_with(b"\0asm\x01\0\0\0") {
        return Err(JoinError::Engine("it is no core module".to_owned()));
    }
    let mut reader = BinaryReader::new(module, 0);
    reader.read_bytes(HEADER)?;
    let mut sections = Vec::new();
    while !reader.eof() {
        let start = reader.original_position();
        let id = reader.read_u8()?;
        let size = reader.read_var_u32()? as usize;
        let body = reader.original_position();
        reader.read_bytes(size)?;
        sections.push(Section { id, whole: start..body + size, body: body..body + size });
    }
    Ok(sections)
}

fn body<'a>(module: &'a [u8], sections: &[Section], id: u8) -> Option<BinaryReader<'a>> {
    let section = sections.iter().find(|section| section.id == id)?;
    Some(BinaryReader::new(&module[section.body.clone()], section.body.start))
}

/// The slot's address, which the engine exports as a constant global.
fn slot(engine: &[u8], sections: &[Section]) -> Result<u32, JoinError> {
    let missing = |what: &str| JoinError::Engine(format!("it has no {what}"));
    let exports = body(engine, sections, id::EXPORT).ok_or_else(|| missing("exports"))?;
    let mut index = None;
    for export in ExportSectionReader::new(exports)? {
        let export = export?;
        if export.name == SLOT_EXPORT && export.kind == ExternalKind::Global {
            index = Some(export.index as usize);
        }
    }
    let index = index.ok_or_else(|| missing("export script_slot"))?;
    // The engine imports functions only, so a global's index is its place in the section.
    let globals = body(engine, sections, id::GLOBAL).ok_or_else(|| missing("globals"))?;
    let global = GlobalSectionReader::new(globals)?
        .into_iter()
        .nth(index)
        .ok_or_else(|| missing("such global"))??;
    let Operator::I32Const { value } = global.init_expr.get_operators_reader().read()? else {
        return Err(missing("constant script_slot"));
    };
    let slot = value.cast_unsigned();
    let memories = body(engine, sections, id::MEMORY).ok_or_else(|| missing("memory"))?;
    let memory = MemorySectionReader::new(memories)?
        .into_iter()
        .next()
        .ok_or_else(|| missing("memory"))??;
    if u64::from(slot) + (LENGTH_BYTES + MAX_SCRIPT) as u64 > memory.initial << 16 {
        return Err(missing("room for a script in its memory"));
    }
    Ok(slot)
}

/// The count that a section's body starts with, raised by one, and what follows it.
fn one_more(body: &[u8]) -> Result<(Vec<u8>, &[u8]), JoinError> {
    let mut reader = BinaryReader::new(body, 0);
    let count = reader.read_var_u32()?;
    let mut raised = Vec::new();
    leb(&mut raised, u64::from(count) + 1);
    Ok((raised, &body[reader.original_position()..]))
}

/// An active segment of memory 0: flags, `i32.const slot`, `end`, its length, its bytes.
fn segment(slot: u32, script: &str) -> Vec<u8> {
    let mut out = vec![0, 0x41];
    signed_leb(&mut out, slot.cast_signed());
    out.push(0x0b);
    leb(&mut out, (LENGTH_BYTES + script.len()) as u64);
    // MAX_SCRIPT keeps the length far below what a u32 holds.
    out.extend_from_slice(&(script.len() as u32).to_le_bytes());
    out.extend_from_slice(script.as_bytes());
    out
}

fn write_section(out: &mut Vec<u8>, id: u8, parts: &[&[u8]]) {
    out.push(id);
    leb(out, parts.iter().map(|part| part.len() as u64).sum());
    for part in parts {
        out.extend_from_slice(part);
    }
}

fn leb(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn signed_leb(out: &mut Vec<u8>, mut value: i32) {
    // The last byte's bit 6 is the sign.
    while !(-0x40..0x40).contains(&value) {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8 & 0x7f);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use sha2::{Digest, Sha256};
    use wasmparser::{Parser, Payload, Validator};

    use super::*;

    const SCRIPT: &str = "export const schema = {}; export function run() { return 'ö' }\n";

    #[test]
    fn a_script_comes_out_as_it_went_in() {
        for script in [SCRIPT, "x", &"// long\n".repeat(100_000), &"x".repeat(MAX_SCRIPT)] {
            let module = join(engine(), script).unwrap();
            assert_eq!(split(&module, engine()), Some(script));
        }
    }

    #[test]
    fn the_join_is_a_valid_module_with_the_engine_s_imports_and_exports() {
        let joined = join(engine(), SCRIPT).unwrap();
        Validator::new().validate_all(&joined).unwrap();
        let outside = |module: &[u8]| -> Vec<String> {
            Parser::new(0)
                .parse_all(module)
                .filter_map(|payload| match payload.unwrap() {
                    Payload::ImportSection(s) => Some(format!("{:?}", s.range())),
                    Payload::ExportSection(s) => Some(format!("{:?}", s.range())),
                    _ => None,
                })
                .collect()
        };
        assert_eq!(outside(&joined), outside(engine()));
        assert!(joined.len() <= engine().len() + SCRIPT.len() + 32);
    }

    #[test]
    fn a_module_that_differs_anywhere_is_not_taken_for_a_join() {
        let module = join(engine(), SCRIPT).unwrap();
        assert_eq!(split(engine(), engine()), None);
        assert_eq!(split(&module[..module.len() - 1], engine()), None);
        assert_eq!(
            split(&[&module[..], &[0, 2, 1, b'x']].concat(), engine()),
            None,
            "one more custom section"
        );
        assert_eq!(split(b"", engine()), None);
        assert_eq!(split(b"\0asm\x01\0\0\0", engine()), None);
        for at in (8..module.len() - SCRIPT.len()).step_by(module.len() / 97) {
            let mut changed = module.clone();
            changed[at] ^= 1;
            assert_eq!(split(&changed, engine()), None, "byte {at}");
        }
        let mut lying = module.clone();
        let length = module.len() - SCRIPT.len() - LENGTH_BYTES;
        lying[length] += 1;
        assert_eq!(
            split(&lying, engine()),
            None,
            "the length inside is another than the segment's"
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(join(engine(), ""), Err(JoinError::Empty));
        assert_eq!(
            join(engine(), &"x".repeat(MAX_SCRIPT + 1)),
            Err(JoinError::TooLong(MAX_SCRIPT + 1))
        );
        assert!(matches!(join(b"\0asm\x01\0\0\0", "x"), Err(JoinError::Engine(_))));
        assert!(matches!(join(b"garbage", "x"), Err(JoinError::Engine(_))));
        assert!(matches!(join(&engine()[..engine().len() / 2], "x"), Err(JoinError::Engine(_))));
    }

    #[test]
    fn numbers_are_written_as_the_format_wants_them() {
        let signed = |value| {
            let mut out = Vec::new();
            signed_leb(&mut out, value);
            BinaryReader::new(&out, 0).read_var_i32().unwrap()
        };
        for value in [0, 63, 64, 8191, 8192, 1_048_576, i32::MAX, -1, -64, -65, i32::MIN] {
            assert_eq!(signed(value), value);
        }
    }

    /// `build.sh` writes the digest of what it built from; a change of the sources without a build shows here.
    #[test]
    fn the_engine_was_built_from_the_sources_beside_it() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("js-engine");
        let mut files: Vec<String> =
            ["Cargo.toml", "Cargo.lock", "build.sh", "stack-check.h"].map(String::from).into();
        for dir in ["src", "src/shims"] {
            let entries = std::fs::read_dir(root.join(dir)).unwrap().map(Result::unwrap);
            files.extend(
                entries
                    .filter(|entry| entry.file_type().unwrap().is_file())
                    .map(|entry| format!("{dir}/{}", entry.file_name().to_str().unwrap())),
            );
        }
        files.sort();
        let mut digest = Sha256::new();
        for file in files {
            digest.update(format!(
                "{:x}  {file}\n",
                Sha256::digest(std::fs::read(root.join(&file)).unwrap())
            ));
        }
        let recorded = include_str!("../../../../assets/js-engine.wasm.src-sha256").trim();
        assert_eq!(format!("{:x}", digest.finalize()), recorded, "run runner/js-engine/build.sh");
    }
}
