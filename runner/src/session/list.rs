//! The sessions of a project, newest first, without reading more of them than a list shows.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::iter;
use std::path::Path;
use std::time::SystemTime;

use super::record::Record;
use crate::model::message::Message;
use crate::project::Project;

/// Bytes of a file that are read for a list; what is longer has its messages estimated.
const SAMPLE: u64 = 1 << 20;
/// Characters of the first message that a list shows.
const WORDS: usize = 80;

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What it is resumed by.
    pub id: String,
    /// When it was last written.
    pub modified: SystemTime,
    /// Size of the transcript.
    pub bytes: u64,
    /// Messages in it: counted, or estimated for a transcript of more than a megabyte.
    pub messages: u64,
    /// Its first words, on one line.
    pub title: String,
}

/// The newest `most` sessions, newest first.
pub fn recent(project: &Project, most: usize) -> Vec<Summary> {
    let dir = project.sessions();
    by_age(&dir).into_iter().take(most).filter_map(|file| file.summary(&dir).ok()).collect()
}

/// The id of the session that was written last.
pub fn latest(project: &Project) -> Option<String> {
    by_age(&project.sessions()).into_iter().next().map(|file| file.id)
}

/// A message's beginning on one line.
pub(super) fn first_words(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty());
    let line = words.flat_map(|word| iter::once(' ').chain(word.chars())).skip(1);
    let mut line: String = line.take(WORDS).collect();
    line.truncate(line.trim_end().len());
    line
}

struct Found {
    id: String,
    modified: SystemTime,
    bytes: u64,
}

fn by_age(dir: &Path) -> Vec<Found> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    let mut files: Vec<Found> = entries.filter_map(|entry| Found::of(&entry.ok()?)).collect();
    files.sort_unstable_by(|a, b| (Reverse(a.modified), &b.id).cmp(&(Reverse(b.modified), &a.id)));
    files
}

impl Found {
    fn of(entry: &fs::DirEntry) -> Option<Self> {
        let name = entry.file_name().into_string().ok()?;
        let id = name.strip_suffix(".jsonl")?.to_owned();
        let meta = entry.metadata().ok()?;
        if !meta.is_file() {
            return None;
        }
        Some(Self { id, modified: meta.modified().ok()?, bytes: meta.len() })
    }

    fn summary(self, dir: &Path) -> io::Result<Summary> {
        let file = File::open(dir.join(format!("{}.jsonl", self.id)))?;
        let mut file = BufReader::new(file.take(SAMPLE));
        let (mut messages, mut read, mut title) = (0u64, 0u64, None);
        let mut line = Vec::new();
        while file.read_until(b'\n', &mut line)? > 0 {
            read += line.len() as u64;
            messages += u64::from(line.starts_with(b"{\"role\""));
            if title.is_none() {
                title = title_in(&line);
            }
            line.clear();
        }
        if self.bytes > read {
            let whole = u128::from(messages) * u128::from(self.bytes) / u128::from(read.max(1));
            messages = u64::try_from(whole).unwrap_or(u64::MAX);
        }
        let Self { id, modified, bytes } = self;
        Ok(Summary { id, modified, bytes, messages, title: title.unwrap_or_default() })
    }
}

/// The title, or the person's words, in a line that may be cut off.
fn title_in(line: &[u8]) -> Option<String> {
    match serde_json::from_slice(line) {
        Ok(Record::Title(title)) => Some(title),
        Ok(Record::Message(Message::User { content }, _)) => Some(first_words(&content)),
        Ok(_) => None,
        Err(_) => {
            let content = line.strip_prefix(b"{\"role\":\"user\",\"content\":\"")?;
            let start = String::from_utf8_lossy(&content[..content.len().min(8 * WORDS)]);
            // Where the cut fell into an escape sequence, a little less is whole.
            let mut start = start.as_ref();
            for _ in 0..12 {
                if let Ok(text) = serde_json::from_str::<String>(&format!("\"{start}\"")) {
                    return Some(first_words(&text));
                }
                start = &start[..start.char_indices().next_back()?.0];
            }
            None
        }
    }
}
