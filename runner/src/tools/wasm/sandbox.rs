//! What a guest sees of the machine: the project's directory, what its grants add, and nothing else.
//!
//! That a path stays inside is the work of WASI's directory handles (no `..` and no link leads out); here it is decided
//! which directories there are. A refusal is put into words afterwards, since the guest only sees an error number.

use std::path::{Component, Path, PathBuf};

use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder};

use super::grants::Grants;
use super::output::Sink;
use crate::env::Env;

/// Where the project is and what the process was started with.
#[derive(Clone, Debug)]
pub(crate) struct Sandbox {
    root: PathBuf,
    /// The same directory under its real name, when that is another.
    real: Option<PathBuf>,
    env: Env,
}

/// A directory that a guest may touch.
struct Allowed {
    path: PathBuf,
    perms: FsPerms,
}

impl Sandbox {
    /// For the project at `root`.
    pub fn new(root: &Path, env: &Env) -> Self {
        let real = root.canonicalize().ok().filter(|real| real != root);
        Self { root: root.to_owned(), real, env: env.clone() }
    }

    /// Nothing at all, for a tool that only describes itself.
    pub fn closed(stderr: Sink) -> WasiCtx {
        WasiCtxBuilder::new().stderr(stderr).build()
    }

    /// What one call sees.
    ///
    /// # Errors
    /// When the project's directory cannot be opened; one sentence.
    pub fn open(
        &self,
        cwd: &Path,
        grants: &Grants,
        stdout: Sink,
        stderr: Sink,
    ) -> Result<WasiCtx, String> {
        let allowed = self.allowed(grants);
        let mut wasi = WasiCtxBuilder::new();
        // The guest has a thread of its own: files are used from there, without a hop to another for each call.
        wasi.allow_blocking_current_thread(true);
        wasi.stdout(stdout).stderr(stderr).initial_cwd(cwd.to_string_lossy());
        wasi.env("PWD", cwd.to_string_lossy()).env("AUTOCODE_DIRS", joined(&allowed));
        for name in &grants.env {
            if let Some(value) = self.env.get(&name.0) {
                wasi.env(&name.0, value);
            }
        }
        for (place, dir) in allowed.iter().enumerate() {
            let opened = wasi.preopened_dir(&dir.path, dir.path.to_string_lossy(), dir.perms);
            match opened {
                Ok(_) => {}
                Err(error) if place == 0 => {
                    return Err(format!("cannot open {}: {error:#}", dir.path.display()));
                }
                // A granted directory that is not there now: using it fails by itself.
                Err(_) => {}
            }
        }
        // Where relative paths start, for guests that do not look at PWD.
        if let Some(dir) = allowed
            .iter()
            .filter(|dir| cwd.starts_with(&dir.path))
            .max_by_key(|dir| dir.path.as_os_str().len())
        {
            _ = wasi.preopened_dir(cwd, ".", dir.perms);
        }
        Ok(wasi.build())
    }

    /// The project first.
    fn allowed(&self, grants: &Grants) -> Vec<Allowed> {
        let project = std::iter::once(&self.root).chain(&self.real);
        let project = project.map(|path| Allowed { path: path.clone(), perms: FsPerms::ReadWrite });
        let granted = grants.fs.iter().map(|dir| Allowed {
            path: normal(&dir.path(&self.root, self.env.home.as_deref())),
            perms: if dir.write { FsPerms::ReadWrite } else { FsPerms::ReadOnly },
        });
        project.chain(granted).collect()
    }

    /// Whether a guest with these grants can touch `path`.
    pub fn allows(&self, path: &Path, grants: &Grants) -> bool {
        self.allowed(grants).iter().any(|dir| path.starts_with(&dir.path))
    }

    /// The first path in the texts that a guest with these grants cannot touch, as it would be resolved.
    pub fn outside<'a>(
        &self,
        cwd: &Path,
        grants: &Grants,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Option<PathBuf> {
        let mut candidates = texts.into_iter().filter_map(|text| {
            let path = Path::new(text);
            let leads_out =
                path.is_absolute() || path.components().any(|part| part == Component::ParentDir);
            leads_out.then(|| normal(&cwd.join(path)))
        });
        candidates.find(|path| !self.allows(path, grants))
    }
}

fn joined(allowed: &[Allowed]) -> String {
    allowed.iter().map(|dir| dir.path.to_string_lossy()).collect::<Vec<_>>().join(":")
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_path_outside_is_found_among_the_arguments() {
        let sandbox = Sandbox::new(Path::new("/p/app"), &Env::at("/p/app"));
        let grants = Grants::parse(r#"{"fs": ["/srv/data", "../lib"]}"#).unwrap();
        let outside = |text: &str| sandbox.outside(Path::new("/p/app/src"), &grants, [text]);
        assert_eq!(outside("/etc/passwd"), Some("/etc/passwd".into()));
        assert_eq!(outside("../../x"), Some("/p/x".into()));
        for inside in
            ["a.rs", "../README.md", "/p/app/x", "/srv/data/y", "../../lib/z", "no path at all"]
        {
            assert_eq!(outside(inside), None, "{inside}");
        }
    }
}
