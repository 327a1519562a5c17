//! What a command costs over what starting bash costs by itself.
#![allow(missing_docs, clippy::unwrap_used)]

use std::ffi::c_char;
use std::ptr::null;

use autocode::env::Env;
use autocode::project::Project;
use autocode::tools::bash::{Bash, Command};
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

unsafe extern "C" {
    static environ: *const *mut c_char;
}

/// The least that running `bash -c true` takes.
fn floor() {
    let arguments = [c"bash", c"-c", c"true"].map(|word| word.as_ptr().cast_mut());
    let arguments = [&arguments[..], &[std::ptr::null_mut()]].concat();
    let (mut pid, mut status) = (0, 0);
    // SAFETY: every pointer is to a value that outlives the call; both arrays end with null.
    unsafe {
        let path = c"/bin/bash".as_ptr();
        let failed =
            libc::posix_spawn(&raw mut pid, path, null(), null(), arguments.as_ptr(), environ);
        assert_eq!(failed, 0);
        libc::waitpid(pid, &raw mut status, 0);
    }
    assert_eq!(status, 0);
}

fn step(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let bash = Bash::new(&Env::from_process().unwrap(), &Project::at(dir.path()));
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let cancel = CancellationToken::new();
    let run = |text: &str| {
        let command = Command::new(text);
        runtime.block_on(bash.execute(&command, 30_000, &cancel, &|_| {})).unwrap()
    };
    let mut group = criterion.benchmark_group("step");
    group.bench_function("floor", |b| b.iter(floor));
    group.bench_function("true", |b| b.iter(|| run("true")));
    group.bench_function("cd", |b| b.iter(|| run("cd .")));
    group.bench_function("a megabyte of output", |b| b.iter(|| run("head -c 1M /dev/zero")));
}

criterion_group!(benches, step);
criterion_main!(benches);
