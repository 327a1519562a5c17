//! The threads that guests run on.
//!
//! A guest may block in a system call (a named pipe in the project, a slow disk), and nothing but its own thread waits
//! for it then. An idle thread is kept for a while: waking it costs less than starting another.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long a thread waits for more work.
const KEEP: Duration = Duration::from_secs(5);

type Job = Box<dyn FnOnce() + Send>;

struct Crew {
    jobs: VecDeque<Job>,
    idle: usize,
}

static CREW: Mutex<Crew> = Mutex::new(Crew { jobs: VecDeque::new(), idle: 0 });
static WORK: Condvar = Condvar::new();

/// Runs `job` on a thread of the crew.
///
/// # Errors
/// When no thread can be had; the job is dropped then.
pub(crate) fn run(job: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let mut crew = CREW.lock().unwrap_or_else(PoisonError::into_inner);
    if crew.idle > crew.jobs.len() {
        crew.jobs.push_back(Box::new(job));
        drop(crew);
        WORK.notify_one();
        return Ok(());
    }
    drop(crew);
    std::thread::Builder::new()
        .name("wasm-guest".into())
        .spawn(move || work(Box::new(job)))
        .map(drop)
}

fn work(first: Job) {
    let mut job = Some(first);
    while let Some(work) = job.take() {
        work();
        job = next();
    }
}

/// The next job, or nothing when none came for a while.
fn next() -> Option<Job> {
    let mut crew = CREW.lock().unwrap_or_else(PoisonError::into_inner);
    crew.idle += 1;
    let waited = WORK.wait_timeout_while(crew, KEEP, |crew| crew.jobs.is_empty());
    crew = waited.unwrap_or_else(PoisonError::into_inner).0;
    crew.idle -= 1;
    crew.jobs.pop_front()
}
