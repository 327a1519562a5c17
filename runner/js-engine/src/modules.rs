//! What a script may import: `fs`, `path` and `host`, also under Node's names. Everything else is refused with a list.
//!
//! Each built-in is written in JavaScript (`shims/`) over a few native functions, and evaluated when it is first used,
//! so that a tool pays only for what it touches.

use std::cell::RefCell;

use rquickjs::context::EvalOptions;
use rquickjs::loader::{self, ImportAttributes};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Exception, Function, JsLifetime, Module, Object, Result};

use crate::{fs, globals, host};

/// How the file names of built-ins begin; their lines are left out of stacks.
pub(crate) const ORIGIN: &str = "builtin:";

/// A built-in: its name and its source, an expression `(native) => ({…})`.
type Shim = (&'static str, &'static str);

const SHIMS: &[Shim] = &[
    ("clone", include_str!("shims/clone.js")),
    ("console", include_str!("shims/console.js")),
    ("fetch", include_str!("shims/fetch.js")),
    ("fs", include_str!("shims/fs.js")),
    ("host", include_str!("shims/host.js")),
    ("path", include_str!("shims/path.js")),
    ("text", include_str!("shims/text.js")),
    ("timers", include_str!("shims/timers.js")),
    ("url", include_str!("shims/url.js")),
];

/// The built-ins that were used so far.
struct Used<'js>(RefCell<Vec<(&'static str, Object<'js>)>>);

// SAFETY: the only lifetime in it is the runtime's.
unsafe impl<'js> JsLifetime<'js> for Used<'js> {
    type Changed<'to> = Used<'to>;
}

/// Makes room for built-ins in a new context.
pub(crate) fn prepare(ctx: &Ctx<'_>) {
    let _ = ctx.store_userdata(Used(RefCell::default()));
}

fn used<'js>(ctx: &Ctx<'js>, name: &str) -> Option<Object<'js>> {
    let used = ctx.userdata::<Used<'js>>()?;
    let found = used.0.borrow().iter().find(|(n, _)| *n == name).map(|(_, object)| object.clone());
    found
}

/// The object of a built-in, evaluated when it is first asked for.
pub(crate) fn builtin<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
    if let Some(object) = used(ctx, name) {
        return Ok(object);
    }
    let Some(&(name, source)) = SHIMS.iter().find(|(n, _)| *n == name) else {
        return Err(Exception::throw_message(ctx, &format!("no built-in module {name}")));
    };
    let mut options = EvalOptions::default();
    options.filename = Some(format!("{ORIGIN}{name}"));
    let make: Function = ctx.eval_with_options(source, options)?;
    let native = match name {
        "fs" => fs::natives(ctx)?,
        "host" | "console" => host::natives(ctx)?,
        _ => globals::natives(ctx)?,
    };
    let object: Object = make.call((native,))?;
    if let Some(used) = ctx.userdata::<Used<'js>>() {
        used.0.borrow_mut().push((name, object.clone()));
    }
    Ok(object)
}

/// Sleeps until the next timer is due and fires it; false when no timer is set.
pub(crate) fn wait_for_timer(ctx: &Ctx<'_>) -> Result<bool> {
    match used(ctx, "timers") {
        Some(timers) => timers.get::<_, Function>("turn")?.call(()),
        None => Ok(false),
    }
}

/// Names what can be imported.
pub(crate) struct Resolver;

impl loader::Resolver for Resolver {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        _base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        match name.strip_prefix("node:").unwrap_or(name) {
            known @ ("fs" | "fs/promises" | "path" | "host") => Ok(format!("{ORIGIN}{known}")),
            _ => Err(Exception::throw_reference(
                ctx,
                &format!(
                    "cannot import '{name}': a JavaScript tool is one file and has the modules fs, path and host"
                ),
            )),
        }
    }
}

/// Gives built-ins as modules.
pub(crate) struct Loader;

impl loader::Loader for Loader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let path = name.strip_prefix(ORIGIN).unwrap_or(name);
        let (global, expression) = match path {
            "fs/promises" => ("fs", "fs.promises"),
            other => (other, other),
        };
        let mut object = builtin(ctx, global)?;
        if path == "fs/promises" {
            object = object.get("promises")?;
        }
        let names: Vec<String> = object.keys().collect::<Result<_>>()?;
        let source = format!(
            "const m = {expression}; export default m; export const {{ {} }} = m;",
            names.join(", ")
        );
        Module::declare(ctx.clone(), name, source)
    }
}
