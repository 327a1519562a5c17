//! The Rust SDK, which travels inside the binary and is laid out in the user's cache when a build needs it.
//!
//! Laid out once per content; what is there is replaced whole when it is another's.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{Result, ToolkitError};
use crate::env::Env;

/// The SDK's version, which is the runner's.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

macro_rules! files {
    ($($path:literal)*) => {
        &[$(($path, include_str!(concat!("../../../", $path)))),*]
    };
}

/// Every file of the SDK, by its path in the repository.
const FILES: &[(&str, &str)] = files!(
    "tool-sdk/Cargo.toml"
    "tool-sdk/src/bindings.rs"
    "tool-sdk/src/host.rs"
    "tool-sdk/src/lib.rs"
    "tool-sdk/src/paths.rs"
    "tool-sdk/src/reply.rs"
    "tool-sdk/src/schema.rs"
    "tool-sdk/wit/tool.wit"
    "tool-sdk/macros/Cargo.toml"
    "tool-sdk/macros/src/function.rs"
    "tool-sdk/macros/src/lib.rs"
    "tool-sdk/macros/src/structure.rs"
);

/// The workspace that the SDK's manifests inherit from.
const WORKSPACE: &str = include_str!("../../../Cargo.toml");

/// The directory that holds `tool-sdk/`, laid out if it isn't there.
///
/// # Errors
/// The cache cannot be written to.
pub(super) fn unpack(env: &Env) -> Result<PathBuf> {
    let sdk = env.cache_dir.join("sdk").join(VERSION);
    let digest = digest();
    if fs::read_to_string(sdk.join("digest")).is_ok_and(|there| there == digest) {
        return Ok(sdk);
    }
    lay_out(&sdk, &digest).map_err(|error| {
        ToolkitError::io(format_args!("cannot write {}", sdk.display()), &error)
    })?;
    Ok(sdk)
}

fn lay_out(sdk: &Path, digest: &str) -> std::io::Result<()> {
    let parent = sdk.parent().unwrap_or(sdk);
    fs::create_dir_all(parent)?;
    let fresh = tempfile::Builder::new().prefix(".new-").tempdir_in(parent)?;
    for (path, text) in FILES {
        let path = fresh.path().join(path);
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir)?;
        }
        fs::write(path, text)?;
    }
    fs::write(fresh.path().join("Cargo.toml"), workspace())?;
    fs::write(fresh.path().join("digest"), digest)?;
    if sdk.exists() {
        fs::remove_dir_all(sdk)?;
    }
    let fresh = fresh.keep();
    match fs::rename(&fresh, sdk) {
        // Another process was quicker with the same files.
        Err(_) if sdk.join("digest").exists() => fs::remove_dir_all(&fresh),
        renamed => renamed,
    }
}

/// The repository's workspace with the SDK as its only members.
fn workspace() -> String {
    let mut out = String::from(
        "[workspace]\nresolver = \"3\"\nmembers = [\"tool-sdk\", \"tool-sdk/macros\"]\n",
    );
    let mut inherited = false;
    for line in WORKSPACE.lines() {
        if line.starts_with('[') {
            inherited = line.starts_with("[workspace.");
        }
        if inherited {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

fn digest() -> String {
    let mut digest = Sha256::new();
    for (path, text) in FILES {
        digest.update(format!("{path}\0{}\0{text}", text.len()));
    }
    digest.update(workspace());
    format!("{:x}", digest.finalize())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn no_file_of_the_sdk_is_left_behind() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut found =
            vec!["tool-sdk/Cargo.toml".to_owned(), "tool-sdk/macros/Cargo.toml".to_owned()];
        for dir in ["tool-sdk/src", "tool-sdk/macros/src", "tool-sdk/wit"] {
            let Ok(entries) = fs::read_dir(root.join(dir)) else { continue };
            found
                .extend(entries.map(|entry| {
                    format!("{dir}/{}", entry.unwrap().file_name().to_str().unwrap())
                }));
        }
        found.sort();
        let mut carried: Vec<&str> = FILES.iter().map(|(path, _)| *path).collect();
        carried.sort_unstable();
        assert_eq!(carried, found);
    }

    #[test]
    fn it_is_laid_out_once_and_again_when_it_was_another() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::at(dir.path());
        let sdk = unpack(&env).unwrap();
        assert!(sdk.join("tool-sdk/src/lib.rs").is_file());
        fs::write(sdk.join("mine"), "").unwrap();
        assert_eq!(unpack(&env).unwrap(), sdk);
        assert!(sdk.join("mine").exists(), "nothing changed, nothing is written");
        fs::write(sdk.join("digest"), "another").unwrap();
        unpack(&env).unwrap();
        assert!(!sdk.join("mine").exists());
        assert_eq!(
            fs::read_dir(sdk.parent().unwrap()).unwrap().count(),
            1,
            "nothing half-done stays"
        );
    }

    #[test]
    fn the_workspace_has_what_the_manifests_inherit_and_no_more() {
        let workspace = workspace();
        for wanted in ["[workspace.package]", "[workspace.dependencies]", "[workspace.lints.rust]"]
        {
            assert!(workspace.contains(wanted), "{wanted}");
        }
        assert!(!workspace.contains("[profile") && !workspace.contains("runner"));
    }
}
