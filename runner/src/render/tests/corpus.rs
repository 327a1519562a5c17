//! The examples of CommonMark and GitHub, and whole documents: nothing lost, nothing too wide.
//!
//! They are read from the folder in `AUTOCODE_CORPUS`.

use std::path::PathBuf;

use serde_json::Value;

use super::*;

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("AUTOCODE_CORPUS").map(|dir| PathBuf::from(dir).join("md"));
    if folder.is_none() {
        println!("left out: AUTOCODE_CORPUS is not set, so no example was rendered");
    }
    folder
}

/// Letters and digits alone: what of a text must be found on the screen.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn is_in_order(wanted: &str, shown: &str) -> bool {
    let mut shown = shown.chars();
    wanted.chars().all(|c| shown.any(|s| s == c))
}

/// The text of an example's HTML.
fn visible(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let hidden =
            [("<!--", "-->"), ("<?", "?>"), ("<", ">")].into_iter().find_map(|(start, end)| {
                let inner = rest.strip_prefix(start)?;
                Some(start.len() + inner.find(end)? + end.len())
            });
        rest = &rest[hidden.unwrap_or(1)..];
    }
    out.push_str(rest);
    let mut text = String::new();
    let mut rest = out.as_str();
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        let end = rest[at..].find(';').map_or(at + 1, |n| at + n + 1);
        text.push_str(match &rest[at..end] {
            "&amp;" => "&",
            "&lt;" => "<",
            "&gt;" => ">",
            "&quot;" => "\"",
            other => other,
        });
        rest = &rest[end..];
    }
    text + rest
}

#[test]
fn every_example_keeps_its_words_in_order() {
    let Some(folder) = corpus() else { return };
    for (name, least) in
        [("commonmark-0.31.2.json", 99.5), ("gfm-0.29.json", 99.0), ("gfm-extensions.json", 90.0)]
    {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let examples: Vec<Value> = serde_json::from_str(&text).unwrap();
        let mut kept = 0;
        for example in &examples {
            let (markdown, html) = (example["markdown"].as_str(), example["html"].as_str());
            let lines = whole(markdown.unwrap(), options(100));
            assert!(lines.iter().all(|line| line.width() <= 100), "{example}");
            let shown = letters(&texts(&lines).concat());
            let wanted = letters(&visible(html.unwrap()));
            if is_in_order(&wanted, &shown) {
                kept += 1;
            } else {
                println!("{name} {}: wanted {wanted:?}, shown {shown:?}", example["example"]);
            }
        }
        #[allow(clippy::cast_precision_loss)]
        let share = 100.0 * f64::from(kept) / examples.len() as f64;
        println!("{name}: {kept} of {} examples keep their words ({share:.1} %)", examples.len());
        assert!(share >= least, "{name}: {share:.1} %");
    }
}

#[test]
fn documents_fit_every_width_and_do_not_depend_on_their_pieces() {
    let Some(folder) = corpus() else { return };
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        for width in [20, 100] {
            let expected = whole(&text, options(width));
            for line in &expected {
                assert!(line.width() <= usize::from(width), "{}: {line:?}", path.display());
            }
            let mut markdown = Markdown::new(options(width));
            let mut lines = Vec::new();
            for piece in pieces(&text, &[7]) {
                markdown.push(piece);
                lines.extend(markdown.take_committed());
            }
            lines.extend(markdown.finish());
            assert_eq!(lines, expected, "{}", path.display());
        }
    }
}
