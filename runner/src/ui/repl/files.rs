//! The project's files for `@`: walked and searched in a thread of their own, so that typing never waits for them.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use ignore::{WalkBuilder, WalkState};
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use tokio::sync::mpsc::UnboundedSender;

/// Most files that are offered of; the rest is for the keyboard.
const MOST: usize = 500_000;

/// Files that are offered at once.
const OFFERED: usize = 8;

/// After this time a new question has the files walked again.
const FRESH: Duration = Duration::from_secs(5);

/// What was found for a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The question.
    pub(super) query: String,
    /// Paths below the root, best first.
    pub(super) paths: Vec<String>,
}

/// The way to ask.
#[derive(Debug)]
pub(super) struct Files {
    root: PathBuf,
    answers: UnboundedSender<Found>,
    questions: Option<Sender<String>>,
}

impl Files {
    /// Files below `root`; answers go to `answers`. Nothing is read before the first question.
    pub(super) fn new(root: &Path, answers: UnboundedSender<Found>) -> Self {
        Self { root: root.to_owned(), answers, questions: None }
    }

    /// Asks which files match.
    pub(super) fn ask(&mut self, query: &str) {
        let questions = self.questions.get_or_insert_with(|| {
            let (sender, receiver) = channel();
            let (root, answers) = (self.root.clone(), self.answers.clone());
            // Without a thread there is no completion, and nothing else is lost.
            let _ = thread::Builder::new()
                .name("files".to_owned())
                .spawn(move || serve(&root, &receiver, &answers));
            sender
        });
        let _ = questions.send(query.to_owned());
    }
}

fn serve(root: &Path, questions: &Receiver<String>, answers: &UnboundedSender<Found>) {
    let mut files = Vec::new();
    let mut walked: Option<Instant> = None;
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    while let Ok(mut query) = questions.recv() {
        // Only the newest question matters.
        while let Ok(newer) = questions.try_recv() {
            query = newer;
        }
        if walked.is_none_or(|at| query.is_empty() && at.elapsed() > FRESH) {
            files = walk(root);
            walked = Some(Instant::now());
        }
        let paths = best(&files, &query, &mut matcher);
        if answers.send(Found { query, paths }).is_err() {
            return;
        }
    }
}

/// Files and directories (with a slash at their end) that git does not ignore, sorted.
fn walk(root: &Path) -> Vec<String> {
    let (sender, receiver) = channel();
    let own = root.join(".autocode");
    let walker = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .threads(thread::available_parallelism().map_or(1, usize::from).min(4))
        .filter_entry(move |entry| entry.file_name() != ".git" && !is_private(&own, entry.path()))
        .build_parallel();
    walker.run(|| {
        let sender = sender.clone();
        Box::new(move |entry| {
            let Ok(entry) = entry else { return WalkState::Continue };
            let Ok(below) = entry.path().strip_prefix(root) else { return WalkState::Continue };
            let Some(name) = below.to_str().filter(|name| !name.is_empty()) else {
                return WalkState::Continue;
            };
            let slash = if entry.file_type().is_some_and(|t| t.is_dir()) { "/" } else { "" };
            match sender.send(format!("{name}{slash}")) {
                Ok(()) => WalkState::Continue,
                Err(_) => WalkState::Quit,
            }
        })
    });
    drop(sender);
    let mut files: Vec<String> = receiver.into_iter().take(MOST).collect();
    files.sort_unstable();
    files
}

/// What autocode itself keeps and nobody reads by hand.
fn is_private(own: &Path, path: &Path) -> bool {
    ["sessions", "out", "prev", "history"].iter().any(|name| path == own.join(name))
}

/// The best of `files` for `query`; without one, what lies at the top.
fn best(files: &[String], query: &str, matcher: &mut Matcher) -> Vec<String> {
    if query.is_empty() {
        let top = files.iter().filter(|file| !file.trim_end_matches('/').contains('/'));
        // What is hidden is seldom meant.
        let (hidden, plain): (Vec<_>, Vec<_>) = top.partition(|file| file.starts_with('.'));
        return plain.into_iter().chain(hidden).take(OFFERED).cloned().collect();
    }
    let pattern = Pattern::new(query, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
    let mut buffer = Vec::new();
    let mut scored: Vec<(u32, &String)> = files
        .iter()
        .filter_map(|file| {
            let score = pattern.score(Utf32Str::new(file, &mut buffer), matcher)?;
            Some((score, file))
        })
        .collect();
    let order = |a: &(u32, &String), b: &(u32, &String)| {
        b.0.cmp(&a.0).then(a.1.len().cmp(&b.1.len())).then(a.1.cmp(b.1))
    };
    if scored.len() > OFFERED {
        scored.select_nth_unstable_by(OFFERED, order);
        scored.truncate(OFFERED);
    }
    scored.sort_unstable_by(order);
    scored.into_iter().map(|(_, file)| file.clone()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn project() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in ["src/main.rs", "src/agent/mod.rs", "target/x.rs", ".gitignore", ".git/config"]
        {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, if file == ".gitignore" { "target\n" } else { "" }).unwrap();
        }
        dir
    }

    #[test]
    fn ignored_files_are_left_out() {
        let dir = project();
        let expected = [".gitignore", "src/", "src/agent/", "src/agent/mod.rs", "src/main.rs"];
        assert_eq!(walk(dir.path()), expected);
    }

    #[tokio::test]
    async fn questions_are_answered_from_another_thread() {
        let dir = project();
        let (sender, mut answers) = tokio::sync::mpsc::unbounded_channel();
        let mut files = Files::new(dir.path(), sender);
        files.ask("smain");
        let found = answers.recv().await.unwrap();
        assert_eq!(found, Found { query: "smain".into(), paths: vec!["src/main.rs".into()] });
    }

    #[test]
    fn the_best_match_comes_first() {
        let files: Vec<String> =
            ["docs/agent-modes.md", "src/agent/mod.rs", "src/model.rs"].map(String::from).into();
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        assert_eq!(best(&files, "mod.rs", &mut matcher)[0], "src/agent/mod.rs");
        assert_eq!(best(&files, "zzz", &mut matcher), Vec::<String>::new());
        let files: Vec<String> =
            [".github/", "src/", "src/main.rs", "x.rs"].map(String::from).into();
        assert_eq!(best(&files, "", &mut matcher), ["src/", "x.rs", ".github/"]);
    }
}
