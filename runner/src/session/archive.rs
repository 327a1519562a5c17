//! `sessions/old/`: whole transcripts, as they were when a compacted conversation took their place.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::record::Line;
use crate::project::Project;

/// The archived transcripts of the session `id`, oldest first.
pub fn archived(project: &Project, id: &str) -> Vec<PathBuf> {
    let dir = project.sessions().join("old");
    let mut files: Vec<(u64, PathBuf)> = fs::read_dir(&dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let time = path.file_stem()?.to_str()?.strip_prefix(id)?.strip_prefix('-')?;
            Some((time.parse().ok()?, path))
        })
        .collect();
    files.sort_unstable();
    files.into_iter().map(|(_, path)| path).collect()
}

/// Archives the transcript of `id` and puts one of `lines` in its place. At every moment, also that of a crash, the
/// session's file is either the old one or the new one.
pub(super) fn replace(dir: &Path, id: &str, lines: &[Line]) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    let path = dir.join(format!("{id}.jsonl"));
    let mut new = tempfile::Builder::new().prefix(id).suffix(".new").tempfile_in(dir)?;
    for line in lines {
        new.write_all(line.as_bytes())?;
    }
    new.as_file().sync_data()?;
    let kept = if path.exists() { Some(keep(dir, id, &path)?) } else { None };
    if let Err(error) = new.persist(&path) {
        // The old one lives on under its own name; a second one would only grow with it.
        let _ = kept.map(fs::remove_file);
        return Err(error.into());
    }
    // The names as well as the bytes; where a directory cannot be synced, the system does it in its time.
    let _ = File::open(dir).and_then(|dir| dir.sync_all());
    Ok(())
}

/// Gives the file at `path` a second name in `old/`, which stays when the first one gets another file.
fn keep(dir: &Path, id: &str, path: &Path) -> io::Result<PathBuf> {
    let old = dir.join("old");
    fs::create_dir_all(&old)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    for time in now.. {
        let kept = old.join(format!("{id}-{time}.jsonl"));
        match fs::hard_link(path, &kept) {
            Ok(()) => return Ok(kept),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // A file system without hard links.
            Err(_) => return fs::copy(path, &kept).map(|_| kept),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
