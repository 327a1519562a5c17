//! Writing settings into a config file, for `/config`, `/model` and setup.
//!
//! Everything else in the file stays, unknown keys included; a file that does not parse is left alone, since writing
//! would destroy what the person meant.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::layers::{Layer, Problem, Source};
use super::schema::Key;
use super::watch::Watched;
use crate::env::Env;
use crate::files;
use crate::project::Project;

/// Which file a setting is kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The user's, for all projects.
    User,
    /// The project's.
    Project,
}

impl Scope {
    /// Where the file must stay in, links followed.
    pub(super) fn inside(self, project: &Project) -> Option<&Path> {
        match self {
            Self::User => None,
            Self::Project => Some(project.root()),
        }
    }
}

/// Sets each key to its value, or takes it out of the file (`None`). The file is for its owner's eyes only.
///
/// # Errors
/// When a value is not what its setting takes, or the file is broken or cannot be written.
pub fn save(
    project: &Project,
    env: &Env,
    scope: Scope,
    changes: &[(&Key, Option<Value>)],
) -> Result<(), Problem> {
    let (path, place) = file(project, env, scope);
    let seen = Watched::new(path.clone(), scope.inside(project)).into_seen();
    let text = seen.map_err(|e| Problem::of(&place, e))?.unwrap_or_else(|| "{}".to_owned());
    let mut members = members(&text, &place)?;
    for (key, value) in changes {
        match value {
            Some(value) => {
                key.check(value).map_err(|message| Problem::at("setting", message))?;
                members.insert(key.name.to_owned(), value.clone());
            }
            None => {
                members.shift_remove(key.name);
            }
        }
    }
    let mut text = serde_json::to_string_pretty(&members).map_err(|e| Problem::of(&place, e))?;
    text.push('\n');
    files::write_whole(&path, &text, 0o600)
        .map_err(|e| Problem::of(&place, format!("cannot be written: {}", files::reason(&e))))
}

/// The file of a scope and how it is called to a person.
pub fn file(project: &Project, env: &Env, scope: Scope) -> (PathBuf, String) {
    match scope {
        Scope::User => {
            let path = env.config_dir.join("config.json");
            let place = env.short(&path);
            (path, place)
        }
        Scope::Project => {
            let path = project.config();
            let place = project.short(&path).to_string();
            (path, place)
        }
    }
}

/// The file's members; only its syntax has to be right, so that a wrong value can be mended by setting it.
fn members(text: &str, place: &str) -> Result<Map<String, Value>, Problem> {
    let text = text.trim_start_matches('\u{feff}');
    match serde_json::from_str(text) {
        Ok(members) => Ok(members),
        Err(e) => {
            let parsed = Layer::parse(Source::User, place, text, &mut Vec::new());
            Err(parsed.err().unwrap_or_else(|| Problem::at(place, e)))
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::json;

    use super::*;

    fn key(name: &str) -> &'static Key {
        Key::named(name).unwrap()
    }

    #[test]
    fn other_settings_and_their_order_stay_and_the_file_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let (project, env) = (Project::at(dir.path()), Env::at(dir.path()));
        let path = env.config_dir.join("config.json");
        let save = |changes: &[(&Key, Option<Value>)]| save(&project, &env, Scope::User, changes);

        save(&[(key("model"), Some(json!("a")))]).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);

        std::fs::write(&path, r#"{"z": 1, "model": "a", "timeout": "wrong", "max_tokens": 5}"#)
            .unwrap();
        save(&[(key("timeout"), Some(json!(5))), (key("max_tokens"), None)]).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\n  \"z\": 1,\n  \"model\": \"a\",\n  \"timeout\": 5\n}\n");
    }

    #[test]
    fn a_wrong_value_or_a_broken_file_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (project, env) = (Project::at(dir.path()), Env::at(dir.path()));
        let error = |value: Value| {
            save(&project, &env, Scope::Project, &[(key("compact_at"), Some(value))])
                .unwrap_err()
                .to_string()
        };
        assert_eq!(error(json!(2)), "setting: compact_at must be a number between 0 and 1, got 2");
        assert!(!project.home().exists());

        std::fs::create_dir(project.home()).unwrap();
        std::fs::write(project.config(), "{\n'a'").unwrap();
        assert_eq!(error(json!(1)), ".autocode/config.json:2:1: text goes in double quotes");
        assert_eq!(std::fs::read_to_string(project.config()).unwrap(), "{\n'a'");
    }
}
