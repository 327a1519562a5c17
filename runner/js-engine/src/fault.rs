//! Exceptions as text for the model: what was thrown, and where in the user's script.

use rquickjs::{Ctx, Error, FromJs, Object, Value};

use crate::modules;
use crate::text::Text;

/// How many `cause`s of an error are told.
const MAX_CAUSES: usize = 3;

/// `error` as text; takes the pending exception from the context.
pub(crate) fn describe(ctx: &Ctx<'_>, error: Error) -> String {
    if matches!(error, Error::Exception) {
        describe_value(ctx, ctx.catch())
    } else {
        error.to_string()
    }
}

/// A thrown value as text.
pub(crate) fn describe_value<'js>(ctx: &Ctx<'js>, mut thrown: Value<'js>) -> String {
    let mut out = String::new();
    for depth in 0..=MAX_CAUSES {
        if depth > 0 {
            out.push_str("\ncaused by: ");
        }
        let Some(error) = thrown.as_object().filter(|o| o.is_error()) else {
            out.push_str(&plain(ctx, thrown));
            return out;
        };
        out.push_str(&headline(error));
        for frame in frames(error) {
            out.push_str("\n    ");
            out.push_str(&frame);
        }
        match error.get::<_, Value>("cause") {
            Ok(cause) if !cause.is_undefined() => thrown = cause,
            _ => break,
        }
    }
    out
}

/// `TypeError: not a function`.
fn headline(error: &Object<'_>) -> String {
    let name = field(error, "name");
    let message = field(error, "message");
    match (name.as_str(), message.as_str()) {
        ("", "") => "Error".to_owned(),
        (one, "") | ("", one) => one.to_owned(),
        _ => format!("{name}: {message}"),
    }
}

/// The stack's lines that lie in the script; QuickJS's own functions and the built-in modules say nothing to its author.
fn frames(error: &Object<'_>) -> Vec<String> {
    let ours = |line: &&str| !line.contains("(native)") && !line.contains(modules::ORIGIN);
    field(error, "stack")
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .filter(ours)
        .map(str::to_owned)
        .collect()
}

/// What is not an `Error`: a string as it is, anything else as JSON where it has one.
fn plain<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> String {
    if value.is_object()
        && let Ok(Some(json)) = ctx.json_stringify(value.clone())
        && let Ok(Text(json)) = Text::from_js(ctx, json.into_value())
    {
        return json;
    }
    Text::from_js(ctx, value)
        .map_or_else(|_| "an unprintable value was thrown".to_owned(), |Text(text)| text)
}

fn field(error: &Object<'_>, name: &str) -> String {
    match error.get::<_, Value>(name) {
        Ok(value) if !value.is_undefined() => {
            Text::from_js(error.ctx(), value).map_or_else(|_| String::new(), |t| t.0)
        }
        _ => String::new(),
    }
}
