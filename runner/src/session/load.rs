//! Reading a transcript, whatever happened to it: a torn line, NUL bytes, two lines in one, bytes that are not UTF-8.
//!
//! Invariant: a line that is whole is never lost to another one that is not. Lines end at `\n` alone (U+2028 and the
//! like are part of the text). The file is read line by line, so that memory is what the messages need.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use memchr::memmem;
use serde_json::Deserializer;

use super::record::Record;

/// How every message begins that was ever written here; where a line is broken, what follows may still be whole.
const BEGINNING: &[u8] = b"{\"role\":";
/// Places in one broken line at which that is tried.
const MOST_TRIALS: usize = 64;

/// What a file held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// All that could be read, in order.
    pub records: Vec<Record>,
    /// Lines of which nothing could be read.
    pub lost: usize,
    /// Lines that were damaged and of which something could be read.
    pub damaged: usize,
    /// The last line has no end.
    pub ends_within_a_line: bool,
}

impl Records {
    pub(super) fn warnings(&self) -> Vec<String> {
        let lines = |count: usize| match count {
            1 => "1 line of the transcript".to_owned(),
            count => format!("{count} lines of the transcript"),
        };
        let mut warnings = Vec::new();
        if self.lost > 0 {
            warnings.push(format!("{} could not be read and was left out", lines(self.lost)));
        }
        if self.damaged > 0 {
            warnings.push(format!("{} was damaged and could be read in part", lines(self.damaged)));
        }
        warnings
    }
}

/// Reads the transcript at `path`.
///
/// # Errors
/// When it is no file, or reading fails.
pub fn read(path: &Path) -> io::Result<Records> {
    let meta = std::fs::metadata(path)?;
    if !meta.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    read_lines(BufReader::with_capacity(256 << 10, File::open(path)?))
}

fn read_lines(mut file: impl BufRead) -> io::Result<Records> {
    let mut found = Records::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let zeros = pass_zeros(&mut file)?;
        if file.read_until(b'\n', &mut line)? == 0 {
            found.ends_within_a_line |= zeros;
            found.lost += usize::from(zeros);
            return Ok(found);
        }
        found.ends_within_a_line = !line.ends_with(b"\n");
        let line = line.trim_ascii();
        if line.is_empty() {
            found.lost += usize::from(zeros);
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(record) => {
                found.damaged += usize::from(zeros);
                found.records.push(record);
            }
            Err(_) => {
                let before = found.records.len();
                rescue(line, &mut found.records);
                if found.records.len() == before {
                    found.lost += 1;
                } else {
                    found.damaged += 1;
                }
            }
        }
    }
}

/// Passes over NUL bytes, as many as a crash or a sparse file has of them; whether there were any.
fn pass_zeros(file: &mut impl BufRead) -> io::Result<bool> {
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut any = false;
    loop {
        let bytes = file.fill_buf()?;
        // Whole blocks first, which are compared at once.
        let blocks = bytes.chunks(ZEROS.len()).take_while(|block| **block == ZEROS[..block.len()]);
        let mut count = blocks.map(<[u8]>::len).sum();
        count += bytes[count..].iter().take_while(|byte| **byte == 0).count();
        any |= count > 0;
        let all = count == bytes.len();
        file.consume(count);
        if count == 0 || !all {
            return Ok(any);
        }
    }
}

/// Reads what can be read of a line that is not one whole record.
fn rescue(line: &[u8], records: &mut Vec<Record>) {
    // What a crash leaves of blocks that were never written. No JSON has a bare NUL.
    let line: Vec<u8> = line.iter().copied().filter(|&b| b != 0).collect();
    let line = String::from_utf8_lossy(&line);
    let bytes = line.as_bytes();
    let mut from = 0;
    for _ in 0..MOST_TRIALS {
        let mut values = Deserializer::from_slice(&bytes[from..]).into_iter::<Record>();
        let next = match values.next() {
            Some(Ok(record)) => {
                records.push(record);
                from + values.byte_offset()
            }
            _ => from + 1,
        };
        // Another record may stand right here, or the next message begin somewhere further on.
        from = match bytes.get(next) {
            Some(b'{') if next > from + 1 => next,
            Some(_) => match memmem::find(&bytes[next..], BEGINNING) {
                Some(at) => next + at,
                None => return,
            },
            None => return,
        };
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::super::record::{Line, Meta};
    use super::*;
    use crate::model::message::Message;

    fn line(text: &str) -> Vec<u8> {
        Line::message(&Message::user(text), &Meta::default()).as_bytes().to_vec()
    }

    fn loaded(file: &[u8]) -> (Vec<String>, usize, usize) {
        let found = read_lines(file).unwrap();
        let texts = found.records.into_iter().map(|record| match record {
            Record::Message(Message::User { content }, _) => content,
            other => format!("{other:?}"),
        });
        (texts.collect(), found.lost, found.damaged)
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&t| t.to_owned()).collect()
    }

    #[test]
    fn a_torn_last_line_costs_itself_alone() {
        let mut file = [line("a"), line("b")].concat();
        file.truncate(file.len() - 10);
        assert_eq!(loaded(&file), (texts(&["a"]), 1, 0));
        assert!(read_lines(&file[..]).unwrap().ends_within_a_line);
        assert!(!read_lines(&line("a")[..]).unwrap().ends_within_a_line);
    }

    #[test]
    fn a_line_that_was_appended_to_a_torn_one_is_found() {
        let mut torn = line("torn");
        torn.truncate(torn.len() - 20);
        let file = [torn, line("whole"), line("next")].concat();
        assert_eq!(loaded(&file), (texts(&["whole", "next"]), 0, 1));
    }

    #[test]
    fn two_lines_without_an_end_between_them_are_two() {
        let file = [line("a").trim_ascii(), line("b").trim_ascii(), b"\n"].concat();
        assert_eq!(loaded(&file), (texts(&["a", "b"]), 0, 1));
    }

    #[test]
    fn nul_bytes_are_no_text() {
        let file = [&line("a")[..], &[0; 500], &line("b"), &[0; 9], b"\n", &line("c")].concat();
        assert_eq!(loaded(&file), (texts(&["a", "b", "c"]), 1, 1));
    }

    #[test]
    fn a_bad_line_in_the_middle_costs_itself_alone() {
        let file =
            [line("a"), b"{\"role\":\"user\",\n".to_vec(), b"\xff\xfe\n".to_vec(), line("b")]
                .concat();
        assert_eq!(loaded(&file), (texts(&["a", "b"]), 2, 0));
    }

    #[test]
    fn raw_line_separators_of_unicode_are_text() {
        let file = "{\"role\":\"user\",\"content\":\"a\u{2028}b\u{2029}c\u{85}d\"}\r\n";
        assert_eq!(loaded(file.as_bytes()), (texts(&["a\u{2028}b\u{2029}c\u{85}d"]), 0, 0));
    }

    #[test]
    fn bytes_that_are_not_utf8_cost_themselves_alone() {
        let file = b"{\"role\":\"user\",\"content\":\"a\xffb\"}\n";
        assert_eq!(loaded(file), (texts(&["a\u{fffd}b"]), 0, 1));
    }

    #[test]
    fn what_is_no_file_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read(dir.path()).is_err());
        assert!(read(&dir.path().join("none")).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_between_lines_cost_a_good_line(
            noise in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..80), 1..6),
            cut in 0usize..60,
        ) {
            let mut file = Vec::new();
            let mut expected = Vec::new();
            for (n, noise) in noise.iter().enumerate() {
                let text = format!("good {n} {{\"role\": \n");
                file.extend_from_slice(&line(&text));
                file.extend_from_slice(noise);
                file.push(b'\n');
                expected.push(text);
            }
            let end = file.len();
            file.extend(line("last"));
            file.truncate(end + cut);
            let (texts, _, _) = loaded(&file);
            let good: Vec<_> = texts.into_iter().filter(|t| t.starts_with("good")).collect();
            prop_assert_eq!(good, expected);
        }

        #[test]
        fn a_file_cut_and_written_on_keeps_all_whole_lines(
            cut in 1usize..70,
            junk in proptest::collection::vec(any::<u8>().prop_filter("one line", |b| *b != b'\n'), 0..40),
        ) {
            let mut first = line("first first first first first");
            let whole = first.len();
            first.truncate(cut.min(whole - 2));
            let file = [first, junk, line("second")].concat();
            let (texts, _, _) = loaded(&file);
            prop_assert_eq!(texts.last().map(String::as_str), Some("second"));
        }
    }
}
