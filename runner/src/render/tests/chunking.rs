//! How a text is cut changes nothing of what is shown in the end.

use proptest::prelude::*;

use super::*;

/// Pieces that markdown is made of, and of which it breaks.
const SCRAPS: [&str; 78] = [
    "word ",
    "two words ",
    "\n",
    "\n",
    "\n\n",
    "\n\n",
    "# head\n",
    "## h ##\n",
    "===\n",
    "---\n",
    "- a\n",
    "- ",
    "  - b\n",
    "    more\n",
    "* x\n",
    "1. one\n",
    "2) two\n",
    "10. ten\n",
    "- [ ] t\n",
    "- [x] done\n",
    "> quote\n",
    "> > deep\n",
    "> [!NOTE]\n",
    ">",
    "```rust\n",
    "```\n",
    "~~~~\n",
    "let x = 1; // c\n",
    "    code\n",
    "\tcode\n",
    "| a | b |\n",
    "|---|:-:|\n",
    "| 1 | `2\\|3` |\n",
    "|",
    "a|b\n",
    "**",
    "*",
    "_",
    "__",
    "~~",
    "`",
    "``",
    "[",
    "]",
    "](",
    ")",
    "(",
    "![",
    "<",
    ">",
    "<div>\n",
    "</div>\n",
    "<b>x</b>",
    "<!-- c",
    "-->",
    "<br>",
    "[a]: /url\n",
    "[a]",
    "[^1]",
    "[^1]: note\n",
    "\\",
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "$x_1$",
    "$$\n",
    "$$",
    "$5 ",
    "&amp;",
    "&#27;",
    "https://x.org/a_b ",
    "\r\n",
    "\r",
    "日本語。",
    "é",
    "\u{1b}[31m",
    "\0",
];

fn text() -> impl Strategy<Value = String> {
    let scraps = prop::collection::vec(prop::sample::select(&SCRAPS[..]), 0..60);
    scraps.prop_map(|scraps| scraps.concat())
}

fn in_pieces(text: &str, sizes: &[usize], width: u16) -> Vec<Line> {
    let mut markdown = Markdown::new(options(width));
    let mut lines = Vec::new();
    for piece in pieces(text, sizes) {
        markdown.push(piece);
        // Looking at what is open must not change it.
        let _ = markdown.tail(10);
        lines.extend(markdown.take_committed());
    }
    lines.extend(markdown.finish());
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_cutting_gives_the_same_lines(
        text in text(),
        sizes in prop::collection::vec(1usize..40, 1..8),
        width in prop::sample::select(&[1u16, 7, 20, 80][..]),
    ) {
        prop_assert_eq!(in_pieces(&text, &sizes, width), whole(&text, options(width)));
    }

    #[test]
    fn any_cutting_gives_the_same_screen(
        text in text(),
        sizes in prop::collection::vec(1usize..40, 1..8),
        width in prop::sample::select(&[20u16, 40, 80][..]),
        height in 4u16..12,
    ) {
        let size = Size { width, height };
        let mut expected: Vec<String> = whole(&text, options(width))
            .iter()
            .map(|line| line.text().trim_end().to_owned())
            .collect();
        while expected.last().is_some_and(String::is_empty) {
            expected.pop();
        }
        let mut shown = screen(&text, &sizes, size);
        shown.iter_mut().for_each(|row| row.truncate(row.trim_end().len()));
        prop_assert_eq!(shown, expected);
    }

    #[test]
    fn long_lines_and_paragraphs_are_cut_at_places_that_do_not_depend_on_the_pieces(
        words in prop::collection::vec(prop::sample::select(&[
            "word ", "**bold** ", "*open ", "`code` ", "`open ", "[link](http://x) ", "$x$ ", "é",
            "\n", "[a ", "] ", "日本", "www.x.org/a ", "**unclosed ",
        ][..]), 1..400),
        repeat in 1usize..40,
        size in 1usize..9000,
    ) {
        let text = words.concat().repeat(repeat);
        let mut markdown = Markdown::new(options(80));
        let mut lines = Vec::new();
        for piece in pieces(&text, &[size]) {
            markdown.push(piece);
            lines.extend(markdown.take_committed());
        }
        lines.extend(markdown.finish());
        prop_assert_eq!(lines, whole(&text, options(80)));
    }
}

#[test]
fn a_long_block_in_a_small_terminal_leaves_no_row_twice_and_none_out() {
    let code: String = (0..200).map(|n| format!("let x{n} = {n};\n")).collect();
    let table: String = (0..60).map(|n| format!("| row {n} | {n} |\n")).collect();
    let text = format!("Code:\n\n```rust\n{code}```\n\n| a | b |\n|---|--:|\n{table}\nEnd.\n");
    let shown = screen(&text, &[7], Size { width: 80, height: 24 });
    for n in 0..200 {
        let line = format!("let x{n} = {n};");
        assert_eq!(shown.iter().filter(|row| **row == line).count(), 1, "{line}");
    }
    for n in 0..60 {
        let start = format!("│ row {n} ");
        assert_eq!(shown.iter().filter(|row| row.starts_with(&start)).count(), 1, "{start}");
    }
    assert_eq!(shown.last().unwrap(), "End.");
}

#[test]
fn a_wide_table_streamed_by_characters_is_aligned_and_whole() {
    let text = "| 名前 | a | b | c | d | e | f |\n|---|--:|:-:|---|---|---|---|\n\
                | 田中太郎 | 1 | 🚀 | long text in here | x | y | last |\n";
    let shown = screen(text, &[1], Size { width: 80, height: 24 });
    let bars = |row: &str| -> Vec<usize> {
        row.match_indices(['│', '┬', '┌', '┐'])
            .map(|(at, _)| super::super::width(&row[..at]))
            .collect()
    };
    assert_eq!(bars(&shown[0]).len(), 8);
    assert_eq!(bars(&shown[1]), bars(&shown[0]));
    assert_eq!(bars(&shown[3]), bars(&shown[0]));
    assert!(shown[3].contains("last"));
}

#[test]
fn a_resize_while_streaming_neither_repeats_nor_loses_a_word() {
    let words: Vec<_> = (0..120).map(|n| format!("w{n}")).collect();
    let text = words.join(" ");
    let mut size = Size { width: 60, height: 30 };
    let mut markdown = Markdown::new(options(size.width));
    let mut live = Live::new(
        Vec::new(),
        Encoder::new(ColorDepth::None, true, false),
        size,
        Abilities { redraws: true, reflows: false },
    );
    let mut terminal = vt100::Parser::new(30.try_into().unwrap(), 60.try_into().unwrap(), 100);
    for (n, piece) in pieces(&text, &[5]).enumerate() {
        if n % 20 == 19 {
            size.width = [30, 45, 60][n / 20 % 3];
            terminal.screen_mut().set_size(30.try_into().unwrap(), size.width.try_into().unwrap());
            live.set_size(size);
            markdown.resize(size.width);
        }
        markdown.push(piece);
        live.update(&[], markdown.tail(live.capacity())).unwrap();
        terminal.process(&std::mem::take(live.get_mut()));
    }
    live.update(&markdown.finish(), Vec::new()).unwrap();
    terminal.process(live.get_mut());
    let shown = terminal.screen().contents();
    assert_eq!(shown.split_whitespace().collect::<Vec<_>>(), words);
}
