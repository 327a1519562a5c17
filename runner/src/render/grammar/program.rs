//! Expressions as programs for [`super::machine`]: what the steps are, and what is seen from them beforehand.
//!
//! Oniguruma copies some kilobytes at each match, which is nothing in a search through a text and most of the time at
//! one place. What is used in syntaxes is little; what is not known here is left to Oniguruma.

use super::behind::Last;
use super::chars::Chars;

/// A compiled expression.
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    /// Places that are kept: two a group, and one a loop that may stand still.
    pub(super) slots: usize,
    /// Groups whose places are kept, the whole match among them.
    pub(super) groups: usize,
}

/// One step. Other steps are named by their number.
pub(super) enum Step {
    Byte(u8),
    Text(Box<[u8]>),
    Set(&'static Chars),
    /// As many as there are; then fewer, unless what follows could not begin with one of them.
    Many {
        set: &'static Chars,
        lo: usize,
        hi: usize,
        keeps_all: bool,
    },
    /// The first, and the second if it fails; the first may need a byte.
    Split {
        first: usize,
        second: usize,
        needs: Option<u8>,
    },
    Jump(usize),
    /// Keeps the place in a slot.
    Save(usize),
    /// Leaves a loop that stands still.
    Progress {
        slot: usize,
        out: usize,
    },
    Assert(Place),
    /// The steps up to `end`, from the place on.
    Ahead {
        negated: bool,
        end: usize,
    },
    /// One of these, and up to the place; goes on at `end`.
    Behind {
        negated: bool,
        ways: Vec<Behind>,
        end: usize,
    },
    /// The steps up to `end`, never to be entered again.
    Atomic {
        end: usize,
    },
    /// What a group matched.
    Again(usize),
    Done,
}

/// One thing that may stand before a place: its steps, from so many characters before.
pub(super) struct Behind {
    pub(super) last: Last,
    pub(super) min: usize,
    pub(super) max: usize,
    pub(super) step: usize,
}

/// What a place can be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    LineStart,
    LineEnd,
    TextEnd,
    LastLineEnd,
    WordBoundary,
    NoWordBoundary,
}

impl Program {
    /// Notes which byte a branch needs, and where fewer of many is never of use.
    pub(super) fn look_ahead(&mut self) {
        for n in 0..self.steps.len() {
            let &Step::Many { set, .. } = &self.steps[n] else { continue };
            let mut next = Next { ascii: 0, others: false, seen: Vec::new() };
            self.collect_next(n + 1, &mut next);
            let is_apart = set.ascii & next.ascii == 0 && !(set.has_others() && next.others);
            if let Step::Many { keeps_all, .. } = &mut self.steps[n] {
                *keeps_all = is_apart;
            }
        }
        for n in 0..self.steps.len() {
            let &Step::Split { first, .. } = &self.steps[n] else { continue };
            let mut at = first;
            while let Step::Save(_) = self.steps[at] {
                at += 1;
            }
            let byte = match &self.steps[at] {
                Step::Byte(byte) => Some(*byte),
                Step::Text(text) => text.first().copied(),
                _ => None,
            };
            if let Step::Split { needs, .. } = &mut self.steps[n] {
                *needs = byte;
            }
        }
    }
}

/// What may come next, at some step.
struct Next {
    ascii: u128,
    others: bool,
    seen: Vec<usize>,
}

impl Program {
    fn collect_next(&self, step: usize, next: &mut Next) {
        if next.seen.contains(&step) {
            return;
        }
        next.seen.push(step);
        match &self.steps[step] {
            Step::Byte(byte) => next.add_byte(*byte),
            Step::Text(text) => next.add_byte(text[0]),
            Step::Set(set) => next.add(set),
            Step::Many { set, lo, .. } => {
                next.add(set);
                if *lo == 0 {
                    self.collect_next(step + 1, next);
                }
            }
            &Step::Split { first, second, .. } => {
                self.collect_next(first, next);
                self.collect_next(second, next);
            }
            &Step::Jump(to) => self.collect_next(to, next),
            Step::Save(_) => self.collect_next(step + 1, next),
            Step::Assert(Place::LineEnd | Place::TextEnd | Place::LastLineEnd) => {
                next.add_byte(b'\n');
            }
            &Step::Progress { out, .. } => {
                self.collect_next(step + 1, next);
                self.collect_next(out, next);
            }
            // What is looked for ahead has to be there, if it is anything.
            Step::Ahead { negated: false, .. } => self.collect_next(step + 1, next),
            &Step::Ahead { end, .. } | &Step::Behind { end, .. } => self.collect_next(end, next),
            Step::Assert(_) => self.collect_next(step + 1, next),
            Step::Atomic { .. } | Step::Again(_) | Step::Done => next.add(&Chars::ALL),
        }
    }
}

impl Next {
    fn add(&mut self, set: &Chars) {
        self.ascii |= set.ascii;
        self.others |= set.has_others();
    }

    fn add_byte(&mut self, byte: u8) {
        match byte.is_ascii() {
            true => self.ascii |= 1 << byte,
            false => self.others = true,
        }
    }
}
