#![allow(clippy::unwrap_used)]

use super::*;

/// The blocks of a text, one a line: gaps as `~`, containers indented.
fn outline(text: &str) -> String {
    let mut blocks = Blocks::new();
    let mut sink = Outline::default();
    for line in text.lines() {
        blocks.line(line, &mut sink);
    }
    blocks.finish(&mut sink);
    sink.out
}

#[derive(Default)]
struct Outline {
    out: String,
    depth: usize,
}

impl Sink for Outline {
    fn block(&mut self, block: Block<'_>, gap: bool, _: &Refs) {
        if block == Block::Leave {
            self.depth -= 1;
            return;
        }
        let gap = if gap { "~" } else { "" };
        let shown = match &block {
            Block::Enter(Container::Item { marker, task }) => {
                let number = marker.number.map_or(String::new(), |n| n.to_string());
                let task = task.map_or("", |done| if done { " done" } else { " open" });
                format!("item {number}{}{task}", char::from(marker.sign))
            }
            Block::Enter(Container::Quote(alert)) => {
                format!("quote{}", alert.map_or(String::new(), |a| format!(" {a:?}")))
            }
            Block::Enter(Container::Footnote(label)) => format!("note {label}"),
            Block::Heading { level, text } => format!("h{level} {}", text.replace('\n', "/")),
            Block::Paragraph { text, .. } => format!("p {}", text.replace('\n', "/")),
            Block::Code { info } => format!("code {info}"),
            Block::CodeLine(line) | Block::HtmlLine(line) => format!("  {line}"),
            Block::CodeEnd | Block::HtmlEnd | Block::TableEnd => return,
            Block::Html => "html".to_owned(),
            Block::Table { head, aligns } => format!("table {head} ({})", aligns.len()),
            Block::TableRow(row) => format!("  {row}"),
            Block::Formula(tex) => format!("formula {}", tex.replace('\n', "/")),
            Block::Rule => "rule".to_owned(),
            Block::Definition(late) => format!("late {}", late.label),
            Block::Leave => return,
        };
        let indent = "  ".repeat(self.depth);
        self.out += format!("{indent}{gap}{shown}").trim_end();
        self.out.push('\n');
        self.depth += usize::from(matches!(block, Block::Enter(_)));
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let expected: Vec<_> = expected.lines().collect();
    assert_eq!(outline(text).lines().collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn a_paragraph_takes_lines_until_something_begins() {
    check("a\nb\n\nc\n# d\ne\n---\nf\n***\n", "p a/b\n~p c\nh1 d\nh2 e\np f\nrule");
}

#[test]
fn items_hold_blocks_and_know_the_gaps_before_them() {
    check(
        "1. a\n\n   b\n2. c\n   - d\n\n\n5. e\n",
        "item 1.\n  p a\n  ~p b\nitem 2.\n  p c\n  item -\n    p d\n~item 3.\n  p e",
    );
}

#[test]
fn a_fence_in_an_item_is_handed_on_line_by_line() {
    check(
        "- a\n  ```rs x\n  fn\n\n    in\n  ```\n  b\n",
        "item -\n  p a\n  code rs x\n    fn\n\n      in\n  p b",
    );
}

#[test]
fn text_goes_on_lazily_but_blocks_do_not() {
    check("> a\nb\n> - c\nd\n", "quote\n  p a/b\n  item -\n    p c/d");
    check("> a\n- b\n", "quote\n  p a\nitem -\n  p b");
    check("> ```\n> x\ny\n", "quote\n  code\n    x\np y");
}

#[test]
fn numbers_in_prose_are_no_lists() {
    check("in\n2020. was\n-\n", "h2 in/2020. was");
    check("text\n1. one\n", "p text\nitem 1.\n  p one");
}

#[test]
fn indented_code_keeps_the_empty_lines_inside() {
    check("    a\n\n      b\n\nc\n", "code\n  a\n\n    b\n~p c");
}

#[test]
fn tables_begin_with_their_delimiters() {
    check(
        "text\n| a | b |\n|---|:-:|\n| 1 | 2 |\nx\n\nafter\n",
        "p text\ntable | a | b | (2)\n  | 1 | 2 |\n  x\n~p after",
    );
    check("| a | b |\n|---|\n", "p | a | b |/|---|");
    check("a\n-\n", "h2 a");
}

#[test]
fn tasks_alerts_and_notes_are_recognised() {
    check(
        "- [x] a\n- [ ] b\n- [y] c\n\n> [!TIP]\n> d\n\n[^n]: e\n",
        "item - done\n  p a\nitem - open\n  p b\nitem -\n  p [y] c\n~quote Tip\n  p d\n~note n\n  p e",
    );
}

#[test]
fn a_formula_takes_lines_until_it_closes() {
    check("a\n$$\nx\n- y\n$$\nb\n", "p a\nformula /x/- y/\np b");
    check("\\[ x = 1 \\]\n$$ a $$.\n", "formula  x = 1\nformula  a .");
    check("$$\nnever closed\n\nb\n", "p $$/never closed\n~p b");
    check("$$ is the shell's pid\n", "p $$ is the shell's pid");
}

#[test]
fn definitions_disappear_unless_they_came_too_late() {
    check("[a]: /x\n[b]: /y\ntext\n", "p text");
    let mut blocks = Blocks::new();
    let mut sink = Outline::default();
    blocks.refs.find("late");
    blocks.line("[late]: /x", &mut sink);
    blocks.finish(&mut sink);
    assert_eq!(sink.out, "~late late\n");
}

#[test]
fn html_ends_with_an_empty_line_or_with_its_own_end() {
    check("<div>\n*a*\n\nb\n", "html\n  <div>\n  *a*\n~p b");
    check("<!-- a\n\nb -->\nc\n", "html\n  <!-- a\n\n  b -->\np c");
}

#[test]
fn a_long_paragraph_is_handed_on_in_parts_that_add_up() {
    struct Parts(Vec<(String, bool)>);
    impl Sink for Parts {
        fn block(&mut self, block: Block<'_>, _: bool, _: &Refs) {
            if let Block::Paragraph { text, ends } = block {
                self.0.push((text.to_owned(), ends));
            }
        }
    }
    let line = "some **bold** words and *more\nof* them\n".repeat(400);
    let mut blocks = Blocks::new();
    let mut parts = Parts(Vec::new());
    line.lines().for_each(|line| blocks.line(line, &mut parts));
    blocks.finish(&mut parts);
    let (text, ends): (Vec<_>, Vec<_>) = parts.0.into_iter().unzip();
    assert!(text.len() > 3);
    assert_eq!(text.concat(), line.trim_end());
    assert_eq!(ends.iter().filter(|ends| **ends).count(), 1);
}
