//! Runs the programs of expressions at one place of a text.

use std::sync::OnceLock;

use super::chars::Chars;
use super::program::{Behind, Place, Program, Step};

/// When that much has been done for a line, nothing in it matches any more: some milliseconds.
const MAX_STEPS: usize = 4_000_000;

const NOWHERE: usize = usize::MAX;

/// What one match in a line leaves to the next: memory, and where its groups are.
#[derive(Default)]
pub(super) struct Machine {
    slots: Vec<usize>,
    /// How many of the groups are kept.
    groups: usize,
    frames: Vec<Frame>,
    steps: usize,
}

/// What to do when all else failed.
enum Frame {
    Branch {
        step: usize,
        at: usize,
    },
    /// One character less, down to `least`.
    Fewer {
        step: usize,
        least: usize,
        at: usize,
    },
    Slot {
        slot: usize,
        old: usize,
    },
}

impl Machine {
    /// Where the match that begins at a place ends.
    pub(super) fn match_at(&mut self, program: &Program, text: &str, at: usize) -> Option<usize> {
        self.slots.clear();
        self.slots.resize(program.slots, NOWHERE);
        self.groups = program.groups;
        self.frames.clear();
        let end = self.run(program, text, 0, at, None)?;
        self.slots[0] = at;
        self.slots[1] = end;
        Some(end)
    }

    /// Where a group of the last match begins and ends.
    pub(super) fn group(&self, group: usize) -> Option<(usize, usize)> {
        let kept = &self.slots[..self.groups * 2];
        let (&start, &end) = (kept.get(group * 2)?, kept.get(group * 2 + 1)?);
        (start != NOWHERE && end != NOWHERE).then_some((start, end))
    }

    /// From a step on, until it is done (`up_to` a place, if one is given): where that is.
    fn run(
        &mut self,
        program: &Program,
        text: &str,
        mut step: usize,
        mut at: usize,
        up_to: Option<usize>,
    ) -> Option<usize> {
        let base = self.frames.len();
        loop {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                self.undo(base);
                return None;
            }
            let next = match &program.steps[step] {
                &Step::Split { first, second, needs } => {
                    if needs.is_some_and(|byte| text.as_bytes().get(at) != Some(&byte)) {
                        step = second;
                    } else {
                        self.frames.push(Frame::Branch { step: second, at });
                        step = first;
                    }
                    continue;
                }
                &Step::Jump(to) => {
                    step = to;
                    continue;
                }
                &Step::Progress { slot, out } => Some(match self.slots[slot] == at {
                    true => (out, at),
                    false => (step + 1, at),
                }),
                &Step::Save(slot) => {
                    self.frames.push(Frame::Slot { slot, old: self.slots[slot] });
                    self.slots[slot] = at;
                    Some((step + 1, at))
                }
                &Step::Many { set, lo, hi, keeps_all } => {
                    many(set, lo, hi, text, at).map(|(least, most)| {
                        self.steps += most - at;
                        if most > least && !keeps_all {
                            self.frames.push(Frame::Fewer { step: step + 1, least, at: most });
                        }
                        (step + 1, most)
                    })
                }
                Step::Ahead { .. } | Step::Behind { .. } | Step::Atomic { .. } => {
                    self.apart(program, text, step, at)
                }
                Step::Done if up_to.is_none_or(|wanted| wanted == at) => return Some(at),
                Step::Done => None,
                plain => self.plain(plain, text, at).map(|at| (step + 1, at)),
            };
            (step, at) = match next {
                Some(next) => next,
                None => self.back(base, text)?,
            };
        }
    }

    /// A step that only looks at the text: where it leads to.
    fn plain(&self, step: &Step, text: &str, at: usize) -> Option<usize> {
        let starts =
            |wanted: &[u8]| text.as_bytes()[at..].starts_with(wanted).then_some(at + wanted.len());
        match step {
            Step::Byte(byte) => (text.as_bytes().get(at) == Some(byte)).then_some(at + 1),
            Step::Text(wanted) => starts(wanted),
            Step::Set(set) => set.length_at(text, at).map(|length| at + length),
            &Step::Assert(place) => is(place, text, at).then_some(at),
            &Step::Again(group) => {
                let (start, end) = self.group(group)?;
                starts(&text.as_bytes()[start..end])
            }
            _ => None,
        }
    }

    /// A step with steps of its own, which are never entered again: the next step and its place.
    fn apart(
        &mut self,
        program: &Program,
        text: &str,
        step: usize,
        at: usize,
    ) -> Option<(usize, usize)> {
        let mark = self.frames.len();
        let (end, negated, found) = match &program.steps[step] {
            &Step::Ahead { negated, end } => {
                (end, negated, self.run(program, text, step + 1, at, None).map(|_| at))
            }
            Step::Behind { negated, ways, end } => {
                (*end, *negated, self.behind(program, text, at, ways).then_some(at))
            }
            &Step::Atomic { end } => (end, false, self.run(program, text, step + 1, at, None)),
            _ => return None,
        };
        self.leave(mark, !negated);
        match negated {
            false => found.map(|at| (end, at)),
            true => found.is_none().then_some((end, at)),
        }
    }

    /// Whether one of these stands before a place.
    fn behind(&mut self, program: &Program, text: &str, at: usize, ways: &[Behind]) -> bool {
        let before = at.checked_sub(1).map(|last| text.as_bytes()[last]);
        ways.iter().filter(|way| way.last.allows(before)).any(|way| {
            starts_behind(text, at, way.min, way.max)
                .any(|start| self.run(program, text, way.step, start, Some(at)).is_some())
        })
    }

    /// The last thing not tried yet since there were `base` frames.
    fn back(&mut self, base: usize, text: &str) -> Option<(usize, usize)> {
        while self.frames.len() > base {
            match self.frames.pop()? {
                Frame::Branch { step, at } => return Some((step, at)),
                Frame::Fewer { step, least, at } => {
                    let at = previous(text, at);
                    if at > least {
                        self.frames.push(Frame::Fewer { step, least, at });
                    }
                    return Some((step, at));
                }
                Frame::Slot { slot, old } => self.slots[slot] = old,
            }
        }
        None
    }

    /// Forgets what could be tried since there were `mark` frames, and perhaps where its groups were.
    fn leave(&mut self, mark: usize, keeps_groups: bool) {
        if !keeps_groups {
            return self.undo(mark);
        }
        let mut kept = mark;
        for n in mark..self.frames.len() {
            if matches!(self.frames[n], Frame::Slot { .. }) {
                self.frames.swap(kept, n);
                kept += 1;
            }
        }
        self.frames.truncate(kept);
    }

    fn undo(&mut self, mark: usize) {
        for frame in self.frames.drain(mark..).rev() {
            if let Frame::Slot { slot, old } = frame {
                self.slots[slot] = old;
            }
        }
    }
}

/// Where a run of at least `lo` and at most `hi` characters may end: the first and the last place.
fn many(set: &Chars, lo: usize, hi: usize, text: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    let mut least = (lo == 0).then_some(from);
    for n in 1..=hi {
        let Some(length) = set.length_at(text, at) else { break };
        at += length;
        if n == lo {
            least = Some(at);
        }
    }
    Some((least?, at))
}

fn previous(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at - 1)
}

/// The places from `min` to `max` characters before one.
fn starts_behind(
    text: &str,
    at: usize,
    min: usize,
    max: usize,
) -> impl Iterator<Item = usize> + use<'_> {
    let before = std::iter::successors(Some(at), |&at| (at > 0).then(|| previous(text, at)));
    before.take(max + 1).skip(min)
}

fn is(place: Place, text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    match place {
        Place::LineStart => at == 0 || (bytes[at - 1] == b'\n' && at < bytes.len()),
        Place::LineEnd => bytes.get(at).is_none_or(|&byte| byte == b'\n'),
        Place::TextEnd => at == bytes.len(),
        Place::LastLineEnd => bytes[at..].iter().all(|&byte| byte == b'\n'),
        Place::WordBoundary => is_edge(text, at),
        Place::NoWordBoundary => !is_edge(text, at),
    }
}

/// Whether a word begins or ends there.
fn is_edge(text: &str, at: usize) -> bool {
    let is_word = |at| word_char().length_at(text, at).is_some();
    is_word(at) != (at > 0 && is_word(previous(text, at)))
}

fn word_char() -> &'static Chars {
    static WORD: OnceLock<&'static Chars> = OnceLock::new();
    WORD.get_or_init(|| Chars::of_class(r"\w", false).unwrap_or(&Chars::ALL))
}
