//! How a reply goes over the wire: where it is split, where it is held, and what goes wrong on the way.
//!
//! Pieces are made by chunked transfer coding, so that a client reads them apart whatever the network does: a split
//! at every byte is the same in every run.

use std::time::Duration;

use super::Gate;
use super::completion::{Event, Part};

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// `Transfer-Encoding: chunked`.
    Chunked,
    /// `Content-Length`.
    Length,
    /// By closing the connection.
    Close,
}

/// Where in a reply something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Nothing of the reply has been sent.
    BeforeHeaders,
    /// Headers have been sent, no byte of the body.
    BeforeBody,
    /// In the middle of an event that carries thinking.
    InReasoning,
    /// In the middle of an event that carries text.
    InText,
    /// In the middle of an event that carries call arguments.
    InArguments,
    /// After the finish reason and the usage.
    BeforeDone,
    /// After so many bytes of the body.
    AtByte(usize),
}

/// What happens there. All but `Hold`, `Pause`, `Drip` and `Insert` end the reply.
#[derive(Clone)]
pub enum Fault {
    /// The connection is reset (RST).
    Reset,
    /// The connection is closed (FIN) without the body's end.
    Cut,
    /// The body ends there as if it were whole.
    End,
    /// Nothing more is sent; the connection stays open until the client leaves.
    Stall,
    /// The server waits for the test.
    Hold(Gate),
    /// The server waits.
    Pause(Duration),
    /// From there on one byte at a time, with this pause between two.
    Drip(Duration),
    /// These bytes come in between.
    Insert(Vec<u8>),
}

/// What the connection does, in order.
#[derive(Clone)]
pub(super) enum Step {
    Send(Vec<u8>),
    Pause(Duration),
    Hold(Gate),
    Stall,
    Reset,
    Close,
}

/// A body and all that happens to it.
pub(super) struct Delivery<'a> {
    pub framing: Framing,
    /// Bytes a piece; 0: one event a piece.
    pub piece: usize,
    pub faults: &'a [(Spot, Fault)],
}

impl Delivery<'_> {
    /// The steps that send `head` (status line and headers, without the framing's own) and the events.
    pub(super) fn steps(&self, head: &str, events: &[Event]) -> Vec<Step> {
        let mut sink = Sink { framing: self.framing, steps: Vec::new() };
        for (_, fault) in self.faults.iter().filter(|(spot, _)| *spot == Spot::BeforeHeaders) {
            if sink.strike(fault) {
                return sink.steps;
            }
        }
        let total: usize = events.iter().map(|event| event.bytes.len()).sum();
        sink.send(match self.framing {
            Framing::Chunked => format!("{head}Transfer-Encoding: chunked\r\n\r\n"),
            Framing::Length => format!("{head}Content-Length: {total}\r\n\r\n"),
            Framing::Close => format!("{head}Connection: close\r\n\r\n"),
        });
        if !self.body(&mut sink, events) {
            sink.finish();
        }
        sink.steps
    }

    /// Sends the body; whether a fault has ended it.
    fn body(&self, sink: &mut Sink, events: &[Event]) -> bool {
        let bytes: Vec<u8> = events.iter().flat_map(|event| event.bytes.iter().copied()).collect();
        let mut faults: Vec<(usize, &Fault)> = self
            .faults
            .iter()
            .filter(|(spot, _)| *spot != Spot::BeforeHeaders)
            .map(|(spot, fault)| (offset(*spot, events).min(bytes.len()), fault))
            .collect();
        faults.sort_by_key(|(at, _)| *at);
        let mut drip = None;
        let mut sent = 0;
        for (at, fault) in faults {
            self.pieces(sink, events, &bytes, sent..at, drip);
            sent = at;
            match fault {
                Fault::Drip(pause) => drip = Some(*pause),
                Fault::Insert(extra) => sink.piece(extra),
                fault => {
                    if sink.strike(fault) {
                        return true;
                    }
                }
            }
        }
        self.pieces(sink, events, &bytes, sent..bytes.len(), drip);
        false
    }

    fn pieces(
        &self,
        sink: &mut Sink,
        events: &[Event],
        bytes: &[u8],
        range: std::ops::Range<usize>,
        drip: Option<Duration>,
    ) {
        if let Some(pause) = drip {
            for at in range {
                sink.piece(&bytes[at..=at]);
                sink.steps.push(Step::Pause(pause));
            }
            return;
        }
        if self.piece > 0 {
            return bytes[range].chunks(self.piece).for_each(|piece| sink.piece(piece));
        }
        let mut start = 0;
        for event in events {
            let end = start + event.bytes.len();
            let (from, to) = (start.max(range.start), end.min(range.end));
            if from < to {
                sink.piece(&bytes[from..to]);
            }
            start = end;
        }
    }
}

/// The byte of the body that a spot means. A spot that the reply does not have is a mistake in the test.
fn offset(spot: Spot, events: &[Event]) -> usize {
    let middle_of = |part: Part| {
        let of_part: Vec<usize> = (0..events.len()).filter(|&i| events[i].part == part).collect();
        let index = *of_part
            .get(1)
            .or(of_part.first())
            .unwrap_or_else(|| panic!("the reply has no {part:?}"));
        start_of(index, events) + events[index].bytes.len() / 2
    };
    match spot {
        Spot::BeforeHeaders | Spot::BeforeBody => 0,
        Spot::InReasoning => middle_of(Part::Reasoning),
        Spot::InText => middle_of(Part::Text),
        Spot::InArguments => middle_of(Part::Arguments),
        Spot::BeforeDone => {
            let done = events.iter().position(|event| event.part == Part::Done);
            start_of(done.unwrap_or(events.len()), events)
        }
        Spot::AtByte(at) => at,
    }
}

fn start_of(index: usize, events: &[Event]) -> usize {
    events[..index].iter().map(|event| event.bytes.len()).sum()
}

/// Collects steps, joining what can be sent at once.
struct Sink {
    framing: Framing,
    steps: Vec<Step>,
}

impl Sink {
    fn send(&mut self, bytes: impl AsRef<[u8]>) {
        match self.steps.last_mut() {
            Some(Step::Send(last)) => last.extend_from_slice(bytes.as_ref()),
            _ => self.steps.push(Step::Send(bytes.as_ref().to_vec())),
        }
    }

    fn piece(&mut self, bytes: &[u8]) {
        if self.framing == Framing::Chunked && !bytes.is_empty() {
            self.send(format!("{:x}\r\n", bytes.len()));
            self.send(bytes);
            self.send("\r\n");
        } else {
            self.send(bytes);
        }
    }

    fn finish(&mut self) {
        match self.framing {
            Framing::Chunked => self.send("0\r\n\r\n"),
            Framing::Length => {}
            Framing::Close => self.steps.push(Step::Close),
        }
    }

    /// Makes the fault happen; whether it ends the reply.
    fn strike(&mut self, fault: &Fault) -> bool {
        match fault {
            Fault::Reset => self.steps.push(Step::Reset),
            Fault::Cut => self.steps.push(Step::Close),
            Fault::Stall => self.steps.push(Step::Stall),
            Fault::End => self.finish(),
            Fault::Hold(gate) => {
                self.steps.push(Step::Hold(gate.clone()));
                return false;
            }
            Fault::Pause(time) => {
                self.steps.push(Step::Pause(*time));
                return false;
            }
            Fault::Drip(_) | Fault::Insert(_) => return false,
        }
        true
    }
}
