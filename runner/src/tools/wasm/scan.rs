//! What changed in the tools directory since the last look, before every model call and so in microseconds.
//!
//! The directory is listed again only when its own time changed; each known file costs one `fstatat`. A time that is
//! younger than the file system's clock can tell apart proves nothing: such a file is reported once more.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, Stat, open, stat, statat};
use serde::{Deserialize, Serialize};

/// Coarser than the clock that file systems stamp with.
const CLOCK: Duration = Duration::from_millis(25);

/// What tells one state of a file from another without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stamp {
    /// It is there.
    Present {
        /// Device and inode.
        id: (u64, u64),
        /// In bytes.
        size: i64,
        /// Time of the last change of content, in seconds and nanoseconds.
        modified: (i64, i64),
        /// Time of the last change of anything.
        changed: (i64, i64),
    },
    /// It is named in the directory but cannot be looked at, for this error number.
    Unreadable(i32),
}

impl Stamp {
    fn of(result: Result<Stat, rustix::io::Errno>) -> Self {
        // The widths differ between systems.
        #[allow(clippy::unnecessary_cast, clippy::cast_possible_wrap, clippy::cast_lossless)]
        match result {
            Ok(stat) => Self::Present {
                id: (stat.st_dev as u64, stat.st_ino as u64),
                size: stat.st_size as i64,
                modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
                changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            },
            Err(error) => Self::Unreadable(error.raw_os_error()),
        }
    }

    /// In bytes; zero when it cannot be looked at.
    pub fn size(&self) -> u64 {
        match self {
            Self::Present { size, .. } => u64::try_from(*size).unwrap_or(0),
            Self::Unreadable(_) => 0,
        }
    }

    /// Whether another change right after this one could carry the same stamp.
    pub fn is_fresh(&self) -> bool {
        let Self::Present { modified, changed, .. } = self else { return false };
        let (seconds, nanoseconds) = *modified.max(changed);
        let time = UNIX_EPOCH.checked_add(Duration::new(
            u64::try_from(seconds).unwrap_or(0),
            u32::try_from(nanoseconds).unwrap_or(0),
        ));
        // A time in the future is as good as now.
        time.is_none_or(|time| {
            SystemTime::now().duration_since(time).map_or(true, |age| age < CLOCK)
        })
    }
}

/// One difference to the last look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A module is new or may have changed.
    Module(String, Stamp),
    /// A module is gone.
    ModuleGone(String),
    /// The grants of the module with this stem are new, changed or gone.
    Grants(String),
}

/// Remembers the last look.
pub(crate) struct Scanner {
    path: PathBuf,
    dir: Option<(OwnedFd, Stamp)>,
    files: BTreeMap<CString, File>,
}

struct File {
    kind: Kind,
    stamp: Option<Stamp>,
    fresh: bool,
}

#[derive(Clone)]
enum Kind {
    Module(String),
    Grants(String),
}

impl Kind {
    fn of(name: &CStr) -> Option<Self> {
        let name = name.to_str().ok()?;
        if name.starts_with('.') {
            return None;
        }
        match name.strip_suffix(".grants.json") {
            Some(stem) => Some(Self::Grants(stem.to_owned())),
            None => name.ends_with(".wasm").then(|| Self::Module(name.to_owned())),
        }
    }
}

impl Scanner {
    /// Of the directory at `path`, which need not exist.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), dir: None, files: BTreeMap::new() }
    }

    /// The differences since the last look, in the order of the files' names.
    pub fn look(&mut self) -> Vec<Seen> {
        let mut seen = Vec::new();
        self.list(&mut seen);
        let Some((dir, _)) = &self.dir else { return seen };
        for (name, file) in &mut self.files {
            let stamp = Stamp::of(statat(dir, name.as_c_str(), AtFlags::empty()));
            if file.stamp == Some(stamp) && !file.fresh {
                continue;
            }
            file.stamp = Some(stamp);
            file.fresh = stamp.is_fresh();
            seen.push(match &file.kind {
                Kind::Module(name) => Seen::Module(name.clone(), stamp),
                Kind::Grants(stem) => Seen::Grants(stem.clone()),
            });
        }
        seen
    }

    /// Takes a module as seen with this stamp, as an earlier process saw it.
    pub fn assume(&mut self, module: &str, stamp: Stamp) {
        if let Ok(name) = CString::new(module) {
            let kind = Kind::Module(module.to_owned());
            self.files.insert(name, File { kind, stamp: Some(stamp), fresh: false });
        }
    }

    /// Forgets everything; what it returns is gone.
    pub fn forget(&mut self) -> Vec<Seen> {
        self.dir = None;
        std::mem::take(&mut self.files).into_values().map(|file| gone(file.kind)).collect()
    }

    /// Brings the names up to date, if the directory changed.
    fn list(&mut self, seen: &mut Vec<Seen>) {
        let now = Stamp::of(stat(&self.path));
        let unchanged = self.dir.as_ref().is_some_and(|(_, then)| *then == now);
        if unchanged {
            return;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        self.dir = open(&self.path, flags, Mode::empty()).ok().map(|dir| {
            // A stamp that proves nothing is not remembered: the names are read again next time.
            let stamp = if now.is_fresh() { Stamp::Unreadable(0) } else { now };
            (dir, stamp)
        });
        let mut found = BTreeMap::new();
        let entries = self.dir.as_ref().and_then(|(dir, _)| Dir::read_from(dir).ok());
        for entry in entries.into_iter().flatten().flatten() {
            if let Some(kind) = Kind::of(entry.file_name()) {
                found.insert(entry.file_name().to_owned(), kind);
            }
        }
        self.files.retain(|name, file| {
            let stays = found.remove(name).is_some();
            if !stays {
                seen.push(gone(file.kind.clone()));
            }
            stays
        });
        self.files.extend(
            found.into_iter().map(|(name, kind)| (name, File { kind, stamp: None, fresh: false })),
        );
    }
}

fn gone(kind: Kind) -> Seen {
    match kind {
        Kind::Module(name) => Seen::ModuleGone(name),
        Kind::Grants(stem) => Seen::Grants(stem),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::*;

    /// Sets a file's time into the past, so that its stamp is settled.
    fn settle(path: &Path) {
        let past = SystemTime::now() - Duration::from_secs(60);
        fs::File::open(path).unwrap().set_modified(past).unwrap();
    }

    fn modules(seen: Vec<Seen>) -> Vec<String> {
        seen.into_iter()
            .map(|seen| match seen {
                Seen::Module(name, _) => format!("+{name}"),
                Seen::ModuleGone(name) => format!("-{name}"),
                Seen::Grants(stem) => format!("g{stem}"),
            })
            .collect()
    }

    #[test]
    fn new_changed_and_removed_files_are_seen_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let tools = dir.path().join("tools");
        let mut scanner = Scanner::new(&tools);
        assert_eq!(scanner.look(), []);
        fs::create_dir(&tools).unwrap();
        for name in ["b.wasm", "a.wasm", "a.grants.json", "notes.txt", ".hidden.wasm", "a.wasm.tmp"]
        {
            fs::write(tools.join(name), "x").unwrap();
        }
        assert_eq!(modules(scanner.look()), ["ga", "+a.wasm", "+b.wasm"]);
        fs::write(tools.join("a.wasm"), "longer").unwrap();
        fs::remove_file(tools.join("a.grants.json")).unwrap();
        let seen = modules(scanner.look());
        assert!(seen.contains(&"ga".to_owned()) && seen.contains(&"+a.wasm".to_owned()));
        fs::remove_dir_all(&tools).unwrap();
        assert_eq!(modules(scanner.look()), ["-a.wasm", "-b.wasm"]);
    }

    #[test]
    fn a_replaced_directory_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let tools = dir.path().join("tools");
        fs::create_dir(&tools).unwrap();
        fs::write(tools.join("a.wasm"), "x").unwrap();
        let mut scanner = Scanner::new(&tools);
        scanner.look();
        fs::rename(&tools, dir.path().join("old")).unwrap();
        fs::create_dir(&tools).unwrap();
        fs::write(tools.join("b.wasm"), "x").unwrap();
        assert_eq!(modules(scanner.look()), ["-a.wasm", "+b.wasm"]);
    }

    #[test]
    fn a_change_within_the_clocks_resolution_is_not_missed() {
        let fresh = |age: Duration| {
            let time = (SystemTime::now() - age).duration_since(UNIX_EPOCH).unwrap();
            let time = (i64::try_from(time.as_secs()).unwrap(), i64::from(time.subsec_nanos()));
            Stamp::Present { id: (1, 1), size: 1, modified: (0, 0), changed: time }.is_fresh()
        };
        assert!(fresh(Duration::ZERO));
        assert!(!fresh(Duration::from_secs(1)));
    }

    #[test]
    fn what_cannot_be_looked_at_is_reported_once() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("loop.wasm", dir.path().join("loop.wasm")).unwrap();
        let mut scanner = Scanner::new(dir.path());
        let loops = rustix::io::Errno::LOOP.raw_os_error();
        assert_eq!(scanner.look(), [Seen::Module("loop.wasm".into(), Stamp::Unreadable(loops))]);
        assert_eq!(scanner.look(), []);
    }

    #[test]
    fn what_an_earlier_process_saw_is_taken_over_and_checked() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.wasm"), "x").unwrap();
        settle(&dir.path().join("a.wasm"));
        let stamp = Stamp::of(stat(dir.path().join("a.wasm")));
        let mut scanner = Scanner::new(dir.path());
        scanner.assume("a.wasm", stamp);
        scanner.assume("b.wasm", stamp);
        assert_eq!(modules(scanner.look()), ["-b.wasm"]);
    }
}
