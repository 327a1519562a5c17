//! Every command of the README does what it says.

use autocode_tests::pty::Size;
use autocode_tests::{Reply, TestEnv};

use crate::{AUTOCODE, scripted};

const README: &str = include_str!("../../README.md");

/// The commands of the first shell block after a heading, without their comments.
fn commands(heading: &str) -> Vec<String> {
    let section = README.split(heading).nth(1).unwrap();
    let block = section.split("```bash\n").nth(1).unwrap().split("```").next().unwrap();
    block.lines().map(|line| line.split(" # ").next().unwrap().trim().to_owned()).collect()
}

/// The words of a command line that quotes with `"` and `'` only.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in command.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ' ') => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn the_tool_that_it_makes_works() {
    let env = TestEnv::new(AUTOCODE);
    env.write("README.md", "one\ntwo\n");
    let commands = commands("## Tools");
    assert_eq!(commands.len(), 3);
    let mut last = String::new();
    for command in commands {
        let words = words(&command);
        assert_eq!(words[0], "autocode");
        let run = env.cmd(words[1..].iter().map(String::as_str)).run();
        run.require(run.code == Some(0), &command);
        last = run.stdout.clone();
    }
    assert!(last.contains("lines"), "{last}");
}

#[test]
fn the_one_shot_commands_answer() {
    let shots: Vec<String> =
        commands("## Use it").into_iter().filter(|command| command.contains(" -p ")).collect();
    assert_eq!(shots.len(), 2);
    for command in shots {
        let (_server, env) = scripted([Reply::text("done")]);
        let (piped, own) = command.split_once(" | ").unwrap_or(("", &command));
        let words = words(own);
        env.cmd(words[1..].iter().map(String::as_str)).stdin(piped).run().answered("done\n");
    }
}

#[test]
fn drift_is_shown_and_undone() {
    let (_server, env) = scripted([Reply::text("done")]);
    env.cmd(["-p", "hi"]).run().answered("done\n");
    env.write(".autocode/prompt.md", "You are someone else.\n");
    let diff = env.cmd(["--diff"]).run();
    diff.require(diff.code == Some(1) && diff.stdout.contains("someone else"), "the drift");
    let reset = env.cmd(["--reset"]).run();
    reset.require(reset.code == Some(0) && reset.stdout.contains("prev"), "where the old one is");
    let diff = env.cmd(["--diff"]).run();
    diff.require(diff.code == Some(0) && diff.stdout.is_empty(), "no drift");
}

#[test]
fn every_command_of_the_prompt_is_listed_once() {
    let (_server, env) = scripted([]);
    let pty = env.pty(Size::new(120, 40), []);
    crate::repl::prompt_shown(&pty);
    pty.enter("/help");
    let screen = pty.wait_for_text("While it works, just type");
    let rows = screen.rows.iter().filter(|row| row.starts_with('/'));
    let calls: Vec<&str> = rows.map(|row| row.split("  ").next().unwrap()).collect();
    assert!(calls.len() > 10, "{}", screen.text());
    for call in &calls {
        assert_eq!(README.matches(&format!("\n| `{call}` |")).count(), 1, "{call}");
    }
    assert_eq!(README.matches("\n| `/").count(), calls.len());
}
