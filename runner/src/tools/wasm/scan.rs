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
    /// The directory named it when it was last listed.
    listed: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Module,
    Grants,
}

const GRANTS: &str = ".grants.json";

impl Kind {
    fn of(name: &CStr) -> Option<Self> {
        let name = name.to_str().ok()?;
        match name {
            _ if name.starts_with('.') => None,
            _ if name.ends_with(GRANTS) => Some(Self::Grants),
            _ if name.ends_with(".wasm") => Some(Self::Module),
            _ => None,
        }
    }

    /// What is news when a file of this kind is there.
    fn seen(self, name: &CStr, stamp: Stamp) -> Seen {
        let name = name.to_string_lossy();
        match self {
            Self::Module => Seen::Module(name.into_owned(), stamp),
            Self::Grants => Seen::Grants(name.strip_suffix(GRANTS).unwrap_or(&name).to_owned()),
        }
    }

    /// What is news when it is gone.
    fn gone(self, name: &CStr) -> Seen {
        match self.seen(name, Stamp::Unreadable(0)) {
            Seen::Module(name, _) => Seen::ModuleGone(name),
            other => other,
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
            seen.push(file.kind.seen(name, stamp));
        }
        seen
    }

    /// Takes modules as seen with these stamps, as an earlier process saw them.
    pub fn assume<'a>(&mut self, modules: impl Iterator<Item = (&'a str, Stamp)>) {
        let file = |(name, stamp)| {
            let kind = Kind::Module;
            let file = File { kind, stamp: Some(stamp), fresh: false, listed: true };
            Some((CString::new(name).ok()?, file))
        };
        self.files = modules.filter_map(file).collect();
    }

    /// Forgets everything; what it returns is gone.
    pub fn forget(&mut self) -> Vec<Seen> {
        self.dir = None;
        let files = std::mem::take(&mut self.files);
        files.into_iter().map(|(name, file)| file.kind.gone(&name)).collect()
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
        self.files.values_mut().for_each(|file| file.listed = false);
        let entries = self.dir.as_ref().and_then(|(dir, _)| Dir::read_from(dir).ok());
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            if let Some(file) = self.files.get_mut(name) {
                file.listed = true;
            } else if let Some(kind) = Kind::of(name) {
                let file = File { kind, stamp: None, fresh: false, listed: true };
                self.files.insert(name.to_owned(), file);
            }
        }
        self.files.retain(|name, file| {
            if !file.listed {
                seen.push(file.kind.gone(name));
            }
            file.listed
        });
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
        scanner.assume([("a.wasm", stamp), ("b.wasm", stamp)].into_iter());
        assert_eq!(modules(scanner.look()), ["-b.wasm"]);
    }
}
