//! Files, through the host's WASI: only what the tool's grants open exists here.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

use rquickjs::{
    Array, Coerced, Ctx, Exception, FromJs, Function, IntoJs, Object, Result, TypedArray, Value,
};

use crate::grants;
use crate::text::{self, Text};

/// Native functions of `fs`; `shims/fs.js` makes the module of them.
pub(crate) fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    native.set("readText", Function::new(ctx.clone(), read_text)?)?;
    native.set("readBytes", Function::new(ctx.clone(), read_bytes)?)?;
    native.set("write", Function::new(ctx.clone(), write)?)?;
    native.set("list", Function::new(ctx.clone(), list)?)?;
    native.set("stat", Function::new(ctx.clone(), stat)?)?;
    native.set("mkdir", Function::new(ctx.clone(), mkdir)?)?;
    native.set("remove", Function::new(ctx.clone(), remove)?)?;
    native.set("rename", Function::new(ctx.clone(), rename)?)?;
    Ok(native)
}

fn read_text(ctx: Ctx<'_>, Text(path): Text) -> Result<String> {
    let bytes = fs::read(&path).map_err(|e| throw(&ctx, "read", &path, &e))?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

fn read_bytes(ctx: Ctx<'_>, Text(path): Text) -> Result<TypedArray<'_, u8>> {
    let bytes = fs::read(&path).map_err(|e| throw(&ctx, "read", &path, &e))?;
    TypedArray::new(ctx, bytes)
}

/// Writes text or bytes over the file, or after its end.
fn write<'js>(ctx: Ctx<'js>, Text(path): Text, data: Value<'js>, append: bool) -> Result<()> {
    let bytes = match data.as_object().and_then(|o| o.as_typed_array::<u8>()) {
        Some(array) => text::bytes(array),
        None => Text::from_js(&ctx, data)?.0.into_bytes(),
    };
    let mut options = OpenOptions::new();
    options.create(true).write(true).append(append).truncate(!append);
    options
        .open(&path)
        .and_then(|mut file| file.write_all(&bytes))
        .map_err(|e| throw(&ctx, "write", &path, &e))
}

/// `[name, kind]` of everything in a directory, sorted by name.
fn list<'js>(ctx: Ctx<'js>, Text(path): Text) -> Result<Vec<Array<'js>>> {
    let read = || -> io::Result<Vec<(String, &'static str)>> {
        fs::read_dir(&path)?
            .map(|entry| {
                let entry = entry?;
                Ok((entry.file_name().to_string_lossy().into_owned(), kind(entry.file_type()?)))
            })
            .collect()
    };
    let mut entries = read().map_err(|e| throw(&ctx, "list", &path, &e))?;
    entries.sort();
    entries
        .into_iter()
        .map(|(name, kind)| {
            let pair = Array::new(ctx.clone())?;
            pair.set(0, name)?;
            pair.set(1, kind)?;
            Ok(pair)
        })
        .collect()
}

/// `[kind, size, mtime in ms]`, or null where nothing is there.
fn stat<'js>(ctx: Ctx<'js>, Text(path): Text) -> Result<Value<'js>> {
    let meta = match fs::metadata(&path).or_else(|_| fs::symlink_metadata(&path)) {
        Ok(meta) => meta,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Value::new_null(ctx));
        }
        Err(e) => return Err(throw(&ctx, "stat", &path, &e)),
    };
    let mtime = meta.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
    let found = Array::new(ctx.clone())?;
    found.set(0, kind(meta.file_type()))?;
    found.set(1, meta.len() as f64)?;
    found.set(2, mtime.map_or(0.0, |t| t.as_secs_f64() * 1000.0))?;
    found.into_js(&ctx)
}

fn mkdir(ctx: Ctx<'_>, Text(path): Text, parents: Coerced<bool>) -> Result<()> {
    let made = if parents.0 { fs::create_dir_all(&path) } else { fs::create_dir(&path) };
    made.map_err(|e| throw(&ctx, "mkdir", &path, &e))
}

/// Removes a file, an empty directory, or with `all` a directory and what is in it. A link goes, its target stays.
fn remove(ctx: Ctx<'_>, Text(path): Text, all: Coerced<bool>) -> Result<()> {
    let removed = fs::symlink_metadata(&path).and_then(|meta| match (meta.is_dir(), all.0) {
        (false, _) => fs::remove_file(&path),
        (true, false) => fs::remove_dir(&path),
        (true, true) => fs::remove_dir_all(&path),
    });
    removed.map_err(|e| throw(&ctx, "remove", &path, &e))
}

fn rename(ctx: Ctx<'_>, Text(from): Text, Text(to): Text) -> Result<()> {
    fs::rename(Path::new(&from), Path::new(&to)).map_err(|e| throw(&ctx, "rename", &from, &e))
}

fn kind(file: fs::FileType) -> &'static str {
    if file.is_dir() {
        "dir"
    } else if file.is_symlink() {
        "link"
    } else {
        "file"
    }
}

/// An `Error` with a `code` as Node names it, so that `e.code === "ENOENT"` works.
fn throw(ctx: &Ctx<'_>, action: &str, path: &str, error: &io::Error) -> rquickjs::Error {
    let (code, reason) = explain(path, error);
    let made = Exception::from_message(
        ctx.clone(),
        &format!("{code}: cannot {action} '{path}': {reason}"),
    );
    match made.and_then(|e| e.as_object().set("code", code).map(|()| e)) {
        Ok(exception) => exception.throw(),
        Err(error) => error,
    }
}

/// WASI's error numbers don't tell a file that isn't there from one the tool may not see; the paths do.
fn explain(path: &str, error: &io::Error) -> (&'static str, String) {
    if let Some(outside) = grants::outside(path) {
        return ("EACCES", outside);
    }
    match error.kind() {
        ErrorKind::NotFound => ("ENOENT", "no such file or directory".to_owned()),
        ErrorKind::PermissionDenied => ("EACCES", "permission denied".to_owned()),
        ErrorKind::AlreadyExists => ("EEXIST", "it exists already".to_owned()),
        ErrorKind::NotADirectory => ("ENOTDIR", "not a directory".to_owned()),
        ErrorKind::IsADirectory => ("EISDIR", "it is a directory".to_owned()),
        ErrorKind::DirectoryNotEmpty => ("ENOTEMPTY", "directory not empty".to_owned()),
        ErrorKind::InvalidInput => ("EINVAL", error.to_string()),
        _ => ("EIO", error.to_string()),
    }
}
