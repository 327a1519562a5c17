//! The fault matrix: everything that can go wrong with a reply, everywhere it can. Whatever happens, the answer is
//! whole or there is none, nothing half is run, and the next request is valid.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autocode_tests::pty::{Pty, Size};
use autocode_tests::server::{Fault, ReasoningField, Refusing, Spot};
use autocode_tests::{Reply, Request, Run, Server, TestEnv, valid_history};

use crate::AUTOCODE;
use crate::repl::prompt_shown;

const ANSWER: &str = "The whole answer.\n";

/// What the model says to the message after the fault.
const NEXT: &str = "The next answer.";

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

/// How a cell went, or why it failed.
type Outcome = Result<&'static str, String>;

/// Where autocode finds its model in a cell.
enum Endpoint {
    /// It has the fault and then good replies.
    Server(Server),
    /// It refuses until somebody opens it.
    Refusing(Refusing),
}

impl Endpoint {
    fn of(cell: Cell, env: &mut TestEnv) -> Self {
        env.set("AUTOCODE_TIMEOUT", "1");
        if cell.0 == Kind::Refuse {
            let port = Refusing::port();
            env.use_url(&port.url()).set("AUTOCODE_RETRY_BASE_MS", "300");
            return Self::Refusing(port);
        }
        let server = Server::start();
        server.reply(faulty(cell));
        answer_well(&server);
        env.use_url(&server.url());
        Self::Server(server)
    }

    /// The server, opened once `refused` has been seen.
    fn open(self, refused: impl FnOnce()) -> Server {
        match self {
            Self::Server(server) => server,
            Self::Refusing(port) => {
                refused();
                let server = port.open();
                answer_well(&server);
                server
            }
        }
    }
}

/// A step for a conversation that has no result yet, the answer for one that has, another one for the next message.
fn answer_well(server: &Server) {
    server.respond(|request| match request.last_message() {
        message if message["role"] == "tool" => Reply::text(ANSWER.trim_end()),
        message if message["content"] == "and now?" => Reply::text(NEXT),
        _ => step(),
    });
}

/// Plays one cell with `-p`: the fault, then a good step, then the answer.
fn play_headless(cell: Cell) -> Outcome {
    let mut env = TestEnv::new(AUTOCODE);
    let endpoint = Endpoint::of(cell, &mut env);
    let running = env.cmd(["-p", "go"]).spawn();
    let server = endpoint.open(|| {
        running.wait_for_stderr("refuses");
    });
    let run = running.wait();
    judge(&run, &server, &env)
}

fn judge(run: &Run, server: &Server, env: &TestEnv) -> Outcome {
    let told = || {
        format!("\nexit {:?}\n── stdout ──\n{}\n── stderr ──\n{}", run.code, run.stdout, run.stderr)
    };
    judge_work(&server.requests(), env).map_err(|why| why + &told())?;
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

/// Every request was valid, and the command ran once and whole.
fn judge_work(requests: &[Arc<Request>], env: &TestEnv) -> Result<(), String> {
    for request in requests {
        valid_history(&request.messages())
            .map_err(|why| format!("request {}: {why}", request.number))?;
    }
    let log = if env.has("log") { env.read("log") } else { String::new() };
    if log == "first\nsecond\n" { Ok(()) } else { Err(format!("the command ran {log:?}")) }
}

/// Plays one cell with a person: the fault, a good step, the answer, and another message that is answered too.
fn play_repl(cell: Cell) -> Outcome {
    let mut env = TestEnv::new(AUTOCODE);
    let endpoint = Endpoint::of(cell, &mut env);
    let pty = env.pty(Size::new(80, 24), ["go"]);
    let server = endpoint.open(|| {
        pty.wait_for_text("refuses");
    });
    pty.wait_for_text(ANSWER.trim_end());
    prompt_shown(&pty);
    pty.enter("and now?");
    pty.wait_for_text(NEXT);
    prompt_shown(&pty);
    judge_screen(&pty, &server, &env).map_err(|why| format!("{why}\n{}", pty.scrollback()))
}

fn judge_screen(pty: &Pty, server: &Server, env: &TestEnv) -> Outcome {
    let requests = server.requests();
    judge_work(&requests, env)?;
    let all = pty.scrollback();
    let words = all.split_whitespace().collect::<Vec<_>>().join(" ");
    for once in [ANSWER.trim_end(), "● bash", "❯ and now?", NEXT] {
        let count = all.matches(once).count();
        if count != 1 {
            return Err(format!("{once:?} is there {count} times"));
        }
    }
    let last = requests.last().map(|request| request.messages().len());
    if last != Some(6) {
        return Err(format!("the last request has {last:?} messages, not 6"));
    }
    match requests.len() {
        _ if words.contains("trying again") || words.contains("the reply starts over") => {
            Ok("answered after another try, and so was the next")
        }
        3 => Ok("answered, the fault did not matter, and so was the next"),
        count => Err(format!("{count} requests, and nothing was told of it")),
    }
}

#[test]
fn every_fault_in_every_place_ends_in_the_whole_answer() {
    play_all("-p", play_headless);
}

#[test]
fn every_fault_in_every_place_leaves_the_repl_usable() {
    play_all("REPL", play_repl);
}

/// Plays every cell, and tells of each in a line.
fn play_all(front: &str, play: fn(Cell) -> Outcome) {
    let play = |cell: Cell| match cell.exists() {
        true => play(cell),
        false => Ok("there is no such fault: what is refused has not begun"),
    };
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
        println!("{front:<5}{} {shown}", cells[*at]);
        failed += usize::from(outcome.is_err());
    }
    assert_eq!(failed, 0, "{failed} of {} cells failed", results.len());
}
