//! The fault matrix: everything that can go wrong with a reply, everywhere it can. Whatever happens, the answer is
//! whole or there is none, nothing half is run, and the next request is valid.

use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use autocode_tests::server::{Fault, ReasoningField, Refusing, Spot};
use autocode_tests::{Reply, Run, Server, TestEnv, valid_history};

use crate::AUTOCODE;

const ANSWER: &str = "The whole answer.\n";

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Refuse,
    Reset,
    Stall,
    Cut,
    TooMany,
    ServerError,
    Html,
    BadJson,
    BadUtf8,
    SlowDrip,
}

/// Where.
const SPOTS: [Spot; 5] =
    [Spot::BeforeHeaders, Spot::InText, Spot::InReasoning, Spot::InArguments, Spot::BeforeDone];

const KINDS: [Kind; 10] = [
    Kind::Refuse,
    Kind::Reset,
    Kind::Stall,
    Kind::Cut,
    Kind::TooMany,
    Kind::ServerError,
    Kind::Html,
    Kind::BadJson,
    Kind::BadUtf8,
    Kind::SlowDrip,
];

/// One cell.
#[derive(Clone, Copy)]
struct Cell(Kind, Spot);

impl Cell {
    /// A connection that is refused has no reply in which it could be refused.
    fn exists(self) -> bool {
        self.0 != Kind::Refuse || self.1 == Spot::BeforeHeaders
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<12} {:<14}", format!("{:?}", self.0), format!("{:?}", self.1))
    }
}

/// A reply that thinks, talks, and calls a command that leaves a mark twice.
fn step() -> Reply {
    Reply::bash("echo first >> log; echo second >> log")
        .saying("Let me see what is there.")
        .thinking(ReasoningField::Content, "I had better look.")
}

/// The step with the fault in it.
fn faulty(Cell(kind, spot): Cell) -> Reply {
    let error_event = |status: u16| {
        let error =
            serde_json::json!({ "error": { "message": "upstream failed", "code": status } });
        format!("\n\ndata: {error}\n\n").into_bytes()
    };
    let before = spot == Spot::BeforeHeaders;
    match kind {
        Kind::Refuse => unreachable!("not a reply"),
        Kind::Reset => step().fault(spot, Fault::Reset),
        Kind::Stall => step().fault(spot, Fault::Stall),
        Kind::Cut => step().fault(spot, Fault::Cut),
        Kind::TooMany if before => Reply::error(429, "slow down").header("Retry-After", "0"),
        Kind::ServerError if before => Reply::error(500, "upstream failed"),
        Kind::Html if before => Reply::html().with_status(502),
        Kind::BadJson if before => Reply::bytes("application/json", b"{\"choices\": [{"),
        Kind::BadUtf8 if before => Reply::bytes("application/json", b"\xff\xfe{}"),
        Kind::TooMany => {
            step().fault(spot, Fault::Insert(error_event(429))).fault(spot, Fault::End)
        }
        Kind::ServerError => {
            step().fault(spot, Fault::Insert(error_event(500))).fault(spot, Fault::End)
        }
        Kind::Html => {
            let page = b"\n<html><body>502 Bad Gateway</body></html>\n".to_vec();
            step().fault(spot, Fault::Insert(page)).fault(spot, Fault::End)
        }
        Kind::BadJson => {
            step().fault(spot, Fault::Insert(b"\n\ndata: {\"choices\": [{]}\n\n".to_vec()))
        }
        Kind::BadUtf8 => step().fault(spot, Fault::Insert(b"\xc3\x28\xff".to_vec())),
        Kind::SlowDrip => step().fault(spot, Fault::Drip(Duration::from_micros(200))),
    }
}

/// Plays one cell: the fault, then a good step, then the answer.
fn play(cell: Cell) -> Result<&'static str, String> {
    if !cell.exists() {
        return Ok("there is no such fault: what is refused has not begun");
    }
    let (server, url) = match cell.0 {
        Kind::Refuse => (None, Refusing::port()),
        _ => {
            let server = Server::start();
            server.reply(faulty(cell));
            (Some(server), Refusing::port())
        }
    };
    let mut env = TestEnv::new(AUTOCODE);
    env.set("AUTOCODE_TIMEOUT", "1");
    let (run, server) = match server {
        Some(server) => {
            answer_well(&server);
            env.use_url(&server.url());
            (env.cmd(["-p", "go"]).run(), server)
        }
        None => {
            env.use_url(&url.url()).set("AUTOCODE_RETRY_BASE_MS", "300");
            let running = env.cmd(["-p", "go"]).spawn();
            running.wait_for_stderr("refuses");
            let server = url.open();
            answer_well(&server);
            (running.wait(), server)
        }
    };
    judge(&run, &server, &env)
}

/// A step for a conversation that has no result yet, the answer for one that has.
fn answer_well(server: &Server) {
    server.respond(|request| {
        if request.last_message()["role"] == "tool" {
            Reply::text(ANSWER.trim_end())
        } else {
            step()
        }
    });
}

fn judge(run: &Run, server: &Server, env: &TestEnv) -> Result<&'static str, String> {
    let told = || {
        format!("\nexit {:?}\n── stdout ──\n{}\n── stderr ──\n{}", run.code, run.stdout, run.stderr)
    };
    for request in server.requests() {
        valid_history(&request.messages())
            .map_err(|why| format!("request {}: {why}{}", request.number, told()))?;
    }
    let log = if env.has("log") { env.read("log") } else { String::new() };
    if log != "first\nsecond\n" {
        return Err(format!("the command ran {log:?}{}", told()));
    }
    match (run.code, run.stdout.as_str()) {
        (Some(0), ANSWER) if run.stderr.contains("trying again") => {
            Ok("answered after another try")
        }
        (Some(0), ANSWER) if server.requests().len() == 2 => {
            Ok("answered, the fault did not matter")
        }
        _ => Err(format!("expected exit 0 and the answer{}", told())),
    }
}

#[test]
fn every_fault_in_every_place_ends_in_the_whole_answer() {
    let cells: Vec<Cell> =
        KINDS.into_iter().flat_map(|kind| SPOTS.map(|spot| Cell(kind, spot))).collect();
    let (next, results) = (Mutex::new(0), Mutex::new(Vec::new()));
    // Most of a cell is waiting, so several are played at once.
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let at = {
                        let mut next = next.lock().unwrap();
                        *next += 1;
                        *next - 1
                    };
                    let Some(cell) = cells.get(at) else { return };
                    let outcome = std::panic::catch_unwind(|| play(*cell))
                        .unwrap_or_else(|_| Err("the harness gave up, see above".to_owned()));
                    results.lock().unwrap().push((at, outcome));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(at, _)| *at);
    let mut failed = 0;
    for (at, outcome) in &results {
        let shown =
            outcome.as_ref().map_or_else(|why| format!("FAILED: {why}"), |how| (*how).to_owned());
        println!("-p  {} {shown}", cells[*at]);
        failed += usize::from(outcome.is_err());
    }
    assert_eq!(failed, 0, "{failed} of {} cells failed", results.len());
}
