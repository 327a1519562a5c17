//! What a session costs: its first line, one more line, and 100 MB of them read back.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write};

use autocode::model::message::Message;
use autocode::project::Project;
use autocode::session::{Meta, Session, recent};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use jiff::civil::date;

const LARGE: usize = 100_000_000;

fn append(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let project = Project::at(dir.path());
    let now = date(2026, 9, 11).at(1, 49, 0, 0);
    let result = Message::tool("call_1", "x".repeat(3000));
    criterion.bench_function("first line of a session", |b| {
        b.iter_batched(
            || drop(fs::remove_dir_all(project.sessions())),
            |()| Session::create(&project, now).append(&result, &Meta::now()).unwrap(),
            BatchSize::PerIteration,
        );
    });
    let mut session = Session::create(&project, now);
    criterion.bench_function("one more line", |b| {
        b.iter(|| session.append(&result, &Meta::now()).unwrap());
    });
}

fn load(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let project = Project::at(dir.path());
    fs::create_dir_all(project.sessions()).unwrap();
    let mut file = BufWriter::new(File::create(project.sessions().join("large.jsonl")).unwrap());
    let output = "warning: unused import: `a::b`\n  --> src/\"main\".rs:10:5\n".repeat(60);
    let mut written = 0;
    for n in 0.. {
        let call = serde_json::json!({
            "role": "assistant", "content": null,
            "tool_calls": [{ "id": format!("call_{n}"), "type": "function",
                "function": { "name": "bash", "arguments": "{\"command\":\"cargo check\"}" } }],
            "_meta": { "time": "2026-09-11T01:49:00.123Z", "step": 1 },
        });
        let result = serde_json::json!({
            "role": "tool", "tool_call_id": format!("call_{n}"), "content": output,
            "_meta": { "time": "2026-09-11T01:49:01.123Z" },
        });
        let lines = format!("{call}\n{result}\n");
        written += lines.len();
        file.write_all(lines.as_bytes()).unwrap();
        if written >= LARGE {
            break;
        }
    }
    drop(file);
    let mut group = criterion.benchmark_group("100 MB");
    group.sample_size(10);
    group.bench_function("open", |b| {
        b.iter(|| black_box(Session::open(&project, "large").unwrap()))
    });
    group.bench_function("list", |b| b.iter(|| black_box(recent(&project, 10))));
}

criterion_group!(benches, append, load);
criterion_main!(benches);
