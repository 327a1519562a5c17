//! The tables of symbols and formulas, where they are given: `AUTOCODE_CORPUS` names the folder.
//! Prints its figures.

use std::path::PathBuf;

use super::super::alphabets::{Font, styled};
use super::super::{display, inline};

/// The rows of a table without its head, or nothing where there is no corpus.
fn table(name: &str) -> Option<Vec<Vec<String>>> {
    let Some(corpus) = std::env::var_os("AUTOCODE_CORPUS") else {
        println!("left out: {name}, since AUTOCODE_CORPUS is not set");
        return None;
    };
    let text = std::fs::read_to_string(PathBuf::from(corpus).join("latex").join(name)).unwrap();
    let rows = text.lines().skip(1).filter(|row| !row.is_empty());
    Some(rows.map(|row| row.split('\t').map(str::to_owned).collect()).collect())
}

/// Without spaces, and with every styled letter back in its plain form.
fn folded(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '\u{2061}').map(plain).collect()
}

fn plain(c: char) -> char {
    let fonts = ["mathbb", "mathfrak", "mathcal", "mathit", "mathbf"];
    let letters = ('a'..='z').chain('A'..='Z').chain('Α'..='Ω');
    let same =
        |letter: &char| fonts.iter().any(|font| styled(*letter, Font::default().with(font)) == c);
    if c.is_ascii() { c } else { letters.into_iter().find(same).unwrap_or(c) }
}

/// Share of rows that pass, printed.
fn measure(name: &str, rows: &[Vec<String>], passes: impl Fn(&[String]) -> bool) -> f64 {
    let failed: Vec<&str> =
        rows.iter().filter(|row| !passes(row)).map(|row| row[0].as_str()).collect();
    let share = 100.0 * (rows.len() - failed.len()) as f64 / rows.len() as f64;
    println!("{name}: {share:.1} % of {}; not: {}", rows.len(), failed.join(" "));
    share
}

#[test]
fn symbols_come_out_as_katex_has_them() {
    let Some(rows) = table("katex-symbols.tsv") else { return };
    let share = measure("symbols", &rows, |row| {
        let (shown, expected) = (inline(&row[0]), &row[1]);
        let alternates = row.get(4).map_or("", String::as_str);
        row[2] == "space" && shown.trim().is_empty()
            || folded(&shown) == folded(expected)
            || alternates.split_whitespace().any(|other| folded(other) == folded(&shown))
    });
    assert!(share >= 99.0);
}

#[test]
fn alphabets_scripts_negations_and_accents_have_their_characters() {
    for name in ["alphabets.tsv", "scripts.tsv", "not-accents.tsv"] {
        let Some(rows) = table(name) else { return };
        let share = measure(name, &rows, |row| {
            let shown = inline(&row[0]).replace(' ', "");
            row[1].split('|').any(|accepted| accepted.replace(' ', "") == shown)
        });
        assert!(share >= 99.0);
    }
}

#[test]
fn no_formula_keeps_a_command_or_a_brace_it_did_not_ask_for() {
    let Some(rows) = table("formulas.tsv") else { return };
    let braces = [r"\{", r"\}", "brace", r"\lvert", "Bmatrix", "cases", r"\Set", r"\genfrac"];
    let clean = |tex: &str, shown: &str| {
        let asked = braces.iter().any(|brace| tex.contains(brace));
        !shown.contains(['\\']) && (asked || !shown.contains(['{', '}']))
    };
    let share = measure("formulas, one line", &rows, |row| clean(&row[2], &inline(&row[2])));
    assert!(share >= 97.0);
    let share = measure("formulas, two dimensions", &rows, |row| {
        clean(&row[2], &display(&row[2], 100).join(""))
    });
    assert!(share >= 97.0);
}

#[test]
fn no_row_is_wider_than_the_width_unless_it_is_a_whole_equation() {
    let Some(rows) = table("formulas.tsv") else { return };
    for row in &rows {
        for width in [20, 40, 80] {
            let shown = display(&row[2], width);
            let wide = shown.iter().any(|row| super::super::block::width(row) > width);
            let nodes = super::super::parse(&row[2]).unwrap();
            assert!(!wide || shown == super::super::equations(&nodes), "{} at {width}", row[2]);
        }
    }
}
