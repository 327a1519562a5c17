//! Input that wants to crash, stall or take over: none of it gets further than its own text.

use proptest::prelude::*;

use super::super::{display, inline};

#[test]
fn nothing_but_printable_characters_comes_out() {
    for tex in ["a\u{1b}[31mb", r"\char27 x", "\u{202e}x", r"\text{a\u{7}b}", "\u{0}", "\u{f0000}x"]
    {
        let shown = inline(tex) + &display(tex, 40).join("");
        assert!(shown.chars().all(super::super::is_printable), "{tex:?} gave {shown:?}");
    }
}

#[test]
fn hostile_nesting_is_given_back() {
    let nested = |n: usize, open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(n), close.repeat(n))
    };
    let hostile = [
        nested(2_000, r"\frac{", "a", "}{b}"),
        nested(5_000, "x^{", "", "}"),
        nested(20_000, r"\left(", "", r"\right)"),
        nested(500, r"\text{$", "x", "$}"),
        nested(500, r"\begin{matrix}", "x", r"\end{matrix}"),
        r"\sqrt".repeat(3_000) + "x",
        r"\displaystyle ".repeat(3_000) + "x",
        "{".repeat(50_000),
        r"\def\x{\sqrt\x}\x".to_owned(),
        r"\def\x{\x\x}\x".to_owned(),
    ];
    for tex in hostile {
        assert_eq!(inline(&tex), super::super::as_written(&tex));
        assert_eq!(display(&tex, 80).join(" "), super::super::as_written(&tex));
    }
}

#[test]
fn an_equation_in_the_number_of_another_ends() {
    assert_eq!(inline(r"\tag{\text{$\begin{align}x\tag{y}\end{align}$}}"), "(x  (y))");
}

#[test]
fn long_chains_that_do_not_nest_are_no_danger() {
    for unit in
        [r"\dots", r"\bigl(", r"\bigl(x\bigr)", r"\alpha ", "|x|", r"\not=", "(", r"\foo{x}"]
    {
        let tex = unit.repeat(2_000);
        assert!(!inline(&tex).is_empty());
        assert!(!display(&tex, 80).is_empty());
    }
    let sized = r"\bigl(".repeat(2_000) + &r"\bigr)".repeat(2_000);
    assert_eq!(inline(&sized), "(".repeat(2_000) + &")".repeat(2_000));
}

#[test]
fn the_deepest_nesting_let_through_fits_the_stack_of_a_thread() {
    let deep = |open: &str, close: &str, levels: usize| {
        format!("{}x{}", open.repeat(levels), close.repeat(levels))
    };
    // A thread of a test has 2 MiB, the least any thread of ours has.
    for (open, close) in NESTING {
        let nested = |levels| deep(open, close, levels);
        let most = (1..200)
            .take_while(|n| {
                super::super::rewrite::rewrite(&nested(*n), &super::super::KATEX).is_ok()
            })
            .last()
            .unwrap();
        assert!((10..=super::super::rewrite::MAX_DEPTH).contains(&most), "{open}: {most} levels");
        let _ = inline(&nested(most));
        let _ = display(&nested(most), 200);
        assert_eq!(inline(&nested(most + 1)), nested(most + 1));
    }
}

/// What nests, and what closes it.
const NESTING: &[(&str, &str)] = &[
    ("{", "}"),
    (r"\frac{", "}{y}"),
    (r"\boxed{", "}"),
    ("x_{", "}"),
    (r"\left(", r"\right)"),
    (r"\text{$", "$}"),
    (r"\begin{pmatrix}", r"\end{pmatrix}"),
    (r"\substack{", "}"),
    (r"\begin{align}", r"\end{align}"),
    (r"\overset{a}{", "}"),
    (r"\mathbf{", "}"),
    (r"\displaystyle ", ""),
    (r"\sqrt ", ""),
    (r"\sqrt{", "}"),
    (r"\underbrace{\vec{", "}}"),
    (r"\Set{", "}"),
    (r"\tag{", "}"),
    (r"\raisebox{1em}{", "}"),
];

/// Pieces of TeX, so that random input gets past the first few tokens.
fn tex() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "{",
        "}",
        "{x}",
        "[",
        "]",
        "^",
        "_",
        "'",
        "&",
        r"\\",
        "$",
        "#",
        "%",
        "~",
        "|",
        "+",
        "=",
        "12",
        "a",
        "é",
        "総",
        "😀",
        "\u{301}",
        "\u{1b}",
        " ",
        r"\frac",
        r"\sqrt",
        r"\sqrt[3]",
        r"\left(",
        r"\right)",
        r"\left",
        r"\middle|",
        r"\bigl(",
        r"\bigr)",
        r"\begin{matrix}",
        r"\end{matrix}",
        r"\begin{cases}",
        r"\end{cases}",
        r"\begin{array}{c|c}",
        r"\end{array}",
        r"\begin{CD}",
        r"\end{CD}",
        r"\begin{x}",
        r"\end{x}",
        r"\text{",
        r"\mathbf{",
        r"\over",
        r"\displaystyle",
        r"\hat",
        r"\overline",
        r"\underbrace{",
        r"\xrightarrow[a]{b}",
        r"\ce{",
        r"\SI{",
        r"\newcommand{\x}[1]{#1}",
        r"\x",
        r"\def\y{\y\y}",
        r"\y",
        r"\sum",
        r"\int",
        r"\limits",
        r"\operatorname{",
        r"\not",
        r"\tag{",
        r"\boxed{",
        r"\char65",
        r"\verb|x|",
        r"\verb",
        r"\foo{",
        r"\hline",
        r"\cr",
        r"\\[1em]",
        r"\hspace{1em}",
        r"\Set{",
        r"\dots",
        r"\binom",
        r"\overset",
        r"\prescript",
        r"\dv{",
        r"\qty",
        r"\message{x}",
        r"\global",
        r"\@ifnextchar",
        r"\bgroup",
        r"\egroup",
        r"\phantom{",
        r"\cancel{",
    ];
    let piece = prop_oneof![
        8 => proptest::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..50).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn anything_renders_without_panic_and_is_printable(tex in tex(), width in 0..120_usize) {
        let line = inline(&tex);
        prop_assert!(line.chars().all(super::super::is_printable));
        for row in display(&tex, width) {
            prop_assert!(row.chars().all(super::super::is_printable));
        }
    }

    #[test]
    fn mixed_nesting_fits_the_stack(pieces in proptest::collection::vec(proptest::sample::select(NESTING), 1..90)) {
        let mut tex: String = pieces.iter().map(|(open, _)| *open).collect();
        tex.push('x');
        tex.extend(pieces.iter().rev().map(|(_, close)| *close));
        prop_assert!(!inline(&tex).is_empty());
        prop_assert!(!display(&tex, 80).is_empty());
    }

    #[test]
    fn arbitrary_text_renders_without_panic(tex in any::<String>(), width in 0..120_usize) {
        prop_assert!(inline(&tex).chars().all(super::super::is_printable));
        prop_assert!(display(&tex, width).iter().flat_map(|row| row.chars()).all(super::super::is_printable));
    }
}
