//! May this project's `.autocode/` be obeyed?
//!
//! A clone must not be able to point `base_url` at a stranger and collect the user's key, so nothing in `.autocode/`
//! counts until the person has seen it. What is written here afterwards (by the person, by the agent) counts; what git
//! brings later is shown again first. In doubt the answer is no.

mod ask;
mod snapshot;
mod store;

use std::io;
use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::files;
use crate::git::Repository;
use crate::project::Project;
pub use ask::{Asked, Item};
use snapshot::{Snapshot, is_shipped};
use store::{Entry, Identity, Store};
pub use store::{Origin, Trusted};

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// There is nothing that could be obeyed, or only what autocode itself ships.
    Nothing,
    /// Obey it.
    Trusted,
    /// Nobody has been asked yet.
    Untrusted(Asked),
    /// It was trusted, then other files came. Holds these only.
    Changed(Asked),
    /// `.autocode/` or a directory in it is a link out of the project: it is neither read nor written, whatever the
    /// person says. One sentence.
    Outside(String),
}

/// Answers for `project`. Where nothing changed this costs a few stats and one small read.
pub fn assess(project: &Project, env: &Env) -> Trust {
    if !project.home().exists() && !files::is_link(&project.home()) {
        return Trust::Nothing;
    }
    if let Some(sentence) = outside(project) {
        return Trust::Outside(sentence);
    }
    let store = Store::read(env);
    let Some(entry) = store.entry(project.root()) else {
        let now = Snapshot::of(project, None);
        return if now.is_pristine(project) {
            Trust::Nothing
        } else {
            Trust::Untrusted(Asked::all(project, &now))
        };
    };
    let repository = Repository::around(project.root());
    if vouches(&entry, &repository, project) {
        return Trust::Trusted;
    }
    let before = entry.files();
    let now = Snapshot::of(project, Some(&before));
    let mut changed = now.differences(&before);
    changed.retain(|name| !is_shipped(project, name));
    if changed.is_empty() {
        // The next start is spared the comparison.
        let _ = entry
            .renewed(&now, repository.mark(), Identity::of(project))
            .and_then(|entry| store::put(env, project.root(), &entry));
        return Trust::Trusted;
    }
    Trust::Changed(Asked::some(project, &now, &changed))
}

/// Whether any change since can only have been made here.
fn vouches(entry: &Entry, repository: &Repository, project: &Project) -> bool {
    if entry.identity != Identity::of(project) {
        return false;
    }
    if repository.exists() {
        !repository.moved_since(&entry.git)
    } else {
        entry.origin == Origin::Here
    }
}

/// Records that the project is to be obeyed as it is now.
///
/// # Errors
/// When `trusted.json` cannot be written, or the project leads out of itself.
pub fn grant(project: &Project, env: &Env, origin: Origin) -> io::Result<()> {
    if let Some(sentence) = outside(project) {
        return Err(io::Error::other(sentence));
    }
    // What is known of the project's own state stays known.
    if project.is_kept_elsewhere() {
        return Ok(());
    }
    let git = Repository::around(project.root()).mark();
    let files = Snapshot::of(project, None);
    let entry = Entry::new(env, origin, git, Identity::of(project), &files)?;
    store::put(env, project.root(), &entry)
}

/// Records the present state of a trusted project: to be called when the session itself changed something that is
/// obeyed. Does nothing for other projects, nor where git brought files that nobody has looked at.
///
/// # Errors
/// When `trusted.json` cannot be written.
pub fn refresh(project: &Project, env: &Env) -> io::Result<()> {
    if project.is_kept_elsewhere() {
        return Ok(());
    }
    let Some(entry) = Store::read(env).entry(project.root()) else { return Ok(()) };
    let before = entry.files();
    let now = Snapshot::of(project, Some(&before));
    let brought = || Repository::around(project.root()).moved_since(&entry.git);
    if now == before || entry.identity != Identity::of(project) || brought() {
        return Ok(());
    }
    store::put(env, project.root(), &entry.with_files(&now)?)
}

/// Forgets a project; whether it was known.
///
/// # Errors
/// When `trusted.json` cannot be written.
pub fn revoke(root: &Path, env: &Env) -> io::Result<bool> {
    store::remove(env, root)
}

/// Why the record of trusted projects cannot be used, if that is so. One sentence.
pub fn broken_record(env: &Env) -> Option<String> {
    store::problem(env)
}

/// All trusted projects.
pub fn list(env: &Env) -> Vec<Trusted> {
    Store::read(env).list()
}

/// `project`, its state kept elsewhere where its own may not even be touched.
pub fn touchable(project: Project, env: &Env) -> Project {
    match outside(&project) {
        Some(_) => {
            let _ = std::fs::create_dir_all(&env.cache_dir);
            project.kept_at(env.cache_dir.join("untouchable"))
        }
        None => project,
    }
}

/// A sentence if `.autocode/`, or a directory in it that is read or written, is not below the project.
pub fn outside(project: &Project) -> Option<String> {
    let dirs = [
        project.home(),
        project.tools(),
        project.sources(),
        project.sessions(),
        project.out(),
        project.prev(),
    ];
    let link =
        dirs.into_iter().find(|dir| files::is_link(dir) && !stays_inside(project.root(), dir))?;
    let place = project.short(&link).to_string();
    Some(match link.canonicalize() {
        Ok(target) => format!(
            "{place} is a link out of the project, to {}; nothing in it is read or written",
            target.display()
        ),
        Err(_) => format!("{place} is a link that leads nowhere; nothing in it is read or written"),
    })
}

fn stays_inside(root: &Path, link: &Path) -> bool {
    let real = |path: &Path| -> Option<PathBuf> { path.canonicalize().ok() };
    matches!((real(root), real(link)), (Some(root), Some(target)) if target.starts_with(&root) && target != root)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
