//! `.autocode/prev/TIME/`: whatever a reload or a reset replaces is kept there, so that nothing is lost by either.

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::Project;
use crate::env::Env;
use crate::files;

/// One directory for what is replaced together.
#[derive(Debug)]
pub struct Keep {
    dir: PathBuf,
}

impl Keep {
    /// A fresh directory, named by the time.
    ///
    /// # Errors
    /// When `.autocode/prev` cannot be written or is a link.
    pub fn new(project: &Project, env: &Env) -> io::Result<Self> {
        let prev = project.prev();
        if files::is_link(&prev) {
            return Err(io::Error::other("is a link"));
        }
        std::fs::create_dir_all(&prev)?;
        let time = env.local_time().strftime("%Y%m%d-%H%M%S").to_string();
        for count in 1..1000 {
            let dir = prev.join(if count == 1 { time.clone() } else { format!("{time}-{count}") });
            match std::fs::DirBuilder::new().mode(0o700).create(&dir) {
                Ok(()) => return Ok(Self { dir }),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::Error::other("is full"))
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Keeps a text under `name`, which may have a directory in it.
    ///
    /// # Errors
    /// What the system says.
    pub fn text(&self, name: &str, text: &str) -> io::Result<()> {
        files::write_whole(&self.dir.join(name), text, 0o600)
    }

    /// Moves what is at `path`, whatever it is, to `name` in here.
    ///
    /// # Errors
    /// What the system says.
    pub fn moved(&self, path: &Path, name: &str) -> io::Result<()> {
        let target = self.dir.join(name);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::rename(path, target)
    }
}
