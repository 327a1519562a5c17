//! What commands find in their environment: the person's own, less everything that would wait for a person.
//!
//! Colours are left to the person's variables: forbidding them by `NO_COLOR` would change what a project's own tests
//! see, and without a terminal hardly any program colours.

use std::ffi::{CStr, CString};
use std::fs;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::super::process::{Child, Output, Spawn};
use crate::env::Env;

/// Where programs are looked for when `PATH` is not set.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// No pagers, no editors, no prompts for credentials, no terminal tricks, output as it is written.
const FIXED: [&CStr; 15] = [
    c"AUTOCODE=1",
    c"DEBIAN_FRONTEND=noninteractive",
    c"EDITOR=true",
    c"GIT_ASKPASS=",
    c"GIT_EDITOR=true",
    c"GIT_PAGER=cat",
    c"GIT_SEQUENCE_EDITOR=true",
    c"GIT_TERMINAL_PROMPT=0",
    c"MANPAGER=cat",
    c"PAGER=cat",
    c"PYTHONUNBUFFERED=1",
    c"SSH_ASKPASS_REQUIRE=never",
    c"SYSTEMD_PAGER=cat",
    c"TERM=dumb",
    c"VISUAL=true",
];

/// Taken out, or set for each command.
const OWN: [&str; 6] = ["BASH_ENV", "GPG_TTY", "OLDPWD", "PWD", "SSH_ASKPASS", "SUDO_ASKPASS"];

/// The part of the environment that every command of a session shares.
pub(super) struct Environment {
    vars: Vec<CString>,
    path: String,
    /// The bash that runs the commands.
    pub(super) bash: Result<CString, String>,
    /// The person's own `BASH_ENV`.
    pub(super) startup: Option<String>,
    /// Shell functions come in through the environment, and any of them may change the directory.
    pub(super) has_functions: bool,
}

impl Environment {
    /// `executable` is this program: `autocode` in a command is the one that runs it.
    pub(super) fn new(env: &Env, executable: Option<&Path>) -> Self {
        let path = env.get("PATH").unwrap_or(DEFAULT_PATH);
        let bash =
            find(path, "bash").and_then(|bash| c_string(bash.as_os_str().as_bytes())).ok_or_else(
                || format!("bash was not found on PATH ({path}); install it, or add its directory"),
            );
        let path = with_executable(path, executable);
        let fixed = |name: &str| {
            let is = |var: &CStr| {
                var.to_bytes().strip_prefix(name.as_bytes()).is_some_and(|v| v.starts_with(b"="))
            };
            FIXED.into_iter().any(is)
        };
        let mut vars: Vec<CString> = env
            .vars()
            .filter(|&(name, _)| name != "PATH" && !OWN.contains(&name) && !fixed(name))
            .filter_map(|(name, value)| c_string(format!("{name}={value}").as_bytes()))
            .collect();
        vars.extend(c_string(format!("PATH={path}").as_bytes()));
        Self {
            vars,
            path,
            bash,
            startup: env.get("BASH_ENV").map(str::to_owned),
            has_functions: env.vars().any(|(name, _)| name.starts_with("BASH_FUNC_")),
        }
    }

    /// All variables, as a process takes them.
    pub(super) fn vars(&self) -> impl Iterator<Item = &CStr> {
        FIXED.into_iter().chain(self.vars.iter().map(CString::as_c_str))
    }

    /// Starts a process that reads `pipe` to its end, however long this one lives.
    pub(super) fn read_on(&self, pipe: BorrowedFd<'_>) -> Option<Child> {
        let cat = find(&self.path, "cat").and_then(|cat| c_string(cat.as_os_str().as_bytes()))?;
        let spawn = Spawn {
            program: &cat,
            arguments: &[c"cat"],
            environment: &[],
            directory: Some(c"/"),
            stdin: Some(pipe),
            output: Output::Discard,
        };
        spawn.start().ok()
    }
}

pub(super) fn c_string(bytes: &[u8]) -> Option<CString> {
    CString::new(bytes).ok()
}

/// The first executable file of this name on `path`.
fn find(path: &str, name: &str) -> Option<PathBuf> {
    let executable = |file: &PathBuf| {
        fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(path).map(|dir| dir.join(name)).find(executable)
}

/// `path`, with the directory of `executable` before it unless `autocode` on `path` is that already.
fn with_executable(path: &str, executable: Option<&Path>) -> String {
    let identity = |file: &Path| fs::metadata(file).ok().map(|m| (m.dev(), m.ino()));
    let Some(executable) = executable else { return path.to_owned() };
    let found = find(path, "autocode").and_then(|file| identity(&file));
    match executable.parent().and_then(Path::to_str) {
        Some(dir) if found.is_none() || found != identity(executable) => format!("{dir}:{path}"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn values(environment: &Environment, name: &str) -> Vec<String> {
        let prefix = format!("{name}=");
        let vars = environment.vars().map(|v| v.to_str().unwrap().to_owned());
        vars.filter_map(|v| v.strip_prefix(&prefix).map(str::to_owned)).collect()
    }

    #[test]
    fn nothing_that_waits_for_a_person_comes_in() {
        let env = Env::at("/")
            .with("PAGER", "less")
            .with("EDITOR", "vim")
            .with("SUDO_ASKPASS", "/usr/bin/ask")
            .with("TERM", "xterm-256color")
            .with("LANG", "de_DE.UTF-8");
        let environment = Environment::new(&env, None);
        let expected =
            [("PAGER", "cat"), ("EDITOR", "true"), ("TERM", "dumb"), ("LANG", "de_DE.UTF-8")];
        for (name, value) in expected {
            assert_eq!(values(&environment, name), [value], "{name}");
        }
        assert!(values(&environment, "SUDO_ASKPASS").is_empty());
    }

    #[test]
    fn without_bash_the_path_is_told() {
        let env = Env::at("/").with("PATH", "/nonexistent");
        let error = Environment::new(&env, None).bash.unwrap_err();
        assert!(error.contains("bash was not found on PATH (/nonexistent)"), "{error}");
    }

    #[test]
    fn autocode_in_a_command_is_the_one_that_runs_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = |at: &str| {
            let file = dir.path().join(at).join("autocode");
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
            file
        };
        let (mine, _other) = (file("mine"), file("other"));
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        let (mine_dir, other_dir, empty) = (path("mine"), path("other"), path("empty"));
        assert_eq!(with_executable(&mine_dir, Some(&mine)), mine_dir);
        assert_eq!(with_executable(&empty, Some(&mine)), format!("{mine_dir}:{empty}"));
        assert_eq!(with_executable(&other_dir, Some(&mine)), format!("{mine_dir}:{other_dir}"));
    }
}
