//! What a script finds without importing it, beyond the language itself.

use rquickjs::object::Accessor;
use rquickjs::{Ctx, Function, Object, Result, TypedArray, Value};

use crate::modules;
use crate::text::{self, Text};

/// A global's name, the built-in it comes from, and whether it is that built-in itself rather than one of its members.
const LAZY: &[(&str, &str, bool)] = &[
    ("console", "console", true),
    ("fs", "fs", true),
    ("host", "host", true),
    ("path", "path", true),
    ("fetch", "fetch", false),
    ("structuredClone", "clone", false),
    ("TextDecoder", "text", false),
    ("TextEncoder", "text", false),
    ("clearInterval", "timers", false),
    ("clearTimeout", "timers", false),
    ("setInterval", "timers", false),
    ("setTimeout", "timers", false),
    ("URL", "url", false),
    ("URLSearchParams", "url", false),
];

/// Defines the globals. Each turns from a getter into its value when it is first read.
pub(crate) fn install<'js>(ctx: &Ctx<'js>) -> Result<()> {
    modules::prepare(ctx);
    let globals = ctx.globals();
    for &(name, builtin, whole) in LAZY {
        let get = move |ctx: Ctx<'js>| lazy(ctx, name, builtin, whole);
        globals.prop(name, Accessor::new_get(get).configurable())?;
    }
    Ok(())
}

fn lazy<'js>(ctx: Ctx<'js>, name: &str, builtin: &str, whole: bool) -> Result<Value<'js>> {
    let object = modules::builtin(&ctx, builtin)?;
    let value = if whole { object.into_value() } else { object.get(name)? };
    let property = rquickjs::object::Property::from(value.clone()).writable().configurable();
    ctx.globals().prop(name, property)?;
    Ok(value)
}

/// Native functions of the small built-ins.
pub(crate) fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    native.set("sleep", Function::new(ctx.clone(), sleep)?)?;
    native.set("encode", Function::new(ctx.clone(), encode)?)?;
    native.set("decode", Function::new(ctx.clone(), decode)?)?;
    Ok(native)
}

fn sleep(milliseconds: f64) {
    if milliseconds > 0.0
        && let Ok(time) = std::time::Duration::try_from_secs_f64(milliseconds / 1000.0)
    {
        std::thread::sleep(time);
    }
}

fn encode(ctx: Ctx<'_>, text: Text) -> Result<TypedArray<'_, u8>> {
    TypedArray::new(ctx, text.0)
}

/// UTF-8 bytes as text; with `fatal`, null where they are not UTF-8.
fn decode(bytes: TypedArray<'_, u8>, fatal: bool) -> Option<String> {
    match String::from_utf8(text::bytes(&bytes)) {
        Ok(text) => Some(text),
        Err(_) if fatal => None,
        Err(e) => Some(String::from_utf8_lossy(e.as_bytes()).into_owned()),
    }
}
