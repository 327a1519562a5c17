//! The host functions of `autocode:tool/host@0.1.0`, as a script sees them.

use rquickjs::{Ctx, Exception, Function, Object, Result};

use crate::abi::Answer;
use crate::text::Text;

#[link(wasm_import_module = "autocode:tool/host@0.1.0")]
unsafe extern "C" {
    #[link_name = "progress"]
    fn host_progress(ptr: *const u8, len: usize);
    #[link_name = "bash"]
    fn host_bash(ptr: *const u8, len: usize, has_timeout: u32, timeout_s: u32, out: *mut Answer);
    #[link_name = "complete"]
    fn host_complete(ptr: *const u8, len: usize, out: *mut Answer);
    #[link_name = "agent"]
    fn host_agent(ptr: *const u8, len: usize, out: *mut Answer);
    #[link_name = "call"]
    fn host_call(
        tool: *const u8,
        tool_len: usize,
        args: *const u8,
        args_len: usize,
        out: *mut Answer,
    );
    #[link_name = "state-get"]
    fn host_state_get(ptr: *const u8, len: usize, out: *mut Answer);
    #[link_name = "state-set"]
    fn host_state_set(key: *const u8, key_len: usize, value: *const u8, value_len: usize);
}

/// Native functions of `host` and `console`.
pub(crate) fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    native.set("progress", Function::new(ctx.clone(), progress)?)?;
    native.set("stderr", Function::new(ctx.clone(), |Text(line): Text| eprintln!("{line}"))?)?;
    native.set("bash", Function::new(ctx.clone(), bash)?)?;
    native.set("complete", Function::new(ctx.clone(), complete)?)?;
    native.set("agent", Function::new(ctx.clone(), agent)?)?;
    native.set("call", Function::new(ctx.clone(), call)?)?;
    native.set("stateGet", Function::new(ctx.clone(), state_get)?)?;
    native.set("stateSet", Function::new(ctx.clone(), state_set)?)?;
    Ok(native)
}

/// Lets `import` write an answer and throws where it is an error.
fn ask(ctx: &Ctx<'_>, import: impl FnOnce(*mut Answer)) -> Result<String> {
    let mut answer = Answer::blank();
    import(&raw mut answer);
    // SAFETY: the import filled it in.
    unsafe { answer.result() }.map_err(|message| Exception::throw_message(ctx, &message))
}

fn progress(Text(text): Text) {
    for line in text.split('\n') {
        // SAFETY: a string that lives through the call; so in all functions below.
        unsafe { host_progress(line.as_ptr(), line.len()) }
    }
}

fn bash(ctx: Ctx<'_>, Text(command): Text, timeout_s: Option<f64>) -> Result<String> {
    // A cast of a float saturates; a fraction of a second counts as one.
    let timeout = timeout_s.map(|t| t.ceil() as u32);
    ask(&ctx, |out| unsafe {
        host_bash(
            command.as_ptr(),
            command.len(),
            timeout.is_some().into(),
            timeout.unwrap_or(0),
            out,
        );
    })
}

fn complete(ctx: Ctx<'_>, Text(prompt): Text) -> Result<String> {
    ask(&ctx, |out| unsafe { host_complete(prompt.as_ptr(), prompt.len(), out) })
}

fn agent(ctx: Ctx<'_>, Text(task): Text) -> Result<String> {
    ask(&ctx, |out| unsafe { host_agent(task.as_ptr(), task.len(), out) })
}

fn call(ctx: Ctx<'_>, Text(tool): Text, Text(args): Text) -> Result<String> {
    ask(&ctx, |out| unsafe { host_call(tool.as_ptr(), tool.len(), args.as_ptr(), args.len(), out) })
}

fn state_get(Text(key): Text) -> Option<String> {
    let mut answer = Answer::blank();
    // SAFETY: the import fills the answer in.
    unsafe {
        host_state_get(key.as_ptr(), key.len(), &raw mut answer);
        answer.option()
    }
}

fn state_set(Text(key): Text, Text(value): Text) {
    // SAFETY: strings that live through the call.
    unsafe { host_state_set(key.as_ptr(), key.len(), value.as_ptr(), value.len()) }
}
