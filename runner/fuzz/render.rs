//! Any bytes as a reply: no panic, no control character on the screen, no row wider than the terminal, and the same
//! rows whether the text comes at once or in pieces.
//!
//! `cargo fuzz run --fuzz-dir runner/fuzz render` looks for bytes that break this;
//! `cargo run -p autocode-fuzz --bin render FILE…` runs what it found.

#![cfg_attr(fuzzing, no_main)]

use autocode::render::{ColorDepth, Line, Markdown, Options};

/// The first byte is the terminal's width, the second the length of the pieces, the rest the text.
fn one(bytes: &[u8]) {
    let [width, piece, text @ ..] = bytes else { return };
    let text = String::from_utf8_lossy(text);
    let width = u16::from(*width % 120) + 1;
    let options =
        Options { width, color: ColorDepth::True, dark: true, hyperlinks: true, ascii: false };
    let mut whole = Markdown::new(options);
    whole.push(&text);
    let mut expected = whole.take_committed();
    expected.extend(whole.finish());

    let mut streamed = Markdown::new(options);
    let mut rows = Vec::new();
    let mut rest = text.as_ref();
    while !rest.is_empty() {
        let (head, tail) = rest.split_at(rest.ceil_char_boundary(usize::from(*piece % 16) + 1));
        streamed.push(head);
        rows.extend(streamed.take_committed());
        streamed.tail(5).iter().for_each(|row| check(row, width));
        rest = tail;
    }
    rows.extend(streamed.finish());
    rows.iter().for_each(|row| check(row, width));
    let texts = |rows: &[Line]| rows.iter().map(|row| row.text().to_owned()).collect::<Vec<_>>();
    // A reference may be defined after a piece that used it was shown.
    if !text.contains("]:") {
        assert_eq!(texts(&rows), texts(&expected));
    }
}

fn check(row: &Line, width: u16) {
    assert!(row.width() <= usize::from(width), "{} cells: {:?}", row.width(), row.text());
    assert!(!row.text().chars().any(char::is_control), "{:?}", row.text());
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| one(bytes));

#[cfg(not(fuzzing))]
fn main() -> std::io::Result<()> {
    for file in std::env::args_os().skip(1) {
        println!("{}", file.display());
        one(&std::fs::read(file)?);
    }
    Ok(())
}
