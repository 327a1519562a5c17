//! Words for a path that the tool may not touch. What keeps it inside is the sandbox, not this.
//!
//! The host says in `PWD` where the agent works, and in `AUTOCODE_DIRS` (colons between) what the tool may touch.

use std::path::{Component, Path, PathBuf};

/// Relative paths start where the agent works.
pub(crate) fn follow_the_agent() {
    if let Some(dir) = std::env::var_os("PWD") {
        // Where the tool may not go there, its relative paths fail one by one, each with its own message.
        let _ = std::env::set_current_dir(dir);
    }
}

/// Why `path` is out of reach, if it is; nothing when the host doesn't say what is in reach.
pub(crate) fn outside(path: &str) -> Option<String> {
    let Ok(dirs) = std::env::var("AUTOCODE_DIRS") else {
        let described = std::env::var_os("PWD").is_none();
        return described.then(|| {
            "no directory is open to the tool (none is while its schema is read)".to_owned()
        });
    };
    let cwd = std::env::var_os("PWD").unwrap_or_else(|| "/".into());
    let path = normal(&Path::new(&cwd).join(path));
    let inside = dirs.split(':').any(|dir| !dir.is_empty() && path.starts_with(dir));
    let path = path.display();
    (!inside).then(|| {
        format!("{path} is outside of the project; the grant \"fs\": [\"{path}\"] would allow it")
    })
}

/// `path` without `.` and `..`, by its text alone.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = out.pop(),
            other => out.push(other),
        }
    }
    out
}
