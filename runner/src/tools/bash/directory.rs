//! Where a command left the shell, so that the next one starts there.
//!
//! bash tells it through a trap that its startup file sets (`BASH_ENV`); the command itself stays as the model wrote
//! it, with its line numbers and its error messages. One file serves as startup file and as answer. Invariant: a
//! command that cannot change the directory runs without any of this.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::arguments::quote;
use super::environment::c_string;

/// The longest answer that is read: more than any system's longest path.
const LONGEST: usize = 64 << 10;

/// Whether running `command` may leave the shell in another directory: it names a builtin that does, or runs text
/// that is not to be seen here.
pub(super) fn may_change(command: &str) -> bool {
    let named = ["cd", "pushd", "popd", "eval", "source"];
    named.iter().any(|name| command.contains(name)) || has_dot_command(command)
}

/// `.` as a word of its own.
fn has_dot_command(command: &str) -> bool {
    let bytes = command.as_bytes();
    memchr::memchr_iter(b'.', bytes).any(|at| {
        let before = at.checked_sub(1).map(|i| bytes[i]);
        before.is_none_or(|b| b.is_ascii_whitespace() || b";&|(){}`".contains(&b))
            && bytes.get(at + 1).is_some_and(|b| b" \t\"'$".contains(b))
    })
}

/// The file that bash reads when it starts and writes when it ends.
pub(super) struct Report {
    file: File,
    /// Its name, as bash opens it.
    path: String,
    /// The environment variable that makes bash read it.
    pub(super) variable: CString,
    #[cfg(not(target_os = "linux"))]
    _removed_at_last: tempfile::TempPath,
}

impl Report {
    #[cfg(target_os = "linux")]
    pub(super) fn new() -> io::Result<Self> {
        use std::os::fd::AsRawFd;
        // By way of /proc nothing has to be inherited, so no program that the command runs sees a stray descriptor.
        let file: File =
            rustix::fs::memfd_create(c"autocode-directory", rustix::fs::MemfdFlags::CLOEXEC)?
                .into();
        let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        Ok(Self { file, variable: variable(&path)?, path })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn new() -> io::Result<Self> {
        let (file, temporary) = tempfile::NamedTempFile::new()?.into_parts();
        let path = temporary.to_string_lossy().into_owned();
        Ok(Self { file, variable: variable(&path)?, path, _removed_at_last: temporary })
    }

    /// Makes it ready for `command`; `startup` is the person's own startup file.
    pub(super) fn arm(&self, command: &str, startup: Option<&str>) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.write_all_at(script(&self.path, command, startup).as_bytes(), 0)
    }

    /// The directory that the command ended in, if it came to tell.
    pub(super) fn read(&self) -> Option<PathBuf> {
        let mut answer = vec![0; LONGEST];
        let length = self.file.read_at(&mut answer, 0).ok()?;
        let path = answer[..length].strip_suffix(b"\n")?;
        path.starts_with(b"/").then(|| PathBuf::from(OsStr::from_bytes(path)))
    }
}

fn variable(path: &str) -> io::Result<CString> {
    c_string(format!("BASH_ENV={path}").as_bytes())
        .ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// The startup file. `set +x` keeps a traced command's output clean, `>|` is for those that forbid overwriting.
fn script(path: &str, command: &str, startup: Option<&str>) -> String {
    let mut script = match startup {
        // The person's own, found as bash would have found it: by expanding the value.
        Some(file) => format!(
            "export BASH_ENV={}\neval \"[ ! -r \\\"$BASH_ENV\\\" ] || . \\\"$BASH_ENV\\\"\"\n",
            quote(file)
        ),
        None => "unset BASH_ENV\n".to_owned(),
    };
    script += &format!("trap '{{ set +x; pwd >|\"{path}\"; }} 2>/dev/null' EXIT\n");
    // The trap is lost to a command that sets its own, and never runs in one that replaces the shell.
    if command.contains("trap") || command.contains("exec") {
        for name in ["cd", "pushd", "popd"] {
            script += &format!(
                "{name}() {{ builtin {name} \"$@\" || return; \
                 [ \"$BASH_SUBSHELL\" != 0 ] || pwd 2>/dev/null >|\"{path}\" || :; }}\n"
            );
        }
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_may_change_the_directory_are_known() {
        for command in [
            "cd x",
            "a && pushd y",
            "popd",
            "source env.sh",
            ". ./env.sh",
            "a; . \"$x\"",
            "eval $y",
            "(\n. x)",
        ] {
            assert!(may_change(command), "{command}");
        }
        for command in ["ls", "true", "git diff ..", "ls .", "cargo test ./a", "echo 'a.'"] {
            assert!(!may_change(command), "{command}");
        }
    }
}
