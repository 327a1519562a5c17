//! Compiled code, its imports met and its exports checked: ready to be instantiated.

use std::path::Path;

use wasmtime::component::types::{ComponentFunc, ComponentItem, Type};
use wasmtime::component::{Component, InstancePre};

use super::broken::{Broken, Phase};
use super::engine::Runtime;
use super::host::State;
use super::lift::other_contract;

/// Code from a file of our own cache; `None` when it does not fit this engine after all.
#[allow(unsafe_code)]
pub(crate) fn deserialize(runtime: &Runtime, path: &Path) -> Option<Component> {
    // SAFETY: the cache gives out only files that `keep_code` put, whole, into a directory that is ours alone; they hold
    // what our own compiler wrote, and are replaced by rename or unlinked, never changed.
    unsafe { Component::deserialize_file(&runtime.engine, path) }.ok()
}

/// Meets the imports and checks the exports.
pub(crate) fn link(runtime: &Runtime, component: &Component) -> Result<InstancePre<State>, Broken> {
    let engine = &runtime.engine;
    let ty = component.component_type();
    let exports = || ty.exports(engine).map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
    if let Some(other) = other_contract(ty.imports(engine).map(|(name, _)| name)) {
        return Err(other);
    }
    let pre = runtime.linker.instantiate_pre(component).map_err(|error| {
        let known = |name: &str| {
            (name.starts_with("wasi:") && name.contains("@0.2."))
                || name.starts_with("autocode:tool/host@0.1.")
        };
        let missing = ty
            .imports(engine)
            .map(|(name, _)| name.to_owned())
            .filter(|name| !known(name))
            .collect();
        Broken::new(Phase::Link, format!("{error:#}"))
            .missing(missing)
            .hint("a tool may import WASI 0.2 and autocode:tool/host@0.1.0, nothing else")
    })?;
    for (name, wanted) in
        [("schema", "func() -> string"), ("run", "func(args: string) -> result<string, string>")]
    {
        let found = ty.exports(engine).find(|(export, _)| *export == name).map(|(_, item)| item.ty);
        let cause = match found {
            Some(ComponentItem::ComponentFunc(func)) if fits(name, &func) => continue,
            Some(_) => format!("the export `{name}` has another type than `{wanted}`"),
            None => format!("the component does not export `{name}: {wanted}`"),
        };
        return Err(Broken::new(Phase::Link, cause)
            .exports(exports())
            .hint("the world is `tool` in autocode:tool@0.1.0; both functions are exports of the world itself"));
    }
    Ok(pre)
}

fn fits(name: &str, func: &ComponentFunc) -> bool {
    let params: Vec<Type> = func.params().map(|(_, ty)| ty).collect();
    let results: Vec<Type> = func.results().collect();
    match (name, params.as_slice(), results.as_slice()) {
        ("schema", [], [Type::String]) => true,
        ("run", [Type::String], [Type::Result(result)]) => {
            result.ok() == Some(Type::String) && result.err() == Some(Type::String)
        }
        _ => false,
    }
}
