//! What a command prints: both ends in bounded memory, all of it in a file once it is too long for the model.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use super::super::clip::{Size, Whole, clip_keeping, fits, join};
use super::super::out::OutDir;

/// Bytes of one command's output that are kept; what comes after them is counted only.
const MOST_KEPT: u64 = 1 << 30;
/// Bytes of a piece for the live view; of more than that the newest are shown.
const LIVE_PIECE: usize = 8 << 10;

/// Collects output as it comes.
pub(super) struct Capture<'a> {
    /// Characters that go to the model.
    limit: usize,
    out: &'a OutDir,
    /// All of the output, or its beginning when there is a `rest`.
    start: Vec<u8>,
    rest: Option<Rest>,
}

/// Output that is surely too long: its end, its size, and where the whole is.
struct Rest {
    end: Vec<u8>,
    size: Size,
    kept: Kept,
}

enum Kept {
    File { file: File, path: PathBuf, bytes: u64, whole: bool },
    Lost(String),
}

impl<'a> Capture<'a> {
    pub(super) fn new(limit: usize, out: &'a OutDir) -> Self {
        Self { limit, out, start: Vec::new(), rest: None }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        // A character has at most four bytes: what is longer than this in bytes is over the limit in characters.
        let most = self.limit.saturating_mul(4);
        if self.rest.is_none() && self.start.len() + bytes.len() <= most {
            self.start.extend_from_slice(bytes);
            return;
        }
        let rest = self.rest.get_or_insert_with(|| {
            let mut rest =
                Rest { end: Vec::new(), size: Size::default(), kept: Kept::new(self.out) };
            rest.push(&self.start, most);
            rest
        });
        rest.push(bytes, most);
        let missing = most.saturating_sub(self.start.len());
        self.start.extend_from_slice(&bytes[..missing.min(bytes.len())]);
    }

    /// The text for the model.
    pub(super) fn finish(self) -> String {
        let start = readable(&self.start);
        match self.rest {
            None if fits(&start, self.limit) => start,
            None => clip_keeping(&start, &self.start, self.limit, self.out),
            Some(rest) => {
                let whole = match &rest.kept {
                    Kept::File { path, whole: true, .. } => Whole::At(path),
                    Kept::File { path, bytes, .. } => Whole::Begins(path, *bytes),
                    Kept::Lost(reason) => Whole::Lost(reason),
                };
                let end = readable(from_character(&rest.end));
                join(&start, &end, rest.size, self.limit, &whole)
            }
        }
    }
}

impl Rest {
    fn push(&mut self, bytes: &[u8], most: usize) {
        self.size.add(Size::of(bytes));
        self.kept.push(bytes);
        self.end.extend_from_slice(&bytes[bytes.len().saturating_sub(most)..]);
        if self.end.len() > most.saturating_mul(2) {
            self.end.drain(..self.end.len() - most);
        }
    }
}

impl Kept {
    fn new(out: &OutDir) -> Self {
        match out.create() {
            Ok((file, path)) => Self::File { file, path, bytes: 0, whole: true },
            Err(error) => Self::Lost(error.to_string()),
        }
    }

    fn push(&mut self, more: &[u8]) {
        let Self::File { file, path, bytes, whole } = self else { return };
        let room = usize::try_from(MOST_KEPT - *bytes).unwrap_or(usize::MAX);
        let fitting = &more[..more.len().min(room)];
        *whole &= fitting.len() == more.len();
        if let Err(error) = file.write_all(fitting) {
            let _ = fs::remove_file(path);
            *self = Self::Lost(error.to_string());
        } else {
            *bytes += fitting.len() as u64;
        }
    }
}

/// Output for people who watch: the newest of it, in pieces.
#[derive(Default)]
pub(super) struct Live {
    pending: Vec<u8>,
}

impl Live {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(&bytes[bytes.len().saturating_sub(LIVE_PIECE)..]);
        if self.pending.len() > LIVE_PIECE {
            self.pending.drain(..self.pending.len() - LIVE_PIECE);
        }
    }

    /// What came since the last piece, but for a character that is not whole yet.
    pub(super) fn take(&mut self) -> Option<String> {
        let whole = self.pending.len() - unfinished(&self.pending);
        let text = readable(from_character(&self.pending[..whole]));
        self.pending.drain(..whole);
        (!text.is_empty()).then_some(text)
    }
}

/// Valid text: what is not UTF-8, and NUL, which many a server refuses in JSON, become U+FFFD.
fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if memchr::memchr(0, bytes).is_some() {
        text.replace('\0', "\u{fffd}")
    } else {
        text.into_owned()
    }
}

/// `bytes` without the end of a character whose beginning was cut off.
fn from_character(bytes: &[u8]) -> &[u8] {
    let cut = bytes.iter().take(3).take_while(|&&b| b & 0xC0 == 0x80).count();
    &bytes[cut..]
}

/// How many bytes at the end are the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    (1..=bytes.len().min(3))
        .find(|&back| {
            let needed = match bytes[bytes.len() - back] {
                0xC2..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xF4 => 4,
                _ => 0,
            };
            needed > back
        })
        .unwrap_or(0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn captured(pieces: &[&[u8]], limit: usize) -> (String, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        let out = OutDir::new(dir.path().join("out"));
        let mut capture = Capture::new(limit, &out);
        for piece in pieces {
            capture.push(piece);
        }
        (capture.finish(), dir)
    }

    fn only_file(dir: &tempfile::TempDir) -> Vec<u8> {
        let mut files = fs::read_dir(dir.path().join("out")).unwrap();
        fs::read(files.next().unwrap().unwrap().path()).unwrap()
    }

    #[test]
    fn output_within_the_limit_leaves_no_file() {
        let (text, dir) = captured(&[b"abc", b"def"], 6);
        assert_eq!(text, "abcdef");
        assert!(!dir.path().join("out").exists());
    }

    #[test]
    fn the_file_holds_every_byte_however_they_came() {
        let whole: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        for size in [1, 7, 1000, 10_000] {
            let (text, dir) = captured(&whole.chunks(size).collect::<Vec<_>>(), 100);
            assert_eq!(only_file(&dir), whole);
            assert!(text.chars().count() < 400);
        }
    }

    #[test]
    fn multibyte_output_is_measured_in_characters() {
        let text = "語".repeat(100);
        assert_eq!(captured(&[text.as_bytes()], 100).0, text);
        let (clipped, dir) = captured(&[text.as_bytes()], 50);
        assert!(clipped.starts_with(&"語".repeat(25)) && clipped.ends_with(&"語".repeat(25)));
        assert!(clipped.contains("\n[... 50 characters left out; full output: "));
        assert_eq!(only_file(&dir), text.as_bytes());
    }

    #[test]
    fn a_directory_that_cannot_be_written_loses_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("out"), "").unwrap();
        let out = OutDir::new(dir.path().join("out"));
        let mut capture = Capture::new(10, &out);
        capture.push(&[b'a'; 1000]);
        let text = capture.finish();
        assert!(text.starts_with("aaaaa\n[... 990 characters left out; the full output could not"));
        assert!(text.ends_with("aaaaa"));
    }

    #[test]
    fn a_live_piece_waits_for_the_rest_of_a_character() {
        let mut live = Live::default();
        live.push(&"aé".as_bytes()[..2]);
        assert_eq!(live.take().as_deref(), Some("a"));
        assert_eq!(live.take(), None);
        live.push(&"é".as_bytes()[1..]);
        assert_eq!(live.take().as_deref(), Some("é"));
    }

    #[test]
    fn the_live_view_shows_the_newest_of_much_output() {
        let mut live = Live::default();
        live.push("語".repeat(10_000).as_bytes());
        let text = live.take().unwrap();
        assert!(text.len() <= LIVE_PIECE && text.chars().all(|c| c == '語'));
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_give_the_same_valid_text(
            bytes in proptest::collection::vec(any::<u8>(), 0..400),
            size in 1usize..50,
            limit in 1usize..120,
        ) {
            let stamp = |text: String| text.split("full output").next().unwrap().to_owned();
            let (whole, _a) = captured(&[&bytes], limit);
            let (pieces, _b) = captured(&bytes.chunks(size).collect::<Vec<_>>(), limit);
            prop_assert!(!whole.contains('\0'));
            prop_assert_eq!(stamp(whole), stamp(pieces));
        }
    }
}
