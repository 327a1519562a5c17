//! One tool's script: a module with `export const schema` and `export function run`.

use rquickjs::{
    Context, Ctx, Error, Exception, FromJs, Function, Module, Persistent, Result, Runtime, Value,
};

use crate::text::Text;
use crate::{fault, globals, grants, modules};

/// How much stack a script may use. There are 2 MiB (`build.sh`), and the engine's own frames need some of it.
const STACK_BYTES: usize = 1152 * 1024;

/// A module that was evaluated and has what a tool needs.
pub(crate) struct Script {
    schema: String,
    run: Persistent<Function<'static>>,
    context: Context,
}

impl Script {
    /// Evaluates `source` and checks its exports.
    pub(crate) fn load(source: &str) -> std::result::Result<Self, String> {
        grants::follow_the_agent();
        let start = |e: Error| format!("the JavaScript engine does not start: {e}");
        let runtime = Runtime::new().map_err(start)?;
        runtime.set_max_stack_size(STACK_BYTES);
        runtime.set_loader(modules::Resolver, modules::Loader);
        let context = Context::full(&runtime).map_err(start)?;
        let (schema, run) = context
            .with(|ctx| evaluate(&ctx, source).map_err(|error| fault::describe(&ctx, error)))?;
        Ok(Self { schema, run, context })
    }

    /// What the script exports as `schema`, as JSON.
    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }

    /// Calls `run` with the JSON in `args` and waits for what it promises.
    pub(crate) fn run(&self, args: &str) -> std::result::Result<String, String> {
        self.context
            .with(|ctx| call(&ctx, &self.run, args).map_err(|error| fault::describe(&ctx, error)))
    }
}

fn evaluate(ctx: &Ctx<'_>, source: &str) -> Result<(String, Persistent<Function<'static>>)> {
    globals::install(ctx)?;
    let module = Module::declare(ctx.clone(), name_of(source), source)?;
    let (module, evaluated) = module.eval()?;
    settle(ctx, evaluated.into_value())?;

    let schema: Value = module.get("schema").unwrap_or_else(|_| Value::new_undefined(ctx.clone()));
    if !schema.is_object() || schema.is_function() || schema.is_array() {
        return Err(Exception::throw_type(
            ctx,
            &format!(
                "a tool needs `export const schema = {{name, description, parameters}}`; here it is {}",
                kind(&schema)
            ),
        ));
    }
    let run: Value = module.get("run").unwrap_or_else(|_| Value::new_undefined(ctx.clone()));
    let Some(run) = run.as_function() else {
        return Err(Exception::throw_type(
            ctx,
            &format!("a tool needs `export function run(args) {{ … }}`; here it is {}", kind(&run)),
        ));
    };
    Ok((as_text(ctx, schema)?, Persistent::save(ctx, run.clone())))
}

fn call<'js>(ctx: &Ctx<'js>, run: &Persistent<Function<'static>>, args: &str) -> Result<String> {
    let run = run.clone().restore(ctx)?;
    let args: Value = ctx.json_parse(if args.trim().is_empty() { "{}" } else { args })?;
    let returned: Value = run.call((args,))?;
    let value = settle(ctx, returned)?;
    as_text(ctx, value)
}

/// Waits for a promise: runs jobs, then timers, until it is settled. Any other value is returned as it is.
fn settle<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Value<'js>> {
    let Some(promise) = value.as_promise() else { return Ok(value) };
    loop {
        if let Some(settled) = promise.result() {
            return settled;
        }
        if !ctx.execute_pending_job() && !modules::wait_for_timer(ctx)? {
            return Err(Exception::throw_message(
                ctx,
                "the tool awaits a promise that nothing is left to settle (no timer, no pending job)",
            ));
        }
    }
}

/// A string as it is, nothing for `undefined`, anything else as JSON.
fn as_text<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<String> {
    if value.is_string() {
        return Ok(Text::from_js(ctx, value)?.0);
    }
    match ctx.json_stringify(value)? {
        Some(json) => Ok(Text::from_js(ctx, json.into_value())?.0),
        None => Ok(String::new()),
    }
}

fn kind(value: &Value<'_>) -> &'static str {
    if value.is_undefined() { "missing" } else { value.type_name() }
}

/// The file that a script says it comes from in a last line `//# sourceURL=…`, for the lines of a stack.
fn name_of(source: &str) -> &str {
    let last = source.trim_end().lines().next_back().unwrap_or_default();
    match last.trim().strip_prefix("//# sourceURL=").map(str::trim) {
        Some(name) if !name.is_empty() && !name.contains('\0') => name,
        _ => "tool.js",
    }
}
