//! An OpenAI-compatible model server on loopback that answers what the test told it to.
//!
//! Replies are used in the order they were given, one a request; what came is recorded and can be asked about.
//! A request that finds the script at its end gets a 400 that says so, never a wait: the test then fails on what
//! the client made of it. Plain threads and blocking sockets, so that the cost of a request is some tens of
//! microseconds and the benchmarks can stand on it.

mod completion;
mod connection;
mod delivery;
mod gate;
mod reply;
mod request;

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};

use serde_json::json;

pub use completion::{CallShape, ReasoningField, UsagePlace};
pub use delivery::{Fault, Framing, Spot};
pub use gate::Gate;
pub use reply::Reply;
pub use request::Request;

use crate::deadline;

/// The server. It stops, and every connection with it, when it is dropped.
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
}

type Responder = Box<dyn FnMut(&Request) -> Reply + Send>;

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    responder: Mutex<Option<Responder>>,
    accepted: AtomicUsize,
}

#[derive(Default)]
struct State {
    script: VecDeque<Reply>,
    requests: Vec<Arc<Request>>,
    others: Vec<Arc<Request>>,
    open: Vec<Weak<TcpStream>>,
    models: Option<Reply>,
    forget_bodies: bool,
    stopped: bool,
}

impl Server {
    /// A server with an empty script on a free port.
    pub fn start() -> Self {
        Self::on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("bind a loopback port"))
    }

    fn on(listener: TcpListener) -> Self {
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Self { shared, address }
    }

    /// The base URL to configure: `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Adds the reply to the next request that has none yet.
    pub fn reply(&self, reply: Reply) -> &Self {
        self.state().script.push_back(reply);
        self
    }

    /// Answers every request that finds the script empty.
    pub fn respond(&self, responder: impl FnMut(&Request) -> Reply + Send + 'static) -> &Self {
        *self.shared.responder.lock().unwrap() = Some(Box::new(responder));
        self
    }

    /// What `GET …/models` answers; without it, one model named `scripted`.
    pub fn models(&self, reply: Reply) -> &Self {
        self.state().models = Some(reply);
        self
    }

    /// Keeps only the length of request bodies from now on, for runs whose requests grow large.
    pub fn forget_bodies(&self) -> &Self {
        self.state().forget_bodies = true;
        self
    }

    /// The chat completions asked for so far, in order of arrival.
    pub fn requests(&self) -> Vec<Arc<Request>> {
        self.state().requests.clone()
    }

    /// Everything else that was asked: `GET /models`, wrong paths.
    pub fn other_requests(&self) -> Vec<Arc<Request>> {
        self.state().others.clone()
    }

    /// The one request there was.
    pub fn single_request(&self) -> Arc<Request> {
        let requests = self.requests();
        assert_eq!(requests.len(), 1, "expected a single request, got {}", requests.len());
        Arc::clone(&requests[0])
    }

    /// Waits until `n` chat completions have been asked for.
    pub fn wait_for_requests(&self, n: usize) -> Vec<Arc<Request>> {
        let (state, found) = deadline::wait(&self.shared.changed, self.state(), |state| {
            (state.requests.len() >= n).then(|| state.requests.clone())
        });
        let seen = state.requests.len();
        drop(state);
        found.unwrap_or_else(|| panic!("waited for {n} requests, got {seen}"))
    }

    /// Replies that were given and not asked for yet.
    pub fn left(&self) -> usize {
        self.state().script.len()
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> usize {
        self.shared.accepted.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let open = {
            let Ok(mut state) = self.shared.state.lock() else {
                return;
            };
            state.stopped = true;
            std::mem::take(&mut state.open)
        };
        for stream in open.iter().filter_map(Weak::upgrade) {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
        let _ = TcpStream::connect(self.address); // wakes the accept loop
    }
}

/// A port of the loopback interface that refuses connections and that nobody else can take meanwhile.
pub struct Refusing {
    socket: std::os::fd::OwnedFd,
    address: SocketAddr,
}

impl Refusing {
    /// Takes a port without listening on it.
    pub fn port() -> Self {
        use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = getsockname(&socket).unwrap().try_into().unwrap();
        Self { socket, address }
    }

    /// The base URL that refuses.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Begins to listen there.
    pub fn open(self) -> Server {
        rustix::net::listen(&self.socket, 64).unwrap();
        Server::on(TcpListener::from(self.socket))
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let _ = stream.set_nodelay(true);
        let stream = Arc::new(stream);
        {
            let mut state = shared.state.lock().unwrap();
            if state.stopped {
                return;
            }
            state.open.push(Arc::downgrade(&stream));
        }
        shared.accepted.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::clone(shared);
        std::thread::spawn(move || connection::serve(stream, &shared));
    }
}

impl Shared {
    /// Records a request and finds its reply.
    fn answer(&self, request: Request) -> Reply {
        if !request.path.ends_with("/chat/completions") {
            return self.answer_other(request);
        }
        let (request, scripted) = {
            let mut state = self.state.lock().unwrap();
            (state.record(request), state.script.pop_front())
        };
        self.changed.notify_all();
        if let Some(reply) = scripted {
            return reply;
        }
        match self.responder.lock().unwrap().as_mut() {
            Some(respond) => respond(&request),
            None => Reply::error(
                400,
                &format!("the script has no reply for request {}", request.number),
            ),
        }
    }

    fn answer_other(&self, request: Request) -> Reply {
        let mut state = self.state.lock().unwrap();
        let listing = request.method == "GET" && request.path.ends_with("/models");
        state.others.push(Arc::new(request));
        if !listing {
            return Reply::error(404, "no such path");
        }
        state.models.clone().unwrap_or_else(|| {
            Reply::json(
                200,
                &json!({ "object": "list", "data": [{ "id": "scripted", "object": "model" }] }),
            )
        })
    }
}

impl State {
    fn record(&mut self, mut request: Request) -> Arc<Request> {
        if self.forget_bodies {
            request.raw = Vec::new();
        }
        request.number = self.requests.len() + 1;
        let request = Arc::new(request);
        self.requests.push(Arc::clone(&request));
        request
    }
}

#[cfg(test)]
mod tests;
