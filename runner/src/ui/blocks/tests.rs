//! Blocks as text.

use super::*;

fn texts(lines: &[Line]) -> Vec<&str> {
    lines.iter().map(Line::text).collect()
}

fn ok(content: &str) -> ToolResult {
    ToolResult { content: content.into(), status: ToolStatus::Ok, elapsed: Duration::ZERO }
}

fn narrow() -> Blocks {
    let options =
        Options { width: 20, color: ColorDepth::None, dark: true, hyperlinks: false, ascii: true };
    Blocks::new(options)
}

#[test]
fn many_tools_to_which_the_same_happens_take_one_line() {
    let named = |n: usize| format!("t{n}");
    let mut changes: Vec<ToolChange> = (0..5).map(|n| ToolChange::Compiling(named(n))).collect();
    changes.extend((5..8).map(|n| ToolChange::Added(named(n))));
    changes.push(ToolChange::Broken("b".into(), "why".into()));
    let lines = Blocks::plain(true).tools(&changes);
    assert_eq!(
        texts(&lines)[..4],
        [
            "... tools t0, t1, t2 and 2 more are being compiled",
            "+ tool t5",
            "+ tool t6",
            "+ tool t7"
        ]
    );
    assert!(texts(&lines)[4].ends_with("tool b is broken: why"), "{lines:?}");
}

#[test]
fn a_command_is_shown_as_it_is_and_arguments_as_pairs() {
    let blocks = Blocks::plain(false);
    assert_eq!(texts(&blocks.call("bash", r#"{"command":"a\nb"}"#)), ["● bash  a", "  b"]);
    let call = blocks.call("add", r#"{"a":1,"note":"x y"}"#);
    assert_eq!(texts(&call), [r#"● add  a=1 note="x y""#]);
}

#[test]
fn a_long_result_shows_its_first_lines_and_how_many_are_left() {
    let lines: Vec<String> = (1..=20).map(|n| n.to_string()).collect();
    let block = Blocks::plain(false).result(&ok(&lines.join("\n")));
    assert_eq!(texts(&block)[5..], ["    6", "    … +14 lines"]);
}

#[test]
fn one_line_more_is_shown_rather_than_counted() {
    assert_eq!(Blocks::plain(false).result(&ok("1\n2\n3\n4\n5\n6\n7")).len(), 7);
}

#[test]
fn rows_of_a_preview_fit_the_terminal_in_ascii_where_it_has_no_more() {
    let block = narrow().result(&ok("a line of output that is too long"));
    assert_eq!(texts(&block), ["  | a line of out..."]);
    let call = narrow().call("bash", r#"{"command":"echo a command that is too long"}"#);
    assert_eq!(texts(&call), ["* bash  echo a co..."]);
}

#[test]
fn a_sentence_is_broken_between_words_and_a_row_below_its_second_column() {
    let blocks = narrow();
    let rows = blocks.note(Level::Warning, "the key is not one that the server knows");
    assert_eq!(texts(&rows), ["! the key is not", "  one that the", "  server knows"]);
    let rows = blocks.note(Level::Info, "/cost  tokens and money spent");
    assert_eq!(texts(&rows), ["/cost  tokens and", "       money spent"]);
}

#[test]
fn an_interrupt_is_told_once() {
    let cancelled = |content: &str| ToolResult { status: ToolStatus::Cancelled, ..ok(content) };
    let blocks = Blocks::plain(false);
    assert_eq!(blocks.result(&cancelled("a\n[interrupted by the user; killed]")).len(), 2);
    assert_eq!(blocks.result(&cancelled("a")).len(), 2);
}

#[test]
fn figures_read_well() {
    let figures = [950, 12_400, 128_000, 1_200_000].map(tokens);
    assert_eq!(figures, ["950", "12.4k", "128k", "1.2M"]);
    assert_eq!(elapsed(Duration::from_secs(200)), "3 min 20 s");
}
