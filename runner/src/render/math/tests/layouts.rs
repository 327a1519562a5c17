//! Snapshots of two-dimensional layouts: read them to see what a change does to the picture.

use super::super::display;

/// Compares the formulas, as they are drawn in so many cells, with the snapshot of this name.
fn gallery(name: &str, width: usize, formulas: &[&str]) {
    let mut out = String::new();
    for tex in formulas {
        out.push_str("$ ");
        out.push_str(tex);
        for row in display(tex, width) {
            out.push('\n');
            out.push_str(&row);
        }
        out.push_str("\n\n");
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, out));
}

#[test]
fn fractions_and_roots() {
    gallery(
        "fractions_and_roots",
        80,
        &[
            r"x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}",
            r"\frac{a}{\frac{b}{c}} + \frac12 mv^2 - \tfrac12",
            r"\cfrac{1}{1+\cfrac{1}{1+\cfrac{1}{x}}}",
            r"\sqrt{\frac{a+b}{c}} + \sqrt[3]{\frac{a}{b}} + \sqrt{x} + \sqrt{x+1}",
            r"\binom{n}{k} = \frac{n!}{k!(n-k)!}",
        ],
    );
}

#[test]
fn scripts_and_limits() {
    gallery(
        "scripts_and_limits",
        80,
        &[
            r"e^{i\pi} + 1 = 0",
            r"T_{\text{cold}}^{(\alpha)} + x_i^2 + x_i^{\beta\pi}",
            r"\sum_{i=0}^{\infty} \frac{1}{i!} = e",
            r"\lim_{n \to \infty} \left(1 + \frac{1}{n}\right)^n = e",
            r"\int_{-\infty}^{\infty} e^{-x^2}\,dx = \sqrt{\pi}",
            r"\int_0^1 x^2\,dx = \left.\frac{x^3}{3}\right|_0^1 = \frac13",
            r"\iint_D f\,dA + \oint_C g",
            r"\prod_{\substack{0<i<m\\0<j<n}} P(i,j)",
            r"\frac{\sum_{i=1}^n x_i}{n}",
        ],
    );
}

#[test]
fn tables() {
    gallery(
        "tables",
        80,
        &[
            r"A = \begin{bmatrix} a_{11} & \cdots & a_{1n} \\ \vdots & \ddots & \vdots \\ a_{m1} & \cdots & a_{mn} \end{bmatrix}",
            r"\left[\begin{array}{cc|c} 1 & 2 & 3 \\ \hline 4 & 5 & 6 \end{array}\right]",
            r"|x| = \begin{cases} x & x \ge 0 \\ -x & x < 0 \end{cases}",
            r"\begin{aligned} (a+b)^2 &= a^2 + 2ab + b^2 \\ &= \frac{x}{y} \end{aligned}",
            r"\begin{align} a &= b & c &= d \tag{1} \\ aa &= bb & cc &= dd \end{align}",
            r"\begin{vmatrix} \frac{\partial X}{\partial u} & 0 \\ 1 & 2 \end{vmatrix}",
            r"\begin{array}{|c|c|} \hline p & q \\ \hline 0 & 1 \\ \hline \end{array}",
            r"\begin{CD} A @>a>> B \\ @VbVV @VVcV \\ C @= D \end{CD}",
        ],
    );
}

#[test]
fn brackets_marks_and_arrows() {
    gallery(
        "brackets_marks_and_arrows",
        80,
        &[
            r"\left\{ \frac{a}{b} \middle| \frac{c}{d} \right\} \left\langle \frac{e}{f} \right\rangle \left\lfloor \frac{g}{h} \right\rfloor",
            r"\Big( \frac{a}{b} \Big)^2 + \left\| \frac{x}{y} \right\|",
            r"\underbrace{1 + 1 + \cdots + 1}_{n \text{ times}} + \overbrace{a+b}^{c}",
            r"\overline{A \cup B} = \overline{A} \cap \overline{B}, \quad \overrightarrow{AB} + \vec{v} + \widehat{ABC}",
            r"\boxed{E = mc^2}",
            r"A \xrightarrow{f} B \xrightarrow[below]{above} C \xleftrightarrow{} D",
            r"a \stackrel{?}{=} b \overset{!}{=} c",
            r"\ce{CO2 + C ->[\Delta] 2CO}",
        ],
    );
}

#[test]
fn what_is_too_wide_is_broken_before_relations_and_operators() {
    gallery(
        "too_wide",
        40,
        &[
            r"f(x) = a_0 + a_1 x + a_2 x^2 + a_3 x^3 + a_4 x^4 + \frac{a_5 x^5}{5!} + \cdots = \sum_{k=0}^n a_k x^k \le M",
            r"\begin{aligned} f(x) &= a_0 + a_1 x + a_2 x^2 + a_3 x^3 + a_4 x^4 + a_5 \\ &= \sum_{k=0}^n a_k x^k \end{aligned}",
            r"\begin{pmatrix} aaaaaaaaaa & bbbbbbbbbb & cccccccccc & dddddddddd \\ 1 & 2 & 3 & 4 \end{pmatrix}",
        ],
    );
}
