//! One call of a project's tool, from a name's standing at that moment to what came of it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::tools::wasm::{Call, Grants, Loader, Outcome, Pending, Sandbox, Tool, run};
use crate::tools::{CallContext, ToolStatus};

/// What a name stands for at the moment of a call.
pub(super) enum Target {
    Ready(Arc<Tool>, Place),
    Pending(Arc<Pending>, Place),
    Broken(String),
    Unknown(String),
}

/// Where a tool is and what it may do.
pub(super) struct Place {
    pub file: String,
    pub path: PathBuf,
    pub stem: String,
    pub grants: Arc<Grants>,
}

/// Checks the arguments, gets the code and runs it.
pub(super) async fn call(
    target: Target,
    arguments: &str,
    loader: &Loader,
    sandbox: &Sandbox,
    cx: &CallContext<'_>,
) -> Outcome {
    let failed = |text: String| Outcome { status: ToolStatus::Failed, text };
    let (tool, place) = match target {
        Target::Unknown(text) | Target::Broken(text) => return failed(text),
        Target::Ready(tool, place) => (tool, place),
        Target::Pending(pending, place) => match pending.wait().await {
            Ok(tool) => (tool.clone(), place),
            Err(broken) => return failed(broken.report(&place.file)),
        },
    };
    let arguments = match tool.check(arguments) {
        Ok(arguments) => arguments,
        Err(text) => return failed(text),
    };
    let code = match tool.code().or_else(|| loader.compiled(&tool)) {
        Some(code) => code,
        None => {
            let loaded = loader.load(place.path.clone(), true).wait().await.clone();
            match loaded.map(|loaded| (loaded.hash == tool.hash, loaded.code())) {
                Ok((true, Some(code))) => code,
                Ok(_) => return failed(format!("{} has just changed; call it again", place.file)),
                Err(broken) => return failed(broken.report(&place.file)),
            }
        }
    };
    let call = Call {
        code: &code,
        stem: &place.stem,
        grants: place.grants,
        sandbox,
        arguments: &arguments,
    };
    run(call, cx).await
}
