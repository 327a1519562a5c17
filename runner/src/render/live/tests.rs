#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::render::style::Style;
use crate::render::{ColorDepth, Encoder};

const WIDTH: u16 = 12;
const HEIGHT: u16 = 6;

fn live() -> Live<Vec<u8>> {
    Live::new(
        Vec::new(),
        Encoder::new(ColorDepth::Ansi16, true, false),
        Size { width: WIDTH, height: HEIGHT },
        Abilities { redraws: true, reflows: false },
    )
}

fn lines(texts: &[&str]) -> Vec<Line> {
    texts.iter().map(|text| Line::of(text, Style::PLAIN)).collect()
}

/// Everything a terminal has to show, scrollback included.
fn screen(bytes: &[u8]) -> Vec<String> {
    let (height, width) = (HEIGHT.try_into().unwrap(), WIDTH.try_into().unwrap());
    let mut terminal = vt100::Parser::new(height, width, 1000);
    terminal.process(bytes);
    let mut rows = Vec::new();
    terminal.screen_mut().set_scrollback(usize::MAX);
    let above = terminal.screen().scrollback();
    for offset in (1..=above).rev() {
        terminal.screen_mut().set_scrollback(offset);
        rows.extend(terminal.screen().rows(0, WIDTH).next());
    }
    terminal.screen_mut().set_scrollback(0);
    rows.extend(terminal.screen().rows(0, WIDTH));
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}

fn written(live: &mut Live<Vec<u8>>) -> String {
    String::from_utf8(std::mem::take(&mut live.out)).unwrap()
}

#[test]
fn text_that_grows_is_appended_and_nothing_else() {
    let mut live = live();
    live.update(&[], lines(&["hel"])).unwrap();
    assert_eq!(written(&mut live), "hel");
    live.update(&[], lines(&["hello"])).unwrap();
    assert_eq!(written(&mut live), "lo");
    live.update(&[], lines(&["hello", "wor"])).unwrap();
    assert_eq!(written(&mut live), "\r\nwor");
    live.update(&lines(&["hello", "world"]), Vec::new()).unwrap();
    assert_eq!(written(&mut live), "ld\r\n");
    live.update(&[], Vec::new()).unwrap();
    assert_eq!(written(&mut live), "");
}

#[test]
fn a_change_further_up_rewrites_only_what_differs() {
    let mut live = live();
    live.update(&[], lines(&["one", "two", "three"])).unwrap();
    written(&mut live);
    live.update(&[], lines(&["one", "tw*", "three"])).unwrap();
    assert_eq!(written(&mut live), "\x1b[?2026h\x1b[1A\x1b[3G*\r\n\x1b[6G\x1b[?2026l");
}

#[test]
fn a_finished_row_that_fills_the_width_is_joined_with_the_next() {
    let mut live = live();
    let mut long = Line::of("abcdefghijkl", Style::PLAIN);
    live.update(&[], vec![long.clone()]).unwrap();
    long.soft = true;
    live.update(&[], vec![long, Line::of("mn", Style::PLAIN)]).unwrap();
    assert_eq!(written(&mut live), "abcdefghijklmn");
}

#[test]
fn a_row_that_shrinks_is_erased_whole_where_rows_are_wrapped_anew() {
    let mut live = live();
    live.abilities.reflows = true;
    live.update(&[], lines(&["abcdefghijkl", "x"])).unwrap();
    written(&mut live);
    live.update(&[], lines(&["abc", "x"])).unwrap();
    assert_eq!(
        written(&mut live),
        "\x1b[?2026h\x1b[1A\x1b[1G\x1b[K\x1b[?7labc\x1b[?7h\r\n\x1b[2G\x1b[?2026l"
    );
    // After a resize too, since a row that the terminal has wrapped stays one with the next.
    live.set_size(Size { width: 6, height: HEIGHT });
    live.update(&[], lines(&["abc", "x"])).unwrap();
    let written = written(&mut live);
    assert!(written.contains("\x1b[Kabc\r\n\x1b[Kx"), "{written:?}");
}

#[test]
fn a_row_without_text_is_not_joined_with_a_full_one() {
    let mut live = live();
    let mut full = Line::of("abcdefghijkl", Style::PLAIN);
    full.soft = true;
    live.update(&[], vec![full, Line::new(), Line::of("mn", Style::PLAIN)]).unwrap();
    assert_eq!(screen(&live.out), ["abcdefghijkl", "", "mn"]);
}

#[test]
fn a_cluster_that_grows_is_written_again_whole() {
    let mut live = live();
    live.update(&[], lines(&["e"])).unwrap();
    live.update(&[], lines(&["e\u{301}x"])).unwrap();
    assert_eq!(written(&mut live), "e\x1b[?2026h\x1b[1Ge\u{301}x\x1b[?2026l");
}

#[test]
fn a_cluster_of_contested_width_leaves_nothing_of_what_was_there() {
    let mut live = live();
    live.update(&[], lines(&["xxxxxx", "-----"])).unwrap();
    live.update(&[], lines(&["❤️ ab", "-----"])).unwrap();
    let mut terminal = vt100::Parser::new(6.try_into().unwrap(), 12.try_into().unwrap(), 0);
    terminal.process(&live.out);
    assert!(!terminal.screen().contents().contains('x'));
    assert!(written(&mut live).contains("\x1b[1G\x1b[K\x1b[?7l❤️\x1b[3G\x1b[K ab\x1b[?7h"));
}

#[test]
fn the_live_region_is_never_taller_than_the_screen() {
    let mut live = live();
    let tall: Vec<_> = (0..20).map(|n| Line::of(&format!("row {n}"), Style::PLAIN)).collect();
    live.update(&[], tall.clone()).unwrap();
    live.update(&tall, Vec::new()).unwrap();
    let expected: Vec<_> = (0..20).map(|n| format!("row {n}")).collect();
    assert_eq!(screen(&live.out), expected);
}

#[test]
fn without_cursor_movement_only_finished_lines_are_drawn() {
    let mut live = live();
    live.abilities.redraws = false;
    live.update(&[], lines(&["open"])).unwrap();
    live.update(&lines(&["done"]), lines(&["open"])).unwrap();
    assert_eq!(written(&mut live), "done\r\n");
}

#[test]
fn a_resize_draws_the_live_region_anew() {
    for reflows in [false, true] {
        let mut live = live();
        live.abilities.reflows = reflows;
        live.update(&lines(&["finished"]), lines(&["0123456789", "x"])).unwrap();
        written(&mut live);
        live.set_size(Size { width: 5, height: HEIGHT });
        live.update(&[], lines(&["01234", "56789", "x"])).unwrap();
        let up = if reflows { 2 } else { 1 };
        assert_eq!(
            written(&mut live),
            format!(
                "\x1b[?2026h\x1b[{up}A\x1b[G\x1b[K01234\r\n\x1b[K56789\r\n\x1b[Kx\r\n\x1b[J\x1b[1A\x1b[2G\x1b[?2026l"
            )
        );
    }
}

#[test]
fn clearing_leaves_no_trace() {
    let mut live = live();
    live.update(&lines(&["kept"]), lines(&["a", "b"])).unwrap();
    live.clear().unwrap();
    live.update(&lines(&["next"]), Vec::new()).unwrap();
    assert_eq!(screen(&live.out), ["kept", "next"]);
}

/// A row of a few words, so that rows often share a beginning or repeat.
fn row() -> impl Strategy<Value = Line> {
    ("(a|ab|b c|日本|abcdefghijkl|é|│|┌|e\u{301}|)", "(x|y|)", any::<bool>()).prop_map(
        |(start, end, bold)| {
            let mut line = Line::of(&start, Style::PLAIN);
            if line.width() < usize::from(WIDTH) {
                line.push(&end, if bold { Style::PLAIN.bold() } else { Style::PLAIN });
            }
            line
        },
    )
}

proptest! {
    #[test]
    fn any_sequence_of_updates_shows_what_was_finished_and_what_is_open(
        updates in prop::collection::vec(
            (prop::collection::vec(row(), 0..4), prop::collection::vec(row(), 0..9)),
            1..12,
        )
    ) {
        let mut live = live();
        let mut finished: Vec<String> = Vec::new();
        for (committed, tail) in updates {
            let open: Vec<_> = tail.iter().map(|l| l.text().to_owned()).collect();
            live.update(&committed, tail).unwrap();
            finished.extend(committed.iter().map(|l| l.text().to_owned()));
            let mut expected = finished.clone();
            expected.extend_from_slice(&open[open.len().saturating_sub(live.capacity())..]);
            while expected.last().is_some_and(String::is_empty) {
                expected.pop();
            }
            let bytes = live.out.clone();
            prop_assert_eq!(screen(&bytes), expected);
        }
    }
}
