//! Each part of `.autocode/`, and each of the user's own files, damaged in each way: autocode starts or says in one
//! line why not, names what is damaged, `--diff` and `--reset` work, nothing hangs, nothing panics.
//!
//! The cells are printed: `cargo test … corruption -- --nocapture`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use autocode_tests::pty::Size;
use autocode_tests::wat::{Behaviour, tool};
use autocode_tests::{Reply, Run, Server, TestEnv, USER_CONFIG};
use serde_json::json;

use crate::AUTOCODE;

/// What can happen to a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    Truncated,
    WrongType,
    Directory,
    Unreadable,
    Gigabyte,
    Fifo,
    Loop,
}

impl Damage {
    const ALL: [Self; 7] = [
        Self::Truncated,
        Self::WrongType,
        Self::Directory,
        Self::Unreadable,
        Self::Gigabyte,
        Self::Fifo,
        Self::Loop,
    ];

    /// Does it to what is at `path`; false where it makes no sense there.
    fn befall(self, path: &Path) -> bool {
        let is_dir = path.is_dir();
        if matches!((self, is_dir), (Self::Truncated | Self::Directory, true)) {
            return false;
        }
        let half = if is_dir { Vec::new() } else { std::fs::read(path).unwrap_or_default() };
        match self {
            Self::Unreadable => {
                // Root reads everything.
                if rustix::process::geteuid().is_root() {
                    return false;
                }
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
                return true;
            }
            _ if is_dir => std::fs::remove_dir_all(path).unwrap(),
            _ => std::fs::remove_file(path).unwrap(),
        }
        match self {
            Self::Truncated => std::fs::write(path, &half[..half.len() / 2]).unwrap(),
            Self::WrongType => std::fs::write(path, b"[\"\xff\xfe\", 7]").unwrap(),
            Self::Directory => std::fs::create_dir_all(path.join("inner")).unwrap(),
            Self::Gigabyte => std::fs::File::create(path).unwrap().set_len(1 << 30).unwrap(),
            Self::Fifo => {
                let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
                assert!(made.success());
            }
            Self::Loop => std::os::unix::fs::symlink(path.file_name().unwrap(), path).unwrap(),
            Self::Unreadable => {}
        }
        true
    }
}

/// What has to come of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Must {
    /// The damage is named in a run.
    Name,
    /// It may pass unnoticed, since half of it is as good as the whole (a text) or nothing reads it.
    Work,
    /// The run says so in one line and ends with 2: nothing of the user's is silently left out.
    Refuse,
}

/// A file or directory, how it is called in messages, and what must come of its damage.
struct Part {
    name: &'static str,
    /// How a message calls it.
    called: &'static str,
    path: PathBuf,
    must: fn(Damage) -> Must,
}

/// A project with everything in it, and an endpoint that answers.
struct Place {
    server: Server,
    env: TestEnv,
}

impl Place {
    fn new() -> Self {
        let server = Server::start();
        server.respond(|_| Reply::text("ok"));
        let env = TestEnv::new(AUTOCODE);
        env.user_config(&json!({ "base_url": server.url(), "model": "m" }));
        Self { server, env }
    }

    fn home(&self) -> PathBuf {
        self.env.project().join(".autocode")
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let run = self.env.cmd(arguments.iter().copied()).run();
        run.require(run.signal.is_none() && !run.stderr.contains("panicked"), "no crash");
        run
    }

    /// Everything as it should be.
    fn restore(&self) {
        let _ = std::fs::remove_dir_all(self.home());
        let user = self.env.home().join(USER_CONFIG);
        let dir = user.parent().unwrap();
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                std::fs::remove_dir_all(path).unwrap();
            } else {
                std::fs::remove_file(path).unwrap();
            }
        }
        self.env.user_config(&json!({ "base_url": self.server.url(), "model": "m" }));
        self.run(&["-p", "hi"]).answered("ok\n");
        let files: [(&str, &[u8]); 6] = [
            ("config.json", b"{\n  \"timeout\": 500,\n  \"compact_at\": 0.7\n}\n"),
            ("prompt.md", b"You work in {root}.\nBe brief.\n"),
            ("compact.md", b"Summarise.\nBe brief.\n"),
            ("tools/x.wasm", &tool("Says x.", Behaviour::Returns("x"))),
            ("tools/x.grants.json", b"{\n  \"bash\": true,\n  \"timeout_s\": 9\n}\n"),
            ("prev/20260101-000000/prompt.md", b"Old."),
        ];
        for (name, content) in files {
            self.env.write(&format!(".autocode/{name}"), content);
        }
    }

    fn parts(&self) -> Vec<Part> {
        let part = |name: &'static str, must| {
            let called = match name {
                "tools/x.wasm" => "tool x is broken",
                "tools/x.grants.json" => "x.grants.json",
                name => name,
            };
            Part { name, called, path: self.home().join(name), must }
        };
        let user = self.env.home().join(USER_CONFIG);
        let text = |damage| if damage == Damage::Truncated { Must::Work } else { Must::Name };
        let unread = |damage| match damage {
            Damage::Directory | Damage::Fifo | Damage::Loop => Must::Name,
            _ => Must::Work,
        };
        vec![
            part("config.json", |_| Must::Name),
            part("prompt.md", text),
            part("compact.md", text),
            part("tools", |_| Must::Name),
            part("tools/x.wasm", |_| Must::Name),
            part("tools/x.grants.json", |_| Must::Name),
            part("sessions", |_| Must::Name),
            part("prev", |_| Must::Name),
            part(".gitignore", unread),
            Part {
                name: "the user's trusted.json",
                called: "trusted.json",
                path: user.with_file_name("trusted.json"),
                must: |_| Must::Name,
            },
            Part {
                name: "the user's config.json",
                called: "config.json",
                path: user,
                must: |_| Must::Refuse,
            },
        ]
    }

    /// One cell: the damage is done, and everything is tried.
    fn try_cell(&self, part: &Part, damage: Damage) -> Option<String> {
        self.restore();
        if !damage.befall(&part.path) {
            return None;
        }
        let must = (part.must)(damage);
        let run = self.run(&["-p", "hi"]);
        match must {
            Must::Refuse => {
                run.failed(2, &[part.called]);
                run.require(run.stderr.lines().count() == 1, "one line");
            }
            Must::Name => _ = run.answered("ok\n").stderr_has(part.called),
            Must::Work => _ = run.answered("ok\n"),
        }
        let diff = self.run(&["--diff"]);
        diff.require(diff.code == Some(1), "drift");
        self.run(&["--diff", "--stat"]);
        let json = self.run(&["--diff", "--json"]);
        json.require(serde_json::from_str::<serde_json::Value>(&json.stdout).is_ok(), "JSON");
        self.run(&["log"]);
        self.run(&["tool", "list"]);
        self.run(&["trust", "--list"]);
        let reset = self.run(&["--reset"]);
        reset.require(reset.code == Some(0), "a reset");
        let after = self.run(&["--diff"]);
        after.require(after.code == Some(0) && after.stdout.is_empty(), "no drift after the reset");
        let again = self.run(&["-p", "hi"]);
        match must {
            Must::Refuse => _ = again.failed(2, &[part.called]),
            // What is the user's is not the project's to reset, and is moved aside by the next thing that is recorded.
            _ if part.called == "trusted.json" => _ = again.answered("ok\n"),
            _ => _ = again.answered("ok\n").stderr_lacks("warning"),
        }
        let what = match must {
            Must::Refuse => "refused in one line",
            Must::Name => "starts and names it",
            Must::Work => "starts",
        };
        Some(format!("{what}, --diff, --reset ({:.0} ms)", run.elapsed.as_secs_f64() * 1e3))
    }
}

/// The cells of every second part, so that two tests share the work.
fn matrix(which: usize) {
    let place = Place::new();
    for part in place.parts().iter().skip(which).step_by(2) {
        for damage in Damage::ALL {
            let outcome = place.try_cell(part, damage);
            let outcome = outcome.unwrap_or_else(|| match damage {
                Damage::Unreadable => "left out: root reads everything".to_owned(),
                _ => "makes no sense for a directory".to_owned(),
            });
            println!("{:<26} {:<11} {outcome}", part.name, format!("{damage:?}"));
        }
    }
}

#[test]
fn every_part_in_every_way_first_half() {
    matrix(0);
}

#[test]
fn every_part_in_every_way_second_half() {
    matrix(1);
}

/// What only a person at a terminal meets: the history of what was typed, and a long transcript that is no text.
#[test]
fn a_damaged_history_or_transcript_holds_up_nobody() {
    let place = Place::new();
    for damage in Damage::ALL {
        place.restore();
        let history = place.env.write(".autocode/history", "hello\nagain\n");
        let session = place.env.transcript().path;
        if !damage.befall(&history) || !damage.befall(&session) {
            continue;
        }
        let pty = place.env.pty(Size::new(100, 30), []);
        crate::repl::prompt_shown(&pty);
        pty.enter("hello");
        pty.wait_for_text("ok");
        crate::repl::prompt_shown(&pty);
        pty.enter("/exit");
        pty.wait_exit();
        place.run(&["-c", "-p", "hi"]).answered("ok\n");
        let id = session.file_stem().unwrap().to_str().unwrap();
        let (resumed, log) = (place.run(&["-r", id, "-p", "hi"]), place.run(&["log", id]));
        for run in [&resumed, &log] {
            let reasons = run.stderr.lines().filter(|line| line.starts_with("error: ")).count();
            let reason = run.code == Some(2) && reasons == 1 && !run.stderr.contains("file: it is");
            run.require(run.code == Some(0) || reason, "an answer, or the reason in one line");
            run.require(run.elapsed.as_secs() < 30, "no long wait");
        }
        println!("transcript {damage:?}: -r {:?} in {:.0?}", resumed.code, resumed.elapsed);
    }
}

/// Written through, a link in the place of a file of ours would change what it leads to.
#[test]
fn links_out_of_the_project_are_not_written_through() {
    let place = Place::new();
    place.restore();
    let victim = place.env.write_home("precious", "mine\n");
    let history = place.home().join("history");
    let _ = std::fs::remove_file(&history);
    std::os::unix::fs::symlink(&victim, history).unwrap();
    let session = place.home().join("sessions/20990101-000000.jsonl");
    std::fs::write(&session, "").unwrap();
    std::os::unix::fs::symlink(&victim, session.with_extension("lock")).unwrap();
    let pty = place.env.pty(Size::new(100, 30), ["-r", "20990101-000000"]);
    crate::repl::prompt_shown(&pty);
    pty.enter("hello");
    pty.wait_for_text("ok");
    crate::repl::prompt_shown(&pty);
    pty.enter("/exit");
    pty.wait_exit();
    std::fs::remove_file(&session).unwrap();
    std::os::unix::fs::symlink(&victim, &session).unwrap();
    place.run(&["-r", "20990101-000000", "-p", "hi"]);
    assert_eq!(std::fs::read_to_string(victim).unwrap(), "mine\n");
}
