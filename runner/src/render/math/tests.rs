//! What a reader of a formula sees, construct by construct.

#![allow(clippy::unwrap_used)]

mod corpus;
mod hostile;
mod layouts;

use super::{display, inline};

/// Each formula with the line it has to give.
fn lines(cases: &[(&str, &str)]) {
    for (tex, expected) in cases {
        assert_eq!(inline(tex), *expected, "{tex}");
    }
}

#[test]
fn operators_and_relations_are_spaced_and_signs_are_not() {
    lines(&[
        ("a+b=c", "a + b = c"),
        ("-x", "−x"),
        ("(-1)+2", "(−1) + 2"),
        ("x=-\\sin t", "x = −sin t"),
        ("2\\sin(x)\\cos x", "2 sin(x) cos x"),
        ("f:A\\to B", "f : A → B"),
        ("e^{a+b}", "eᵃ⁺ᵇ"),
        ("x\\,dx \\quad y", "x dx  y"),
    ]);
}

#[test]
fn a_fraction_has_parentheses_only_where_it_would_read_differently() {
    lines(&[
        (r"\frac{a}{b}", "a/b"),
        (r"\frac{a+b}{c}", "(a + b)/c"),
        (r"\frac{1}{2a}", "1/(2a)"),
        (r"\frac{dy}{dx}", "dy/dx"),
        (r"\frac{a}{b}c", "(a/b)c"),
        (r"2\frac{10}{7}", "2(10/7)"),
        (r"1+\frac{a}{b}", "1 + a/b"),
        (r"-\frac{a}{b}", "−a/b"),
        (r"\frac{\sin x}{x}", "(sin x)/x"),
        (r"\frac{1}{(a+b)}", "1/(a + b)"),
        (r"\frac{f(x)}{g(x)}", "f(x)/g(x)"),
        (r"\frac{n!}{k!(n-k)!}", "n!/(k!(n − k)!)"),
        (r"\frac12mv^2", "½mv²"),
        (r"\left(\frac ab\right)^2", "(a/b)²"),
        (r"\frac{\frac ab}{c}", "(a/b)/c"),
        (r"\sin\frac{x}{2}", "sin(x/2)"),
        (r"\sum_n\frac{1}{n^2}", "∑ₙ 1/n²"),
    ]);
}

#[test]
fn scripts_use_characters_or_are_marked_off() {
    lines(&[
        ("x_i^2", "xᵢ²"),
        ("x^{2\\pi}", "x^(2π)"),
        ("x_b", "x_b"),
        ("x_bc", "x_b c"),
        ("x^2_b", "x²_b"),
        ("A^\\top", "Aᵀ"),
        ("A^*", "A*"),
        ("f'''(x)", "f‴(x)"),
        ("90^\\circ", "90°"),
        ("a_{i,j}", "aᵢ,ⱼ"),
        ("x^{(α)}", "x^(α)"),
        ("{ab}^2", "(ab)²"),
        ("\\mathrm{SO}_4", "SO₄"),
        ("10^{-3}", "10⁻³"),
        ("\\lim_{x\\to0}(x)", "lim_(x→0) (x)"),
        ("\\int_0^\\infty f", "∫₀^∞ f"),
    ]);
}

#[test]
fn roots_bracket_what_is_not_one_thing() {
    lines(&[
        (r"\sqrt2", "√2"),
        (r"\sqrt{16}", "√16"),
        (r"\sqrt{x+1}", "√(x + 1)"),
        (r"\sqrt{(x+1)}", "√(x + 1)"),
        (r"\sqrt{x^2}", "√(x²)"),
        (r"\sqrt[3]{x}", "∛x"),
        (r"\sqrt[n]{x}", "ⁿ√x"),
        (r"\sqrt[a+\pi]{x}", "(a+π)√x"),
    ]);
}

#[test]
fn bars_are_brackets_where_they_come_in_pairs() {
    lines(&[
        ("|-x|+|y|^2", "|−x| + |y|²"),
        ("P(A|B)", "P(A|B)"),
        (r"\{x|x>0\}", "{x | x > 0}"),
        (r"\|x\|_2", "∥x∥₂"),
    ]);
}

#[test]
fn tables_read_row_by_row() {
    lines(&[
        (r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", "(a, b; c, d)"),
        (r"\begin{aligned}a&=b\\&=c\end{aligned}", "a = b; = c"),
        (r"\begin{cases}1&x>0\\0&\text{else}\end{cases}", "{1, x > 0; 0, else"),
        (r"2\begin{matrix}a\\b\end{matrix}", "2[a; b]"),
        (r"\sum_{\substack{i<n\\j<m}}", "∑_(i<n, j<m)"),
        (r"\begin{multline*}a\\b\end{multline*}", "a; b"),
    ]);
}

#[test]
fn an_equation_keeps_its_number() {
    lines(&[
        (r"x = 1 \tag{1}", "x = 1  (1)"),
        (r"a \tag*{A} \\ b \tag{2}", "a  A; b  (2)"),
        (r"\begin{align} a &= b \tag{1} \\ c &= d \end{align}", "a = b  (1); c = d"),
    ]);
    assert_eq!(display(r"\frac ab \tag{1}", 80), ["a", "─    (1)", "b"]);
}

#[test]
fn numbers_keep_their_digits_together() {
    lines(&[
        ("1{,}000", "1,000"),
        ("1,234.5", "1,234.5"),
        ("f(1,2)", "f(1, 2)"),
        ("[0,100]", "[0, 100]"),
    ]);
}

#[test]
fn unknown_commands_stay_and_the_rest_is_rendered() {
    lines(&[
        (r"\foo{\alpha}+\frac12", r"\foo{α} + ½"),
        (r"\foo x", r"\foo x"),
        (r"\alpha\nosuch", r"α\nosuch"),
        (r"\begin{nosuch}\beta\end{nosuch}", r"\begin{nosuch}β\end{nosuch}"),
    ]);
}

#[test]
fn broken_input_stays_as_it_was_written() {
    for tex in
        [r"\frac{1}{\sqrt{2", r"\left(x", "a}b", "x^", r"\begin{matrix}a", r"\right)", "{", "\\"]
    {
        assert_eq!(inline(tex), tex, "{tex}");
        assert_eq!(display(tex, 80), [tex], "{tex}");
    }
}

#[test]
fn what_models_write_carelessly_still_renders() {
    lines(&[
        (r"\text{batch_size & x^2}", "batch_size & x^2"),
        ("100% + 5\\%", "100% + 5%"),
        (r"\boxed{$x$}", "[x]"),
        (r"a &= b \\ c &= d", "a = b; c = d"),
        (r"\left\{ x \right}", "{x}"),
        (r"\begin{array}{p{2cm}@{}c} a & b \end{array}", "a, b"),
        (r"a \\ [x] \\[2pt] b", "a; [x]; b"),
        (r"\big a", "a"),
    ]);
}

#[test]
fn definitions_hold_within_their_formula() {
    lines(&[
        (r"\newcommand{\R}{\mathbb{R}}\R^n", "ℝⁿ"),
        (r"\newcommand{\f}[2]{#1/#2}\f{a}{b}", "a/b"),
        (r"\newcommand{\f}[2][x]{#1+#2}\f{y}+\f[z]{y}", "x + y + z + y"),
        (r"\def\sq#1{#1^2}\sq a", "a²"),
        (r"\let\a\alpha\a", "α"),
        (r"\DeclareMathOperator{\rk}{rk}\rk A", "rk A"),
        (r"\R", "ℝ"),
        (r"\sq", r"\sq"),
    ]);
}

#[test]
fn chemistry_and_units() {
    lines(&[
        (r"\ce{2H2 + O2 -> 2H2O}", "2H₂ + O₂ → 2H₂O"),
        (r"\ce{SO4^2-}", "SO₄²⁻"),
        (r"\ce{[Fe(CN)6]^4-}", "[Fe(CN)₆]⁴⁻"),
        (r"\ce{^{227}_{90}Th+}", "²²⁷₉₀Th⁺"),
        (r"\ce{A <=> B v}", "A ⇌ B ↓"),
        (r"\ce{A ->[H2O] B}", "A ─H₂O→ B"),
        (r"\SI{3e8}{\metre\per\second}", "3 × 10⁸ m s⁻¹"),
        (r"\ang{30;15}", "30°15′"),
    ]);
}

#[test]
fn commands_that_print_or_reprogram_the_parser_are_only_shown() {
    lines(&[
        (r"\message{hi}", r"\message{hi}"),
        (r"\show\x", r"\show\x"),
        (r"\ce{\show\x}", r"\show\x"),
        (r"\expandafter\x", r"\expandafter\x"),
    ]);
}

#[test]
fn a_separator_of_lines_in_a_broken_formula_does_not_begin_a_row() {
    assert_eq!(inline("{\u{2028}a"), "{ a");
}
