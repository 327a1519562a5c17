//! The JSON Schema of a tool's arguments, as short as it can be: it is part of every request.
//!
//! Everything is inlined, and what `schemars` adds for other readers than a model (titles, number formats, `null` as a
//! second type of what may be left out) is taken away.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The schema of `T`, an object.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(root) = &mut schema {
        root.remove("title");
        // The struct's own doc comment, which is the tool's description already.
        root.remove("description");
        root.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    shorten(&mut schema);
    schema
}

fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            drop_noise(map);
            drop_null(map);
            merge_variants(map);
            for (key, value) in map.iter_mut() {
                // Names in `properties` are the author's, not keywords.
                if key == "properties" {
                    value.as_object_mut().into_iter().flat_map(Map::values_mut).for_each(shorten);
                } else if !matches!(key.as_str(), "default" | "const" | "enum" | "examples") {
                    shorten(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        _ => {}
    }
}

fn drop_noise(map: &mut Map<String, Value>) {
    let numeric = matches!(map.get("type"), Some(Value::String(kind)) if kind == "integer" || kind == "number")
        || matches!(map.get("type"), Some(Value::Array(kinds)) if kinds.iter().any(|k| k == "integer" || k == "number"));
    if numeric {
        map.remove("format");
    }
    if map.get("default") == Some(&Value::Null) {
        map.remove("default");
    }
}

/// `["string", "null"]` → `"string"`, `anyOf: [X, null]` → `X`: what is optional is left out, not null.
fn drop_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(kinds)) = map.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            map.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(choices)) = map.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(only)] = choices.as_mut_slice() {
            let only = std::mem::take(only);
            map.remove("anyOf");
            for (key, value) in only {
                map.entry(key).or_insert(value);
            }
        }
    }
}

/// Variants without fields, each with its own description → one `enum` and one description.
fn merge_variants(map: &mut Map<String, Value>) {
    let Some(Value::Array(variants)) = map.get("oneOf") else { return };
    let mut values = Vec::new();
    let mut lines = Vec::new();
    for variant in variants {
        let text = variant.get("description").and_then(Value::as_str);
        let found = match (variant.get("const"), variant.get("enum").and_then(Value::as_array)) {
            (Some(value @ Value::String(_)), _) => std::slice::from_ref(value),
            (None, Some(all)) if all.iter().all(Value::is_string) => all.as_slice(),
            _ => return,
        };
        if let (Some(text), [Value::String(name)]) = (text, found) {
            lines.push(format!("{name}: {text}"));
        }
        values.extend(found.iter().cloned());
    }
    map.remove("oneOf");
    map.insert("type".into(), "string".into());
    map.insert("enum".into(), Value::Array(values));
    if !lines.is_empty() {
        let own = map.get("description").and_then(Value::as_str);
        let text = own.into_iter().map(str::to_owned).chain(lines).collect::<Vec<_>>().join("\n");
        map.insert("description".into(), text.into());
    }
}
