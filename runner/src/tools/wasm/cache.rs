//! What is kept of a tool between runs of autocode, in the user's cache directory and keyed by content.
//!
//! `code/KEY/HASH` is native code for one engine configuration, `tools-N/HASH.json` what a tool says of itself,
//! `index-N/` what is known of a project's tools.
//! Loading native code is running it: only from a directory that is ours alone, only files that we named there
//! ourselves. Where no such directory can be had, a private one is made for this process.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::describe::Description;

/// Compiled code kept in all; the least recently used goes first.
const MAX_CODE: u64 = 512 << 20;
/// Descriptions, and what is known of projects, likewise.
const MAX_TEXT: u64 = 16 << 20;
/// How stale a file's time of last use may be before it is set anew.
const TOUCH: Duration = Duration::from_secs(24 * 60 * 60);

/// The SHA-256 of a module's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) struct ContentHash([u8; 32]);

impl ContentHash {
    /// One that was computed before.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The hash itself.
    pub fn bytes(self) -> [u8; 32] {
        self.0
    }

    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for ContentHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let mut hash = [0; 32];
        if text.len() != 64 {
            return Err("not a SHA-256");
        }
        let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let (high, low) = digit(pair[0]).zip(digit(pair[1])).ok_or("not a SHA-256")?;
            *byte = high << 4 | low;
        }
        Ok(Self(hash))
    }
}

/// The cache; nothing is made on disk before something is kept.
pub(crate) struct Cache {
    wanted: PathBuf,
    place: OnceLock<Result<Place, String>>,
}

enum Place {
    Kept(PathBuf),
    ForThisProcess(TempDir),
}

impl Place {
    fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::ForThisProcess(dir) => dir.path(),
        }
    }
}

/// The cache's directories. The number counts the changes in what a description is checked for: what was kept before
/// one counts no more.
const CODE: &str = "code";
const TOOLS: &str = "tools-1";
const INDEX: &str = "index-2";

impl Cache {
    /// Under the user's cache directory.
    pub fn new(cache_dir: &Path) -> Self {
        Self { wanted: cache_dir.join("wasm"), place: OnceLock::new() }
    }

    /// The cache's own directory, ours alone; made where it is not there.
    fn root(&self) -> Result<&Path, String> {
        let place = self.place.get_or_init(|| {
            if own(&self.wanted).is_ok() {
                return Ok(Place::Kept(self.wanted.clone()));
            }
            let dir = tempfile::Builder::new().prefix("autocode-wasm-").tempdir();
            dir.map(Place::ForThisProcess).map_err(|error| {
                let wanted = self.wanted.display();
                format!(
                    "no place for compiled wasm: neither {wanted} nor a temporary one ({error})"
                )
            })
        });
        place.as_ref().map(Place::path).map_err(Clone::clone)
    }

    /// A directory of the cache to write to.
    fn dir(&self, name: &str) -> Result<PathBuf, String> {
        let dir = self.root()?.join(name);
        own(&dir).map_err(|error| format!("cannot use {}: {error}", dir.display()))?;
        Ok(dir)
    }

    /// A directory of the cache to read from, if it is there and ours.
    fn existing(&self, name: &str) -> Option<PathBuf> {
        let root = match self.place.get() {
            Some(place) => place.as_ref().ok()?.path(),
            None => &self.wanted,
        };
        let mut dir = root.to_owned();
        for part in std::iter::once(None).chain(Path::new(name).iter().map(Some)) {
            dir.extend(part);
            own_existing(&fs::symlink_metadata(&dir).ok()?).ok()?;
        }
        Some(dir)
    }

    /// The file of a module's code for the engine named by `key`, if it is there.
    pub fn code(&self, key: &str, hash: ContentHash) -> Option<PathBuf> {
        let path = self.existing(&format!("{CODE}/{key}"))?.join(hash.to_string());
        let meta = fs::metadata(&path).ok()?;
        let stale = meta.modified().is_ok_and(|time| time.elapsed().is_ok_and(|age| age > TOUCH));
        if stale {
            // The time of last use decides what is pruned; that it cannot be set is no reason to fail.
            _ = fs::File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        }
        Some(path)
    }

    /// Keeps the code that `write` puts into the file it is given.
    pub fn keep_code<E: From<String>>(
        &self,
        key: &str,
        hash: ContentHash,
        write: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let dir = self.dir(CODE)?.join(key);
        own(&dir).map_err(|error| format!("cannot use {}: {error}", dir.display()))?;
        let new = tempfile::Builder::new()
            .prefix("new-")
            .tempfile_in(&dir)
            .map_err(|error| format!("cannot write in {}: {error}", dir.display()))?
            .into_temp_path();
        write(&new)?;
        let path = dir.join(hash.to_string());
        new.persist(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        self.prune(&path);
        Ok(path)
    }

    /// What the module with this hash said of itself, if it is known.
    pub fn description(&self, hash: ContentHash) -> Option<Description> {
        let path = self.existing(TOOLS)?.join(format!("{hash}.json"));
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    /// Keeps what a module said of itself. A failure costs time at the next start, nothing else.
    pub fn keep_description(&self, hash: ContentHash, description: &Description) {
        if let (Ok(dir), Ok(text)) = (self.dir(TOOLS), serde_json::to_vec(description)) {
            _ = replace(&dir.join(format!("{hash}.json")), &text);
        }
    }

    /// What is kept under the name of the project's directory `dir`.
    pub fn index(&self, dir: &Path) -> Option<Vec<u8>> {
        fs::read(self.existing(INDEX)?.join(index_name(dir))).ok()
    }

    /// Keeps `text` under the name of the project's directory `dir`; a failure costs time, nothing else.
    pub fn keep_index(&self, dir: &Path, text: &[u8]) {
        if let Ok(index) = self.dir(INDEX) {
            _ = replace(&index.join(index_name(dir)), text);
        }
    }

    /// Forgets what was not used for longest beyond the limits, never `keep`. A mapped file lives on until it is
    /// unmapped.
    fn prune(&self, keep: &Path) {
        let Some(code) = self.existing(CODE) else { return };
        forget_oldest(
            entries(&code).flat_map(|dir| entries(&dir)).filter(|path| path != keep),
            MAX_CODE,
        );
        for dir in [TOOLS, INDEX] {
            forget_oldest(self.existing(dir).iter().flat_map(|dir| entries(dir)), MAX_TEXT);
        }
    }
}

/// Removes the files that were changed longest ago, until the others have at most `limit` bytes.
fn forget_oldest(files: impl Iterator<Item = PathBuf>, limit: u64) {
    let mut files: Vec<(SystemTime, u64, PathBuf)> = files
        .filter_map(|path| {
            let meta = fs::metadata(&path).ok()?;
            Some((meta.modified().ok()?, meta.len(), path))
        })
        .collect();
    files.sort_unstable();
    let mut size = files.iter().map(|(_, size, _)| size).sum::<u64>();
    for (_, bytes, path) in files {
        if size <= limit {
            break;
        }
        _ = fs::remove_file(path);
        size -= bytes;
    }
}

fn index_name(dir: &Path) -> String {
    ContentHash::of(dir.as_os_str().as_bytes()).to_string()
}

fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(dir).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

/// Makes sure that `dir` is a directory that is ours and that nobody else can write to.
fn own(dir: &Path) -> io::Result<()> {
    match fs::symlink_metadata(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
            own_existing(&fs::symlink_metadata(dir)?)
        }
        meta => own_existing(&meta?),
    }
}

fn own_existing(meta: &fs::Metadata) -> io::Result<()> {
    let ours = meta.is_dir()
        && meta.uid() == rustix::process::geteuid().as_raw()
        && meta.mode() & 0o022 == 0;
    if ours {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is not ours alone"))
    }
}

/// Puts `text` in the place of a file, whole or not at all.
pub(crate) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    io::Write::write_all(&mut file, text)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn keep(cache: &Cache, hash: ContentHash, code: &[u8]) -> PathBuf {
        cache
            .keep_code::<String>("key", hash, |path| {
                fs::write(path, code).map_err(|e| e.to_string())
            })
            .unwrap()
    }

    #[test]
    fn code_is_kept_under_its_hash_in_a_directory_of_ours() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path());
        let hash = ContentHash::of(b"module");
        assert_eq!(cache.code("key", hash), None);
        let path = keep(&cache, hash, b"code");
        assert_eq!(cache.code("key", hash), Some(path));
        assert_eq!(cache.code("other", hash), None);
        let mode = fs::metadata(home.path().join("wasm")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_directory_that_others_can_write_to_is_not_used() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("wasm");
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
        let planted = dir.join("code/key").join(ContentHash::of(b"module").to_string());
        fs::create_dir_all(planted.parent().unwrap()).unwrap();
        fs::write(&planted, b"evil").unwrap();
        let cache = Cache::new(home.path());
        assert_eq!(cache.code("key", ContentHash::of(b"module")), None);
        let path = keep(&cache, ContentHash::of(b"module"), b"code");
        assert!(!path.starts_with(home.path()));
    }

    #[test]
    fn a_link_in_place_of_the_directory_is_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), home.path().join("wasm")).unwrap();
        let path = keep(&Cache::new(home.path()), ContentHash::of(b"m"), b"code");
        assert!(!path.starts_with(elsewhere.path().canonicalize().unwrap()));
    }

    #[test]
    fn looking_makes_nothing() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path());
        assert_eq!(cache.index(Path::new("/p")), None);
        assert_eq!(cache.description(ContentHash::of(b"m")), None);
        assert_eq!(entries(home.path()).count(), 0);
        cache.keep_index(Path::new("/p"), b"known");
        assert_eq!(cache.index(Path::new("/p")), Some(b"known".to_vec()));
    }

    #[test]
    fn the_oldest_files_are_forgotten_first() {
        let dir = tempfile::tempdir().unwrap();
        let files: Vec<PathBuf> = (0..4u64).map(|n| dir.path().join(n.to_string())).collect();
        for (age, path) in (1..).zip(&files) {
            fs::write(path, [0; 10]).unwrap();
            let time = SystemTime::now() - Duration::from_secs(1000 * age);
            fs::File::open(path).unwrap().set_modified(time).unwrap();
        }
        forget_oldest(files.clone().into_iter(), 25);
        assert_eq!(
            files.iter().map(|path| path.exists()).collect::<Vec<_>>(),
            [true, true, false, false]
        );
    }

    #[test]
    fn a_failed_compilation_leaves_nothing_behind() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path());
        let failed = cache.keep_code::<String>("key", ContentHash::of(b"m"), |path| {
            fs::write(path, b"half").unwrap();
            Err("no".into())
        });
        assert_eq!(failed, Err("no".into()));
        assert_eq!(entries(&home.path().join("wasm/code/key")).count(), 0);
    }

    #[test]
    fn a_hash_survives_its_text() {
        let hash = ContentHash::of(b"x");
        assert_eq!(ContentHash::try_from(hash.to_string()), Ok(hash));
        assert!(ContentHash::try_from("é".repeat(32)).is_err());
        assert!(ContentHash::try_from("zz".repeat(32)).is_err());
    }
}
