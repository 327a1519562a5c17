//! What streaming markdown costs: documents in 7-byte pieces, and how the cost grows with them.

use std::hint::black_box;

use autocode::render::{Abilities, Encoder};
use autocode::render::{ColorDepth, Live, Markdown, Options, Size};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Pieces between two pictures: what a fast model sends in a sixtieth of a second.
const PIECES_PER_FRAME: usize = 64;

fn stream(text: &str) -> usize {
    let options =
        Options { width: 80, color: ColorDepth::True, dark: true, hyperlinks: false, ascii: false };
    let encoder = Encoder::new(options.color, options.dark, options.hyperlinks);
    let size = Size { width: 80, height: 40 };
    let abilities = Abilities { redraws: true, reflows: false };
    let mut live = Live::new(Vec::new(), encoder, size, abilities);
    let mut markdown = Markdown::new(options);
    let mut rest = text;
    let mut pieces = 0;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(7.min(rest.len())));
        markdown.push(piece);
        rest = after;
        pieces += 1;
        if pieces % PIECES_PER_FRAME == 0 {
            let lines = markdown.take_committed();
            let _ = live.update(&lines, markdown.tail(live.capacity()));
        }
    }
    let mut lines = markdown.take_committed();
    lines.extend(markdown.finish());
    let _ = live.update(&lines, Vec::new());
    live.into_inner().len()
}

/// A document of about so many bytes.
type Document = fn(usize) -> String;

fn prose(bytes: usize) -> String {
    "The loop reads a **file**, edits `it` and runs the tests again, until [nothing](http://x) fails.\n\n"
        .repeat(bytes / 100)
}

fn paragraph(bytes: usize) -> String {
    "word **bold** `code` *it* ".repeat(bytes / 26)
}

fn list(bytes: usize) -> String {
    (1..=bytes / 56)
        .map(|n| format!("{n}. item **{n}** with `code` and a little more text\n"))
        .collect()
}

fn table(bytes: usize) -> String {
    let rows = (0..bytes / 53).map(|n| format!("| {n} | item `{n}` | some **bold** note {n} |\n"));
    "| # | name | note |\n|--:|:-----|------|\n".to_owned() + &rows.collect::<String>()
}

fn code(bytes: usize) -> String {
    let lines = (0..bytes / 80)
        .map(|n| format!("    let value_{n}: u64 = compute({n}, \"text {n}\"); // comment {n}\n"));
    format!("```rust\n{}```\n", lines.collect::<String>())
}

fn documents(c: &mut Criterion) {
    let kinds: [(&str, Document); 5] = [
        ("prose", prose),
        ("paragraph", paragraph),
        ("list", list),
        ("table", table),
        ("code", code),
    ];
    let mut group = c.benchmark_group("render");
    group.sample_size(10);
    for (name, document) in kinds {
        // Ten times the text may take twelve times as long.
        for bytes in [100_000, 1_000_000] {
            let text = document(bytes);
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_with_input(BenchmarkId::new(name, bytes), &text, |b, text| {
                b.iter(|| black_box(stream(text)));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, documents);
criterion_main!(benches);
