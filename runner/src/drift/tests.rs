use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::*;
use crate::config::{Live, Overrides};
use crate::env::Env;
use crate::project::Scaffold;

struct Place {
    dir: tempfile::TempDir,
    env: Env,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut env =
            Env::at(dir.path()).at_time("2026-03-01T12:00:00Z".parse().unwrap()).with("TZ", "UTC");
        env.config_dir = dir.path().join("user");
        fs::create_dir(dir.path().join("project")).unwrap();
        let place = Self { dir, env };
        assert_eq!(place.project().scaffold(), Scaffold::Created);
        place
    }

    fn project(&self) -> Project {
        Project::at(self.dir.path().join("project"))
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.project().file(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn drift(&self) -> Drift {
        Drift::of(&self.project())
    }

    fn reset(&self, part: Part) -> Vec<String> {
        reset(&self.project(), &self.env, part).unwrap()
    }

    /// Runs the command that a reset says undoes it.
    fn undo(&self, said: &str) {
        let command = said.split("undo: ").nth(1).unwrap();
        let status = std::process::Command::new("sh")
            .args(["-ec", command])
            .current_dir(self.project().root())
            .status();
        assert!(status.unwrap().success(), "{command}");
    }
}

#[test]
fn a_new_project_has_not_drifted() {
    let place = Place::new();
    assert!(place.drift().is_none());
    assert_eq!(place.drift().text(true), "");
    assert_eq!(place.drift().json(), r#"{"files":[],"tools":[],"drift":false}"#);
    assert_eq!(place.reset(Part::All), ["everything is as it comes already"]);
    fs::remove_file(place.project().file("prompt.md")).unwrap();
    assert!(place.drift().is_none());
}

#[test]
fn changed_files_are_shown_as_a_unified_diff_with_secrets_masked() {
    let place = Place::new();
    place.write("config.json", "{\n  \"api_key\": \"sk-abcdefghijklmnopqrstuvwxyz\"\n}\n");
    place.write("compact.md", &format!("{}And \u{1b}[31mmore.\n", pristine::COMPACT));
    let compact = pristine::COMPACT;
    let expected = format!(
        "--- pristine/config.json\n+++ .autocode/config.json\n@@ -1 +1,3 @@\n-{{}}\n+{{\n+  \"api_key\": \"sk-…wxyz\"\n+}}\n\
         --- pristine/compact.md\n+++ .autocode/compact.md\n@@ -1 +1,2 @@\n {compact}+And \\u{{1b}}[31mmore.\n"
    );
    assert_eq!(place.drift().text(false), expected);
    assert!(place.drift().text(true).contains("\u{1b}[32m+And \\u{1b}[31mmore.\u{1b}[0m\n"));
    assert_eq!(
        place.drift().stat(false),
        ".autocode/config.json +3 −1 lines\n.autocode/compact.md +1 −0 lines\n"
    );
    let json: serde_json::Value = serde_json::from_str(&place.drift().json()).unwrap();
    assert_eq!(json["files"][0]["state"], "changed");
    assert_eq!(json["files"][1]["added"], 1);
    assert_eq!(json["drift"], true);
}

#[test]
fn tools_are_told_with_their_build_and_grants() {
    let place = Place::new();
    for name in ["built", "edited", "stale"] {
        place.write(&format!("tools/{name}.wasm"), name);
        place.write(&format!("src/{name}/tool.js"), name);
        record_build(&place.project(), name).unwrap();
    }
    place.write("src/built/target/junk", "left by a compiler");
    place.write("tools/edited.wasm", "other");
    place.write("src/stale/tool.js", "newer");
    place.write("tools/found.wasm", &"x".repeat(2000));
    place.write("tools/found.grants.json", "{\n\"bash\": true\n}");
    place.write("tools/lost.grants.json", "nonsense");
    place.write("tools/readme.md", "no tool");
    assert_eq!(
        place.drift().stat(false),
        "+ .autocode/tools/built 1 KiB · as built from its source\n\
         + .autocode/tools/edited 1 KiB · changed since it was built here\n\
         + .autocode/tools/found 2 KiB · has no source here · grants {\"bash\":true}\n\
         + .autocode/tools/lost · grants without a module · grants (not JSON) nonsense\n\
         + .autocode/tools/stale 1 KiB · its source is newer: build it again\n"
    );
}

#[test]
fn a_reset_keeps_the_old_and_its_words_undo_it() {
    let place = Place::new();
    place.write("prompt.md", "Mine.");
    place.write("config.json", "{\"model\": \"m\"}");
    place.write("tools/x.wasm", "x");
    let said = place.reset(Part::Prompts);
    assert_eq!(
        said,
        [
            ".autocode/prompt.md is as it comes; to undo: rm -r .autocode/prompt.md && mv .autocode/prev/20260301-120000/prompt.md .autocode/prompt.md"
        ]
    );
    assert_eq!(place.drift().files.len(), 1);
    place.undo(&said[0]);
    assert_eq!(fs::read_to_string(place.project().file("prompt.md")).unwrap(), "Mine.");

    let said = place.reset(Part::All);
    assert_eq!(said.len(), 3);
    assert!(place.drift().is_none());
    assert_eq!(place.project().config().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    said.iter().for_each(|line| place.undo(line));
    assert_eq!(place.drift().files.len(), 2);
    assert_eq!(place.drift().tools.len(), 1);
    assert_eq!(Part::named("tools"), Some(Part::Tools));
    assert_eq!(Part::named("tool"), None);
}

/// Every way in which something at a path can be no good.
type Corruption = (&'static str, fn(&Path));

const CORRUPTIONS: [Corruption; 9] = [
    ("truncated", |path| fs::write(path, "{\"mod").unwrap()),
    ("empty", |path| fs::write(path, "").unwrap()),
    ("wrong type", |path| fs::write(path, "[{\"model\": {rot}}]").unwrap()),
    ("not text", |path| fs::write(path, [0xff, 0xfe, 0, 0x9b]).unwrap()),
    ("a directory", |path| fs::create_dir_all(path.join("deep/er")).unwrap()),
    ("unreadable", |path| {
        fs::write(path, "x").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }),
    ("a gigabyte", |path| fs::File::create(path).unwrap().set_len(1 << 30).unwrap()),
    ("a FIFO", |path| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }),
    ("a circle", |path| symlink(path, path).unwrap()),
];

fn remove(path: &Path) {
    let _ = fs::remove_file(path);
    let _ = fs::remove_dir_all(path);
}

/// Whether it can be used all the same: a prompt may say anything, and root may read anything.
fn is_usable(part: &str, how: &str, path: &Path) -> bool {
    let readable = how != "unreadable" || fs::File::open(path).is_ok();
    match part {
        "config.json" => false,
        "prompt.md" => how == "truncated" || how == "unreadable" && readable,
        "compact.md" => {
            ["truncated", "wrong type"].contains(&how) || how == "unreadable" && readable
        }
        _ => true,
    }
}

#[test]
fn whatever_is_corrupt_it_starts_is_named_compared_and_reset() {
    let parts = [
        "config.json",
        "prompt.md",
        "compact.md",
        "tools",
        "tools/x.wasm",
        "tools/x.grants.json",
        ".gitignore",
        "prev",
        "sessions",
        "history",
        "",
    ];
    for part in parts {
        for (how, corrupt) in CORRUPTIONS {
            let case = format!(".autocode/{part} {how}");
            let place = Place::new();
            let project = place.project();
            let path = if part.is_empty() { project.home() } else { project.file(part) };
            remove(&path);
            corrupt(&path);

            let env = || place.env.clone().with("AUTOCODE_MODEL", "m");
            let (mut live, warnings) =
                Live::start(project.clone(), env(), Overrides::default(), true).unwrap();
            assert_eq!(live.check(), [], "{case}");
            if is_usable(part, how, &path) {
                assert_eq!(warnings, [""; 0], "{case}");
            } else {
                let [warning] = &warnings[..] else { panic!("{case}: {warnings:?}") };
                assert!(warning.starts_with(&format!(".autocode/{part}")), "{case}: {warning}");
                assert!(warning.ends_with("set aside"), "{case}: {warning}");
                assert!(live.system().starts_with("You are autocode"), "{case}");
                assert!(!place.drift().is_none(), "{case}");
            }
            let _ = crate::trust::assess(&project, &place.env);
            let _ = place.drift().text(true);
            let _ = place.drift().json();
            let said = place.reset(Part::All);
            assert!(place.drift().is_none(), "{case}: {said:?}");
            let (_, warnings) =
                Live::start(project.clone(), env(), Overrides::default(), true).unwrap();
            assert_eq!(warnings, [""; 0], "{case}: {said:?}");
            if said[0].contains("undo") {
                place.undo(&said[0]);
                assert!(path.symlink_metadata().is_ok() || part.contains('/'), "{case}: {said:?}");
            }
        }
    }
}

#[test]
fn a_link_out_of_the_project_is_not_followed_by_diff_or_reset() {
    let (place, outside) = (Place::new(), tempfile::tempdir().unwrap());
    fs::write(outside.path().join("config.json"), "{\"model\": \"theirs\"}").unwrap();
    remove(&place.project().home());
    symlink(outside.path(), place.project().home()).unwrap();
    let text = place.drift().text(false);
    assert!(text.starts_with("! .autocode is a link out of the project, to "), "{text}");
    let said = place.reset(Part::Config);
    assert!(said[0].contains("a new one is in its place"), "{said:?}");
    assert_eq!(
        fs::read_to_string(outside.path().join("config.json")).unwrap(),
        "{\"model\": \"theirs\"}"
    );
    assert!(place.drift().is_none());

    let place = Place::new();
    remove(&place.project().tools());
    symlink(outside.path(), place.project().tools()).unwrap();
    assert!(
        place
            .drift()
            .stat(false)
            .contains("the directory cannot be used: is a link out of the project")
    );
    place.reset(Part::Tools);
    assert!(outside.path().join("config.json").exists());
    assert!(place.drift().is_none());
}

#[test]
fn a_project_that_cannot_be_written_is_told_in_one_sentence() {
    let place = Place::new();
    place.write("prompt.md", "Mine.");
    let home = place.project().home();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o500)).unwrap();
    let told = reset(&place.project(), &place.env, Part::Prompts);
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    match told {
        Err(sentence) => assert_eq!(sentence, ".autocode cannot be reset: permission denied"),
        Ok(_) => println!("left out: root may write everywhere"),
    }
}
