//! `.autocode/out/`: the whole text of output that was too long for the model.
//!
//! Bounded in files and bytes; the oldest go first. Only files that carry a name given here are ever removed, and
//! nothing is written or removed through a symlink in the directory's place.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const MOST_FILES: usize = 200;
const MOST_BYTES: u64 = 500 << 20;

/// The directory; made when the first file is.
#[derive(Clone, Debug)]
pub struct OutDir {
    path: PathBuf,
}

impl OutDir {
    /// The directory at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Keeps `output` whole and returns where.
    ///
    /// # Errors
    /// When the directory or the file cannot be written.
    pub fn keep(&self, output: &[u8]) -> io::Result<PathBuf> {
        let (mut file, path) = self.create()?;
        file.write_all(output).inspect_err(|_| drop(fs::remove_file(&path)))?;
        Ok(path)
    }

    /// A new, empty file; older ones make room for it.
    pub(crate) fn create(&self) -> io::Result<(File, PathBuf)> {
        fs::create_dir_all(&self.path)?;
        if fs::symlink_metadata(&self.path)?.is_symlink() {
            return Err(io::Error::other(format!("{} is a symlink", self.path.display())));
        }
        self.prune();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        for stamp in now.as_micros().. {
            let path = self.path.join(format!("{stamp}.txt"));
            match File::create_new(&path) {
                Ok(file) => return Ok((file, path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Removes the oldest files until one more has room.
    fn prune(&self) {
        let mut files = self.files();
        files.sort_unstable_by_key(|file| Reverse(file.stamp));
        let mut bytes = 0;
        for (newer, file) in files.into_iter().enumerate() {
            bytes += file.bytes;
            if newer + 1 >= MOST_FILES || bytes > MOST_BYTES {
                let _ = fs::remove_file(self.path.join(format!("{}.txt", file.stamp)));
            }
        }
    }

    fn files(&self) -> Vec<Kept> {
        let entries = fs::read_dir(&self.path).into_iter().flatten();
        entries.filter_map(|entry| Kept::of(&entry.ok()?)).collect()
    }
}

/// A file written here; its name is the microsecond it was made.
struct Kept {
    stamp: u128,
    bytes: u64,
}

impl Kept {
    fn of(entry: &fs::DirEntry) -> Option<Self> {
        let name = entry.file_name();
        let stamp = Path::new(&name).file_stem()?.to_str()?;
        let ours = stamp.bytes().all(|b| b.is_ascii_digit()) && name.to_str()?.ends_with(".txt");
        let meta = entry.metadata().ok()?;
        let stamp = stamp.parse().ok().filter(|_| ours && meta.is_file())?;
        Some(Self { stamp, bytes: meta.len() })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn every_text_has_a_file_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let out = OutDir::new(dir.path().join("a/out"));
        let (one, two) = (out.keep(b"one").unwrap(), out.keep(b"two").unwrap());
        assert_eq!(fs::read_to_string(one).unwrap(), "one");
        assert_eq!(fs::read_to_string(two).unwrap(), "two");
    }

    #[test]
    fn the_oldest_files_make_room() {
        let dir = tempfile::tempdir().unwrap();
        for n in 1..=MOST_FILES + 5 {
            fs::write(dir.path().join(format!("{n}.txt")), "x").unwrap();
        }
        fs::write(dir.path().join("notes.txt"), "mine").unwrap();
        OutDir::new(dir.path()).keep(b"new").unwrap();
        let left = names(dir.path());
        assert_eq!(left.len(), MOST_FILES + 1);
        assert!(left.contains(&"notes.txt".to_owned()) && left.contains(&"7.txt".to_owned()));
        assert!(!left.contains(&"6.txt".to_owned()));
    }

    #[test]
    fn large_files_make_room_before_there_are_many() {
        let dir = tempfile::tempdir().unwrap();
        for n in 1..=3 {
            let file = File::create(dir.path().join(format!("{n}.txt"))).unwrap();
            file.set_len(MOST_BYTES / 2).unwrap();
        }
        let (_, new) = OutDir::new(dir.path()).create().unwrap();
        let new = new.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(names(dir.path()), [new, "2.txt".to_owned(), "3.txt".to_owned()]);
    }

    #[test]
    fn a_symlink_in_its_place_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("elsewhere")).unwrap();
        fs::write(dir.path().join("elsewhere/1.txt"), "keep me").unwrap();
        std::os::unix::fs::symlink("elsewhere", dir.path().join("out")).unwrap();
        assert!(OutDir::new(dir.path().join("out")).keep(b"x").is_err());
        assert_eq!(names(&dir.path().join("elsewhere")), ["1.txt"]);
    }
}
