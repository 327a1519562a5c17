//! Reading and writing the small text files that people and agents edit by hand.
//!
//! Invariant: whatever a path turns out to be (a directory, a FIFO, a link to itself, a gigabyte), reading it ends at
//! once, holds at most the limit in memory, and a failure says in words what is wrong. Writing replaces a file whole
//! or not at all.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// More than any file edited by hand needs.
pub const SMALL: u64 = 1 << 20;

/// Why a file that is there was not read. Reads as the end of a sentence that begins with the path.
#[derive(Debug, thiserror::Error)]
pub enum ReadProblem {
    /// A directory, FIFO, socket or device.
    #[error("is a {0}, not a file")]
    NotAFile(&'static str),
    /// Longer than the caller's limit, in bytes.
    #[error("is larger than {} KiB", .0 / 1024)]
    TooBig(u64),
    /// Bytes that are not UTF-8, first on this line.
    #[error("is not UTF-8 text (line {0})")]
    NotText(usize),
    /// A symbolic link that never arrives.
    #[error("is a link that leads in a circle")]
    Circle,
    /// A symbolic link that leaves the directory it must stay in.
    #[error("is a link that leads out of the project, to {}", .0.display())]
    Outside(PathBuf),
    /// Anything the system says.
    #[error("cannot be read: {}", reason(.0))]
    Io(io::Error),
}

/// The text of the file at `path`; `None` when nothing is there.
///
/// # Errors
/// When something is there that is not readable UTF-8 text of at most `limit` bytes.
pub fn read_small(path: &Path, limit: u64) -> Result<Option<String>, ReadProblem> {
    match open(path, OFlags::empty()) {
        Ok(file) => read(file, limit).map(Some),
        Err(e) => absent_or(e),
    }
}

/// As [`read_small`], for a file of a project: a symbolic link is followed only to a place below `root`.
///
/// # Errors
/// As [`read_small`], and when the link leads elsewhere.
pub fn read_inside(root: &Path, path: &Path, limit: u64) -> Result<Option<String>, ReadProblem> {
    match open(path, OFlags::NOFOLLOW) {
        Ok(file) => return read(file, limit).map(Some),
        Err(e) if !is_link(path) => return absent_or(e),
        Err(_) => {}
    }
    let target = match path.canonicalize() {
        Ok(target) => target,
        Err(e) => return absent_or(Errno::from_io_error(&e).unwrap_or(Errno::IO)),
    };
    if !root.canonicalize().is_ok_and(|root| target.starts_with(root)) {
        return Err(ReadProblem::Outside(target));
    }
    read_small(&target, limit)
}

/// Whether `path` itself is a symbolic link.
pub fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|m| m.is_symlink())
}

/// What a path is, for messages: `directory`, `FIFO`, ….
pub(crate) fn kind(metadata: &std::fs::Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_file() {
        "file"
    } else if kind.is_dir() {
        "directory"
    } else if kind.is_fifo() {
        "FIFO"
    } else if kind.is_socket() {
        "socket"
    } else {
        "device"
    }
}

/// Never waits: a FIFO without a writer opens at once and is then refused.
fn open(path: &Path, extra: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | extra;
    rustix::fs::open(path, flags, Mode::empty())
}

fn absent_or(error: Errno) -> Result<Option<String>, ReadProblem> {
    match error {
        Errno::NOENT | Errno::NOTDIR => Ok(None),
        Errno::LOOP => Err(ReadProblem::Circle),
        Errno::NXIO => Err(ReadProblem::NotAFile("socket")),
        e => Err(ReadProblem::Io(e.into())),
    }
}

/// The regular file at `path`, at most `limit` bytes long, for reading in pieces.
///
/// # Errors
/// When it is anything else, or absent.
pub fn open_file(path: &Path, limit: u64) -> Result<File, ReadProblem> {
    match open(path, OFlags::empty()) {
        Ok(fd) => regular(fd, limit).map(|(file, _)| file),
        Err(Errno::NOENT | Errno::NOTDIR) => Err(ReadProblem::Io(io::ErrorKind::NotFound.into())),
        Err(e) => Err(absent_or(e).err().unwrap_or_else(|| ReadProblem::Io(e.into()))),
    }
}

fn regular(fd: OwnedFd, limit: u64) -> Result<(File, u64), ReadProblem> {
    let file = File::from(fd);
    let metadata = file.metadata().map_err(ReadProblem::Io)?;
    if !metadata.is_file() {
        return Err(ReadProblem::NotAFile(kind(&metadata)));
    }
    if metadata.len() > limit {
        return Err(ReadProblem::TooBig(limit));
    }
    Ok((file, metadata.len()))
}

fn read(fd: OwnedFd, limit: u64) -> Result<String, ReadProblem> {
    let (file, len) = regular(fd, limit)?;
    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0) + 1);
    // The size is only what it was a moment ago.
    file.take(limit + 1).read_to_end(&mut bytes).map_err(ReadProblem::Io)?;
    if bytes.len() as u64 > limit {
        return Err(ReadProblem::TooBig(limit));
    }
    String::from_utf8(bytes).map_err(|e| {
        let good = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        ReadProblem::NotText(1 + memchr::memchr_iter(b'\n', good).count())
    })
}

/// An io error's words without Rust's `(os error N)`, in lower case to fit into a sentence.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Puts `text` at `path`, whole or not at all, readable by `mode`'s users; makes the directories above it.
/// A symbolic link stays one: its target is replaced.
///
/// # Errors
/// What the system says.
pub fn write_whole(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let path = if is_link(path) { path.canonicalize()? } else { path.to_owned() };
    let dir = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir)?;
    let mut file = tempfile::Builder::new().prefix(".autocode-").tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(mode))?;
    file.persist(&path).map_err(|e| e.error)?;
    Ok(())
}

/// Puts `text` at `path` unless something is there; tells whether it did.
///
/// # Errors
/// What the system says, except that the path is taken.
pub fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<bool> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::from_raw_mode(mode as _)) {
        Ok(fd) => File::from(fd).write_all(text.as_bytes()).map(|()| true),
        Err(Errno::EXIST) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

/// What tells one version of a file from the next without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    len: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of what is at `path` now, links followed; `None` when nothing is there.
    pub fn of(path: &Path) -> Option<Self> {
        let m = std::fs::metadata(path).ok()?;
        Some(Self {
            inode: m.ino(),
            len: m.len(),
            modified: (m.mtime(), m.mtime_nsec()),
            changed: (m.ctime(), m.ctime_nsec()),
        })
    }

    /// As a word.
    pub fn text(&self) -> String {
        let ((modified, modified_ns), (changed, changed_ns)) = (self.modified, self.changed);
        let Self { inode, len, .. } = self;
        format!("{}.{len}.{modified}.{modified_ns}.{changed}.{changed_ns}", inode.cast_signed())
    }

    /// From that word.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.');
        let mut next = || numbers.next()?.parse::<i64>().ok();
        let stamp = Self {
            inode: next()?.cast_unsigned(),
            len: next()?.cast_unsigned(),
            modified: (next()?, next()?),
            changed: (next()?, next()?),
        };
        numbers.next().is_none().then_some(stamp)
    }

    /// Whether the file was written so recently that the next write could leave the same stamp: file systems count
    /// time in ticks.
    pub fn is_fresh(&self) -> bool {
        const TICK: Duration = Duration::from_millis(20);
        let Ok(seconds) = u64::try_from(self.changed.0) else {
            return false;
        };
        let nanos = u32::try_from(self.changed.1).unwrap_or(0);
        let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos);
        SystemTime::now().duration_since(changed).map_or(true, |age| age < TICK)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn dir() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn problem(path: &Path) -> String {
        read_small(path, 1024).unwrap_err().to_string()
    }

    #[test]
    fn a_stamp_comes_back_from_its_word() {
        let stamp = Stamp::of(Path::new("/")).unwrap();
        assert_eq!(Stamp::parse(&stamp.text()), Some(stamp));
        for broken in ["", "1.2.3", "1.2.3.4.5.x", "1.2.3.4.5.6.7"] {
            assert_eq!(Stamp::parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn reads_a_file_and_knows_an_absent_one() {
        let dir = dir();
        let path = dir.path().join("a");
        assert!(read_small(&path, 10).unwrap().is_none());
        assert!(read_small(&path.join("below"), 10).unwrap().is_none());
        std::fs::write(&path, "hällo").unwrap();
        assert_eq!(read_small(&path, 10).unwrap().unwrap(), "hällo");
        assert!(read_small(&path.join("below a file"), 10).unwrap().is_none());
    }

    #[test]
    fn names_what_is_not_a_small_text_file_and_never_waits() {
        let dir = dir();
        let path = dir.path().join("a");
        assert_eq!(problem(dir.path()), "is a directory, not a file");

        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_eq!(problem(&path), "is a FIFO, not a file");
        std::fs::remove_file(&path).unwrap();

        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(problem(&path), "is a socket, not a file");
        std::fs::remove_file(&path).unwrap();

        std::os::unix::fs::symlink(&path, &path).unwrap();
        assert_eq!(problem(&path), "is a link that leads in a circle");
        std::fs::remove_file(&path).unwrap();

        File::create(&path).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(problem(&path), "is larger than 1 KiB");

        std::fs::write(&path, b"one\ntwo \xff").unwrap();
        assert_eq!(problem(&path), "is not UTF-8 text (line 2)");

        assert_eq!(problem(Path::new("/dev/null")), "is a device, not a file");
    }

    #[test]
    fn a_link_is_followed_inside_the_project_only() {
        let (inside, outside) = (dir(), dir());
        let root = inside.path();
        std::fs::write(root.join("real"), "in").unwrap();
        std::fs::write(outside.path().join("secret"), "out").unwrap();
        std::os::unix::fs::symlink("real", root.join("near")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret"), root.join("far")).unwrap();
        std::os::unix::fs::symlink("gone", root.join("dangling")).unwrap();
        std::os::unix::fs::symlink("loop", root.join("loop")).unwrap();

        let read = |name: &str| read_inside(root, &root.join(name), 10);
        assert_eq!(read("real").unwrap().unwrap(), "in");
        assert_eq!(read("near").unwrap().unwrap(), "in");
        assert!(read("dangling").unwrap().is_none());
        assert!(matches!(read("far"), Err(ReadProblem::Outside(_))));
        assert!(matches!(read("loop"), Err(ReadProblem::Circle)));
    }

    #[test]
    fn writing_replaces_whole_files_keeps_links_and_sets_the_mode() {
        let dir = dir();
        let path = dir.path().join("deep/er/file");
        write_whole(&path, "one", 0o600).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write_whole(&link, "two", 0o600).unwrap();
        assert!(is_link(&link));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(path.parent().unwrap().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn writing_anew_leaves_what_is_there() {
        let dir = dir();
        let path = dir.path().join("file");
        assert!(write_new(&path, "one", 0o644).unwrap());
        assert!(!write_new(&path, "two", 0o644).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
    }
}
