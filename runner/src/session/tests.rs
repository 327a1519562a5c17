//! Sessions as the agent uses them.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;

use jiff::civil::date;

use super::*;
use crate::model::message::{Assistant, ToolCall};

struct Place {
    _dir: tempfile::TempDir,
    project: Project,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { project: Project::at(dir.path()), _dir: dir }
    }

    fn create(&self) -> Session {
        Session::create(&self.project, date(2026, 9, 11).at(1, 49, 0, 0))
    }

    fn open(&self, id: &str) -> (Session, Loaded) {
        Session::open(&self.project, id).unwrap()
    }

    fn file(&self, id: &str) -> PathBuf {
        self.project.sessions().join(format!("{id}.jsonl"))
    }

    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.project.sessions())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn say(session: &mut Session, text: &str) {
    session.append(&Message::user(text), &Meta::now()).unwrap();
}

fn messages(texts: &[&str]) -> Vec<Message> {
    texts.iter().map(|&t| Message::user(t)).collect()
}

#[test]
fn a_session_is_named_after_the_second_it_began() {
    let place = Place::new();
    let (one, two) = (place.create(), place.create());
    assert_eq!((one.id(), two.id()), ("20260911-014900", "20260911-014900-2"));
}

#[test]
fn a_session_without_words_leaves_nothing() {
    let place = Place::new();
    drop(place.create());
    assert_eq!(place.files(), [""; 0]);
}

#[test]
fn what_is_appended_is_there_at_once_and_read_back() {
    let place = Place::new();
    let mut session = place.create();
    say(&mut session, "one");
    session.sync();
    assert_eq!(fs::read_to_string(session.path()).unwrap().lines().count(), 1);
    say(&mut session, "two");
    let id = session.id().to_owned();
    drop(session);
    assert_eq!(place.files(), ["20260911-014900.jsonl"]);
    let (mut session, loaded) = place.open(&id);
    assert_eq!((loaded.messages, loaded.warnings), (messages(&["one", "two"]), vec![]));
    say(&mut session, "three");
    drop(session);
    assert_eq!(place.open(&id).1.messages, messages(&["one", "two", "three"]));
}

#[test]
fn a_second_writer_is_refused_by_the_number_of_the_first() {
    let place = Place::new();
    let mut session = place.create();
    say(&mut session, "mine");
    let refused = Session::open(&place.project, session.id()).err().unwrap();
    assert!(
        matches!(refused, SessionError::InUse { pid: Some(pid), .. } if pid == std::process::id())
    );
    assert_eq!(
        refused.to_string(),
        format!(
            "session 20260911-014900 is in use by another autocode (process {}); end that one, or start a new session",
            std::process::id()
        )
    );
    drop(session);
    place.open("20260911-014900");
}

#[test]
fn a_lock_left_by_a_crash_locks_nothing() {
    let place = Place::new();
    let mut session = place.create();
    say(&mut session, "x");
    drop(session);
    fs::write(place.project.sessions().join("20260911-014900.lock"), "4711").unwrap();
    place.open("20260911-014900");
}

#[test]
fn a_session_that_is_not_there_is_told() {
    let place = Place::new();
    for id in ["nope", "", "../sessions/x", "a/b"] {
        let error = Session::open(&place.project, id).err().unwrap();
        assert!(matches!(&error, SessionError::NotFound { .. }), "{error}");
        assert!(error.to_string().contains(".autocode/sessions"), "{error}");
    }
}

#[test]
fn appending_to_a_torn_file_starts_on_a_new_line() {
    let place = Place::new();
    let mut session = place.create();
    say(&mut session, "whole");
    say(&mut session, "torn");
    let (id, path) = (session.id().to_owned(), session.path().to_owned());
    drop(session);
    let length = fs::metadata(&path).unwrap().len();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length - 9).unwrap();
    let (mut session, loaded) = place.open(&id);
    assert_eq!(loaded.messages, messages(&["whole"]));
    assert_eq!(loaded.warnings, ["1 line of the transcript could not be read and was left out"]);
    say(&mut session, "after");
    drop(session);
    assert_eq!(place.open(&id).1.messages, messages(&["whole", "after"]));
}

#[test]
fn a_crash_in_a_tool_leaves_a_conversation_that_can_go_on() {
    let place = Place::new();
    let mut session = place.create();
    let call = ToolCall::new("a", "bash", "{}");
    let reply = Message::Assistant(Assistant { tool_calls: vec![call], ..Assistant::default() });
    session.append(&reply, &Meta::now()).unwrap();
    let id = session.id().to_owned();
    drop(session);
    let (mut session, loaded) = place.open(&id);
    let expected = [reply, Message::tool("a", "[interrupted]")];
    assert_eq!(loaded.messages, expected);
    say(&mut session, "continue");
    drop(session);
    let again = place.open(&id).1.messages;
    assert_eq!(again, [&expected[..], &messages(&["continue"])].concat());
}

#[test]
fn values_of_tools_are_kept_with_the_session() {
    let place = Place::new();
    let mut session = place.create();
    session.set_state("a", "1").unwrap();
    session.set_state("b", "2").unwrap();
    session.set_state("a", "3").unwrap();
    session.set_state("a", "3").unwrap();
    session
        .note(&Note { kind: "edit".to_owned(), text: "model".to_owned(), ..Note::default() })
        .unwrap();
    let (id, path) = (session.id().to_owned(), session.path().to_owned());
    assert_eq!(fs::read_to_string(path).unwrap().lines().count(), 4);
    drop(session);
    let (session, loaded) = place.open(&id);
    assert_eq!(
        (session.state("a"), session.state("b"), session.state("c")),
        (Some("3"), Some("2"), None)
    );
    assert_eq!(loaded, Loaded::default());
}

#[test]
fn a_compacted_conversation_takes_the_place_of_the_archived_one() {
    let place = Place::new();
    let mut session = place.create();
    say(&mut session, "fix  the\ntest");
    say(&mut session, "b");
    session.set_state("k", "v").unwrap();
    let before = fs::read(session.path()).unwrap();
    let kept = |texts: &[&str]| -> Vec<(Message, Meta)> {
        messages(texts).into_iter().map(|message| (message, Meta::own())).collect()
    };
    session.replace(&kept(&["summary", "b"])).unwrap();
    say(&mut session, "c");
    let id = session.id().to_owned();
    let archived = archived(&place.project, &id);
    assert_eq!(archived.len(), 1);
    assert_eq!(fs::read(&archived[0]).unwrap(), before);
    session.replace(&kept(&["shorter"])).unwrap();
    say(&mut session, "d");
    drop(session);
    assert_eq!(super::archived(&place.project, &id).len(), 2);
    assert_eq!(place.files(), ["20260911-014900.jsonl", "old"]);
    let (session, loaded) = place.open(&id);
    assert_eq!((loaded.messages, session.state("k")), (messages(&["shorter", "d"]), Some("v")));
    assert_eq!(recent(&place.project, 9)[0].title, "fix the test");
}

#[test]
fn what_cannot_be_written_is_told_once_and_written_later() {
    let place = Place::new();
    fs::create_dir_all(place.project.home()).unwrap();
    fs::write(place.project.sessions(), "in the way").unwrap();
    let mut session = place.create();
    let error = session.append(&Message::user("one"), &Meta::now()).unwrap_err().to_string();
    assert!(error.contains("cannot be written") && error.contains("goes on in memory"), "{error}");
    say(&mut session, "two");
    fs::remove_file(place.project.sessions()).unwrap();
    say(&mut session, "three");
    let id = session.id().to_owned();
    drop(session);
    assert_eq!(place.open(&id).1.messages, messages(&["one", "two", "three"]));
}

#[test]
fn a_full_disk_leaves_no_half_line() {
    // Files of this process may not grow over this; writing then fails as it does on a full disk.
    let exe = std::env::current_exe().unwrap();
    let test = "session::tests::limited::writes_until_there_is_no_room";
    let limited = format!("ulimit -f 8; exec '{}' --ignored --exact {test}", exe.display());
    let output = std::process::Command::new("bash").args(["-c", &limited]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}

mod limited {
    use super::*;

    #[test]
    #[ignore = "run by a_full_disk_leaves_no_half_line, with a limit on the size of files"]
    fn writes_until_there_is_no_room() {
        // SAFETY: no other thread of this process cares for the signal.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        let place = Place::new();
        let mut session = place.create();
        let text = "x".repeat(700);
        let mut written = 0;
        while session.append(&Message::user(&*text), &Meta::default()).is_ok() {
            written += 1;
        }
        let file = fs::read(session.path()).unwrap();
        assert!(written > 3 && file.len() < 8192 && file.ends_with(b"\n"));
        assert_eq!(file.iter().filter(|&&b| b == b'\n').count(), written);
        session.append(&Message::user("kept in memory"), &Meta::default()).unwrap();
    }
}

#[test]
fn the_list_shows_the_newest_first() {
    let place = Place::new();
    let write = |id: &str, text: &str, age: u64| {
        fs::create_dir_all(place.project.sessions()).unwrap();
        let mut file = fs::File::create(place.file(id)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let time =
            std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 - age);
        file.set_modified(time).unwrap();
    };
    let user =
        |text: &str| format!("{{\"role\":\"user\",\"content\":{}}}\n", serde_json::json!(text));
    let reply = "{\"role\":\"assistant\",\"content\":\"hi\"}\n";
    write("old", &format!("{}{reply}", user("first   words\nof it")), 50);
    write(
        "new",
        &format!("garbage\n{{\"_state\":{{\"key\":\"a\",\"value\":\"b\"}}}}\n{}", user("x")),
        1,
    );
    write("large", &(user(&"long \"word\" ".repeat(200_000)) + &reply.repeat(10)), 20);
    write("many", &(user("q") + &reply.repeat(40_000)), 30);
    fs::create_dir(place.project.sessions().join("old.jsonl.d")).unwrap();
    let list = recent(&place.project, 10);
    let shown: Vec<_> =
        list.iter().map(|s| (s.id.as_str(), s.title.as_str(), s.messages)).collect();
    let words = "long \"word\" ".repeat(10);
    let words: String = words.chars().take(80).collect();
    assert_eq!(shown[0], ("new", "x", 1));
    assert_eq!((shown[1].0, shown[1].1), ("large", words.trim_end()));
    assert_eq!((shown[2].0, shown[2].1), ("many", "q"));
    assert!((39_000..41_000).contains(&shown[2].2), "{}", shown[2].2);
    assert_eq!(shown[3], ("old", "first words of it", 2));
    assert_eq!(recent(&place.project, 1).len(), 1);
    assert_eq!(latest(&place.project).as_deref(), Some("new"));
    assert_eq!(latest(&Place::new().project), None);
}
