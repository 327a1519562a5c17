//! The REPL as a person feels it: how long until there is a prompt, what it costs to leave it open, how long the list
//! of files takes.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use autocode_tests::TestEnv;
use autocode_tests::pty::{Pty, Size};

use crate::Effort;
use crate::child::cpu_of;
use crate::rounds::{Contestant, in_turns};
use crate::start::answering;
use crate::subjects::{Subjects, on_path};
use crate::table::{Goal, Table, Unit};

const SIZE: Size = Size::new(80, 24);

/// What nothing but the prompt draws, on an empty screen.
const PROMPT: &str = "❯";

/// How long a prompt is left alone.
const IDLE: Duration = Duration::from_secs(2);

/// Directories of the project whose files are listed, and files in each.
const TREE: (usize, usize) = (1000, 100);

pub(crate) fn measure(subjects: &Subjects, effort: Effort, table: &mut Table) -> Result<()> {
    let server = answering();
    let env = subjects.place(&server);
    first_prompt(&env, effort, table)?;
    idle(&env, table);
    files(&env, effort, table)
}

fn prompt(env: &TestEnv) -> Pty {
    let pty = env.pty(SIZE, []);
    pty.wait_for_bytes(PROMPT.as_bytes());
    pty
}

fn first_prompt(env: &TestEnv, effort: Effort, table: &mut Table) -> Result<()> {
    let ours = || {
        let begun = Instant::now();
        let pty = prompt(env);
        let took = begun.elapsed().as_secs_f64();
        drop(pty);
        Ok(took)
    };
    let bash = on_path("bash").context("there is no bash")?;
    let theirs = || {
        let begun = Instant::now();
        env.program_in_pty(&bash, SIZE, ["-i", "-c", "exit"]).wait_exit();
        Ok(begun.elapsed().as_secs_f64())
    };
    let contestants =
        vec![Contestant::new("autocode", ours), Contestant::new("bash -i -c exit", theirs)];
    let samples = in_turns(effort.rounds, contestants)?;
    table.row("start to first prompt", Unit::Seconds, &samples, &[Goal::AtMost(0.025)]);
    Ok(())
}

fn idle(env: &TestEnv, table: &mut Table) {
    let what = "processor time of a prompt in 2 s";
    let pty = prompt(env);
    let cpu = || pty.pid().and_then(cpu_of);
    // What the start still has to do is not what waiting costs.
    std::thread::sleep(IDLE / 4);
    let before = cpu();
    std::thread::sleep(IDLE);
    match before.zip(cpu()) {
        Some((before, after)) => {
            table.single(what, Unit::Seconds, after - before, &[Goal::AtMost(0.001)]);
        }
        None => table.left_out(what, "this system does not tell"),
    }
}

fn files(env: &TestEnv, effort: Effort, table: &mut Table) -> Result<()> {
    let (directories, files) = TREE;
    for directory in 0..directories {
        let path = env.project().join(format!("dir_{directory:03}"));
        std::fs::create_dir_all(&path)?;
        for file in 0..files {
            std::fs::write(path.join(format!("file_{file:02}.rs")), "")?;
        }
    }
    let find = on_path("find").context("there is no find")?;
    let ours = || {
        let pty = prompt(env);
        let begun = Instant::now();
        pty.type_text("@").wait_for_text("dir_003/");
        Ok(begun.elapsed().as_secs_f64())
    };
    let theirs = || {
        let begun = Instant::now();
        env.program(&find).stdout(std::process::Stdio::null()).status()?;
        Ok(begun.elapsed().as_secs_f64())
    };
    let rounds = effort.rounds / 3;
    let contestants = vec![Contestant::new("autocode", ours), Contestant::new("find", theirs)];
    let samples = in_turns(rounds, contestants)?;
    let goals = [Goal::AtMost(0.5)];
    table.row("@ among 100,000 files, until the list is shown", Unit::Seconds, &samples, &goals);

    let pty = prompt(env);
    pty.type_text("@").wait_for_text("dir_003/");
    let further = || {
        let begun = Instant::now();
        pty.type_text("d421file7").wait_for("the list of what matches", |screen| {
            screen.rows.iter().any(|row| row.contains("❯ dir_421/file_7"))
        });
        let took = begun.elapsed().as_secs_f64();
        pty.send(b"\x15@").wait_for_text("dir_003/");
        Ok(took)
    };
    let samples = in_turns(rounds, vec![Contestant::new("autocode", further)])?;
    table.row("the same when more is typed", Unit::Seconds, &samples, &[Goal::AtMost(0.05)]);
    Ok(())
}
