//! `--demo`: the real loop, real commands and a real tool, with a scripted model in a temporary project.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::agent::Parts;
use crate::config::{Live, Overrides};
use crate::env::Env;
use crate::exit::Exit;
use crate::model::ScriptedModel;
use crate::project::Project;
use crate::session::{Loaded, Session};
use crate::start;

/// The model's words.
const SCRIPT: &str = include_str!("../../assets/demo/script.json");

/// What the person asks.
const TASK: &str = include_str!("../../assets/demo/task.txt");

/// The project it works in: name and content.
const FILES: [(&str, &str); 4] = [
    ("README.md", include_str!("../../assets/demo/project/README.md")),
    ("shop/cart.py", include_str!("../../assets/demo/project/shop/cart.py")),
    ("shop/prices.py", include_str!("../../assets/demo/project/shop/prices.py")),
    ("tests/test_cart.py", include_str!("../../assets/demo/project/tests/test_cart.py")),
];

/// Between two pieces of a reply, so that a person can read along.
const PACE: Duration = Duration::from_millis(12);

/// Runs the demo and leaves its project for a look.
///
/// # Errors
/// When the temporary project cannot be written.
pub fn run(env: &Env) -> Result<Exit> {
    let dir = tempfile::Builder::new()
        .prefix("autocode-demo-")
        .tempdir()
        .context("the demo needs a temporary directory")?
        .keep();
    for (name, text) in FILES {
        let path = dir.join(name);
        write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let watched = io::stdout().is_terminal();
    say(&format!(
        "This is a demo: the model's words are scripted. The commands, the files, the\n\
         tool it builds and what it gives are real. They are in\n{}\n\n> {}\n",
        dir.display(),
        TASK.trim_end()
    ));

    let project = Project::at(&dir);
    project.scaffold();
    // The user's own settings have no part in it.
    let env = env.clone().without("AUTOCODE_").started_in(&dir);
    let mut overrides = Overrides::default();
    overrides.set("model", "scripted".into())?;
    let (live, _) = Live::start(project.clone(), env.clone(), overrides, true)?;
    let model = ScriptedModel::from_json(SCRIPT)?;
    let model = if watched { model.with_pace(PACE) } else { model };
    let session = Session::create(&project, env.local_time());
    let parts = Parts {
        project,
        env: env.clone(),
        live,
        model: Rc::new(model),
        session,
        loaded: Loaded::default(),
        max_steps: None,
    };
    let exit = start::run_once(parts, TASK.trim_end().to_owned(), false, &env)?;
    say(&format!(
        "\nThe project stays, with .autocode/tools/ and .autocode/sessions/ in it:\n{}",
        dir.display()
    ));
    Ok(exit)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, text)
}

/// Beside the answer, which is alone on standard output.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
