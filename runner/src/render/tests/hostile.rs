//! Text that means harm: no panic, no hang, nothing that acts on a terminal.

use proptest::prelude::*;

use super::*;

/// Whether a character may reach a terminal.
fn is_harmless(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e001f}')
}

fn check(text: &str, width: u16) {
    let options = Options { hyperlinks: true, ..options(width) };
    let lines = whole(text, options);
    let encoder = Encoder::new(ColorDepth::True, true, true);
    for line in &lines {
        assert!(line.width() <= usize::from(width), "{width}: {line:?}");
        assert!(line.text().chars().all(is_harmless), "{line:?}");
        let mut bytes = String::new();
        encoder.line(line, &mut bytes);
        assert_eq!(without_our_sequences(&bytes), line.text());
    }
}

/// The bytes of a line without what the encoder puts between: `CSI … m` and `OSC 8`.
fn without_our_sequences(bytes: &str) -> String {
    let mut out = String::new();
    let mut rest = bytes;
    while let Some(at) = rest.find('\x1b') {
        out.push_str(&rest[..at]);
        let sequence = &rest[at + 1..];
        let (end, ok) = if let Some(link) = sequence.strip_prefix("]8;") {
            let end = link.find("\x1b\\").unwrap();
            (3 + end + 2, link[..end].bytes().all(|b| b.is_ascii_graphic()))
        } else {
            let end = sequence.find('m').unwrap();
            (end + 1, sequence[1..end].bytes().all(|b| b.is_ascii_digit() || b == b';'))
        };
        assert!(ok, "{bytes:?}");
        rest = &sequence[end..];
    }
    out + rest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn arbitrary_bytes_are_shown_safely(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        width in 1u16..100,
    ) {
        check(&String::from_utf8_lossy(&bytes), width);
    }

    #[test]
    fn arbitrary_characters_are_shown_safely(text in "\\PC{0,200}", width in 2u16..100) {
        check(&text, width);
    }

    #[test]
    fn arbitrary_punctuation_is_shown_safely(
        text in "[-*_`~#>|+.:!$&<=\\\\/\"'()\\[\\]{} a1\\n\\t]{0,300}",
        width in 1u16..60,
    ) {
        check(&text, width);
    }
}

#[test]
fn sequences_are_harmless_in_every_construct() {
    let payloads = [
        "\x1b]52;c;x\x07",
        "\x1b]0;x\x1b\\",
        "\x1b]8;;http://evil/\x07",
        "\x1bP+q\x1b\\",
        "\x1b_Ga=T;\x1b\\",
        "\u{9d}0;x\u{9c}",
        "\u{9b}2J",
        "\x1b[2J",
        "\x1b[8m",
        "\x1b[?1049h",
        "\x1b[6n",
        "\x1bc",
        "\x0e",
        "\x1b",
        "\r",
        "\x08",
        "\x07",
        "\x0b",
        "\x0c",
        "\x7f",
        "\u{202e}",
        "\u{2067}",
        "\u{200b}",
        "\u{e0041}",
        "\u{2028}",
        "\0",
    ];
    for payload in payloads {
        let entities: String = payload.chars().map(|c| format!("&#{};", u32::from(c))).collect();
        for p in [payload, &entities] {
            check(
                &format!(
                    "a {p} b\n\n# h {p}\n\n`c {p}` **b {p}** [t {p}](http://x/{p}) <http://x/{p}> \
                     [u](<http://x/{p} y> \"t {p}\") ![i {p}](http://x/{p}) http://x/{p} $x {p}$\n\n\
                     ```sh\ne {p}\n```\n\n```{p}\nx\n```\n\n| {p} | b |\n|---|---|\n| x {p} | y |\n\n\
                     - i {p}\n\n> q {p}\n\n$$\n{p}\n$$\n\n<div title=\"{p}\">{p}</div>\n\nf[^{p}] [r]\n\n\
                     [^1]: n {p}\n\n[r]: http://x/{p}\n"
                ),
                60,
            );
        }
    }
}

#[test]
fn deep_nesting_and_long_runs_are_taken_in_stride() {
    let units = [
        "{",
        "[",
        "(",
        "*",
        "_",
        "**",
        "~~",
        "`",
        ">",
        "> ",
        "<",
        "<b>",
        "<!--",
        "![",
        "[](",
        "](",
        "$",
        "$$",
        "${",
        "\\(",
        "\\[",
        "\\",
        "|",
        "- ",
        "1. ",
        "* ",
        "+ ",
        "#",
        "-",
        "=",
        "&",
        "&#",
        "a@",
        "http://",
        "www.",
        "[^",
        "[^a]: ",
        "[a]: ",
        "\t",
        "*a ",
        "_a_ ",
        "[a",
        "a](b",
        "`a ",
        "\u{301}",
        "日",
        "👨\u{200d}",
        "\\frac{",
        "<a href=\"",
        "***a",
        "a**b",
        "~",
        "!",
    ];
    for unit in units {
        check(&unit.repeat(50_000 / unit.len()), 80);
        let line = unit.repeat(5_000 / unit.len());
        check(
            &format!("- {line}\n\n> {line}\n{line}\n\n# {line}\n\n| {line} | b |\n|---|---|\n"),
            80,
        );
        check(&format!("{unit}\n").repeat(500), 80);
        check(&format!("$${}$$", unit.repeat(2_000)), 80);
    }
}

#[test]
fn one_column_is_enough() {
    let text = "# Head\n\n- a **b**\n  - c\n\n> q\n\n```rust\nfn x() {}\n```\n\n| a | b |\n|-|-|\n| 日 | 2 |\n";
    for width in 1..6 {
        check(text, width);
        screen(text, &[3], Size { width, height: 3 });
    }
}
