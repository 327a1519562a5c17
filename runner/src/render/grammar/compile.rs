//! Expressions into programs.

use fancy_regex::{Assertion, Expr, LookAround};

use super::behind::{Last, length};
use super::chars::Chars;
use super::program::{Behind, Place, Program, Step};

/// Longer programs are left to Oniguruma.
const MAX_LENGTH: usize = 4000;

/// Repetitions up to this many are written out.
const MAX_COPIES: usize = 16;

/// How far back an expression may look, in characters.
const MAX_BEHIND: usize = 64;

/// There is something in it that no step does.
struct Unknown;

type Compiled = Result<(), Unknown>;

impl Program {
    /// With the places of the groups that are wanted, one bit for each (the last for all that follow); `None` if it
    /// needs what is not known here.
    pub(super) fn of(expr: &Expr, wanted: u64) -> Option<Self> {
        let mut compiler =
            Compiler { steps: Vec::new(), wanted, group: 1, groups: 1, loops: Vec::new() };
        compiler.add(expr).ok()?;
        compiler.steps.push(Step::Done);
        let slots = compiler.number_loops();
        let mut program = Self { steps: compiler.steps, slots, groups: compiler.groups };
        program.look_ahead();
        Some(program)
    }
}

struct Compiler {
    steps: Vec<Step>,
    /// A bit for each group whose place is asked for.
    wanted: u64,
    /// The number of the next group.
    group: usize,
    groups: usize,
    /// Steps that name loops instead of slots.
    loops: Vec<(usize, usize)>,
}

impl Compiler {
    fn add(&mut self, expr: &Expr) -> Compiled {
        if self.steps.len() > MAX_LENGTH {
            return Err(Unknown);
        }
        match expr {
            Expr::Empty => {}
            Expr::Any { newline, .. } => {
                let set = Chars::of_class(if *newline { r"[\s\S]" } else { r"[^\n]" }, false);
                self.steps.push(Step::Set(set.ok_or(Unknown)?));
            }
            Expr::Literal { val, casei } => self.literal(val, *casei)?,
            Expr::Delegate { inner, casei } => {
                let set = Chars::of_class(inner, *casei).ok_or(Unknown)?;
                self.steps.push(Step::Set(set));
            }
            Expr::Concat(parts) => self.concat(parts)?,
            Expr::Alt(parts) => self.alternatives(parts)?,
            Expr::Group(inner) => {
                let group = self.group;
                self.group += 1;
                if self.wanted >> group.min(63) & 1 == 0 {
                    return self.add(inner);
                }
                self.groups = self.groups.max(self.group);
                self.steps.push(Step::Save(group * 2));
                self.add(inner)?;
                self.steps.push(Step::Save(group * 2 + 1));
            }
            Expr::LookAround(inner, look) => self.look(inner, *look)?,
            Expr::Repeat { child, lo, hi, greedy } => self.repeat(child, *lo, *hi, *greedy)?,
            Expr::AtomicGroup(inner) => self.apart(inner, |end| Step::Atomic { end })?,
            Expr::Assertion(assertion) => {
                self.steps.push(Step::Assert(place(assertion).ok_or(Unknown)?));
            }
            Expr::Backref { group, casei: false } if self.wanted == !0 => {
                self.steps.push(Step::Again(*group));
            }
            _ => return Err(Unknown),
        }
        Ok(())
    }

    /// Neighbouring characters become one step.
    fn concat(&mut self, parts: &[Expr]) -> Compiled {
        let mut rest = parts;
        while let Some(first) = rest.first() {
            let texts = rest.iter().map_while(|part| match part {
                Expr::Literal { val, casei: false } => Some(val.as_bytes()),
                _ => None,
            });
            let text: Vec<&[u8]> = texts.collect();
            if text.len() > 1 {
                self.steps.push(Step::Text(text.concat().into()));
                rest = &rest[text.len()..];
            } else {
                self.add(first)?;
                rest = &rest[1..];
            }
        }
        Ok(())
    }

    fn literal(&mut self, text: &str, ignores_case: bool) -> Compiled {
        if ignores_case && text.chars().any(char::is_alphabetic) {
            for c in text.chars() {
                let class = regex_syntax::escape(c.encode_utf8(&mut [0; 4]));
                self.steps.push(Step::Set(Chars::of_class(&class, true).ok_or(Unknown)?));
            }
            return Ok(());
        }
        match text.as_bytes() {
            [] => {}
            &[byte] => self.steps.push(Step::Byte(byte)),
            bytes => self.steps.push(Step::Text(bytes.into())),
        }
        Ok(())
    }

    fn alternatives(&mut self, parts: &[Expr]) -> Compiled {
        let mut ends = Vec::new();
        for (n, part) in parts.iter().enumerate() {
            let is_last = n == parts.len() - 1;
            let split = self.steps.len();
            if !is_last {
                self.steps.push(Step::Split { first: split + 1, second: 0, needs: None });
            }
            self.add(part)?;
            if !is_last {
                ends.push(self.steps.len());
                self.steps.push(Step::Jump(0));
                let second = self.steps.len();
                self.steps[split] = Step::Split { first: split + 1, second, needs: None };
            }
        }
        let end = self.steps.len();
        for at in ends {
            self.steps[at] = Step::Jump(end);
        }
        Ok(())
    }

    /// Steps of their own, behind one that is told where they end.
    fn apart(&mut self, inner: &Expr, step: impl FnOnce(usize) -> Step) -> Compiled {
        let at = self.steps.len();
        self.steps.push(Step::Done);
        self.add(inner)?;
        self.steps.push(Step::Done);
        self.steps[at] = step(self.steps.len());
        Ok(())
    }

    fn look(&mut self, inner: &Expr, look: LookAround) -> Compiled {
        let negated = matches!(look, LookAround::LookAheadNeg | LookAround::LookBehindNeg);
        match look {
            LookAround::LookAhead | LookAround::LookAheadNeg => {
                self.apart(inner, |end| Step::Ahead { negated, end })
            }
            LookAround::LookBehind | LookAround::LookBehindNeg => self.behind(inner, negated),
        }
    }

    fn behind(&mut self, inner: &Expr, negated: bool) -> Compiled {
        let parts = match inner {
            Expr::Alt(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let at = self.steps.len();
        self.steps.push(Step::Done);
        let mut ways = Vec::new();
        for part in parts {
            let (min, max) = length(part).filter(|&(_, max)| max <= MAX_BEHIND).ok_or(Unknown)?;
            ways.push(Behind { last: Last::of(part), min, max, step: self.steps.len() });
            self.add(part)?;
            self.steps.push(Step::Done);
        }
        self.steps[at] = Step::Behind { negated, ways, end: self.steps.len() };
        Ok(())
    }

    fn repeat(&mut self, child: &Expr, lo: usize, hi: usize, greedy: bool) -> Compiled {
        if greedy && let Some(set) = set(child) {
            self.steps.push(Step::Many { set, lo, hi, keeps_all: false });
            return Ok(());
        }
        let is_bounded = hi != usize::MAX;
        if lo > MAX_COPIES || (is_bounded && hi > MAX_COPIES) {
            return Err(Unknown);
        }
        let group = self.group;
        for _ in 0..lo {
            self.group = group;
            self.add(child)?;
        }
        match is_bounded {
            true => {
                let mut splits = Vec::new();
                for _ in lo..hi {
                    self.group = group;
                    splits.push(self.steps.len());
                    self.steps.push(Step::Done);
                    self.add(child)?;
                }
                let out = self.steps.len();
                for at in splits {
                    self.steps[at] = split(at + 1, out, greedy);
                }
            }
            false => {
                self.group = group;
                self.endless(child, greedy)?;
            }
        }
        // Where no copy was made, its groups still count.
        if hi == 0 {
            return Err(Unknown);
        }
        Ok(())
    }

    fn endless(&mut self, child: &Expr, greedy: bool) -> Compiled {
        let again = self.steps.len();
        self.steps.push(Step::Done);
        let may_stand_still = length(child).is_none_or(|(min, _)| min == 0);
        let number = self.loops.len();
        if may_stand_still {
            self.loops.push((self.steps.len(), 0));
            self.steps.push(Step::Save(0));
        }
        self.add(child)?;
        if may_stand_still {
            self.loops[number].1 = self.steps.len();
            self.steps.push(Step::Progress { slot: 0, out: self.steps.len() + 2 });
        }
        self.steps.push(Step::Jump(again));
        let out = self.steps.len();
        self.steps[again] = split(again + 1, out, greedy);
        Ok(())
    }

    /// Gives each loop a slot behind those of the groups; tells how many there are.
    fn number_loops(&mut self) -> usize {
        let mut slots = self.groups * 2;
        for &(save, progress) in &self.loops {
            self.steps[save] = Step::Save(slots);
            if let Step::Progress { slot, .. } = &mut self.steps[progress] {
                *slot = slots;
            }
            slots += 1;
        }
        slots
    }
}

fn split(body: usize, out: usize, greedy: bool) -> Step {
    let (first, second) = if greedy { (body, out) } else { (out, body) };
    Step::Split { first, second, needs: None }
}

/// What matches exactly one character, as a set.
fn set(expr: &Expr) -> Option<&'static Chars> {
    match expr {
        Expr::Any { newline: false, .. } => Chars::of_class(r"[^\n]", false),
        Expr::Delegate { inner, casei } => Chars::of_class(inner, *casei),
        Expr::Literal { val, casei } if val.chars().count() == 1 => {
            Chars::of_class(&regex_syntax::escape(val), *casei)
        }
        _ => None,
    }
}

fn place(assertion: &Assertion) -> Option<Place> {
    Some(match assertion {
        Assertion::StartText
        | Assertion::StartLine { .. }
        | Assertion::StartLineOniguruma { .. } => Place::LineStart,
        Assertion::EndLine { .. } => Place::LineEnd,
        Assertion::EndText => Place::TextEnd,
        Assertion::EndTextIgnoreTrailingNewlines { .. } => Place::LastLineEnd,
        Assertion::WordBoundary => Place::WordBoundary,
        Assertion::NotWordBoundary => Place::NoWordBoundary,
        _ => return None,
    })
}
