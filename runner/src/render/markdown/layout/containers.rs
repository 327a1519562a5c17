//! What lists, quotes and notes put in front of the rows that stand in them.

use super::super::super::style::{Ink, Line, Style};
use super::super::super::wrap::Wrapper;
use super::super::blocks::Container;
use super::super::starts::{Alert, Marker};
use super::{Frame, Kind, Layout};

impl Layout {
    /// Draws markers that wait for a first row.
    pub(super) fn flush_markers(&mut self) {
        if self.frames.iter().any(|f| f.first.is_some()) {
            self.row(Line::new());
        }
    }

    /// Opens a container whose first row begins with `first`.
    pub(super) fn push(&mut self, first: Line, rest: Line, compact: bool, barred: bool) {
        let width = usize::from(self.options.width).max(1);
        let least = (width / 2).clamp(1, 20);
        let crowded = self.avail() < rest.width() + least;
        if crowded && !barred {
            let mut wrapper = Wrapper::new(self.avail());
            for span in first.spans() {
                wrapper.push(span.text, span.style, span.link);
            }
            self.rows(wrapper.finish());
        }
        let (first, rest) = if crowded { (None, Line::new()) } else { (Some(first), rest) };
        let first = first.filter(|_| !barred);
        self.frames.push(Frame { first, rest, last: Kind::Nothing, compact, barred });
    }

    pub(super) fn enter(&mut self, container: Container<'_>, gap: bool) {
        match container {
            Container::Quote(alert) => {
                self.begin(Kind::Other, gap);
                let ink = alert.map_or(Ink::Muted, |alert| alert_look(alert).1);
                let bar = Line::of(&format!("{} ", self.glyphs().quote), Style::of(ink));
                self.push(bar.clone(), bar, false, true);
                if let Some(alert) = alert {
                    let (label, ink) = alert_look(alert);
                    self.row(Line::of(label, Style::of(ink).bold()));
                }
            }
            Container::Item { marker, task } => {
                self.begin(Kind::Item, gap);
                let first = self.marker(marker, task);
                let mut rest = Line::new();
                rest.pad(first.width(), Style::PLAIN);
                self.push(first, rest, true, false);
            }
            Container::Footnote(label) => {
                self.begin(Kind::Note, gap);
                let first = Line::of(&format!("[{label}] "), Style::of(Ink::Accent));
                let mut rest = Line::new();
                rest.pad(first.width().min(4), Style::PLAIN);
                self.push(first, rest, true, false);
            }
        }
    }

    pub(super) fn marker(&self, marker: Marker, task: Option<bool>) -> Line {
        let glyphs = self.glyphs();
        let depth = self.frames.iter().filter(|f| f.compact).count();
        let number = marker.number.map(|n| format!("{n}{} ", char::from(marker.sign)));
        let mut line = Line::of(number.as_deref().unwrap_or_default(), Style::of(Ink::Accent));
        match task {
            Some(true) => line.push(&format!("{} ", glyphs.checked), Style::of(Ink::Success)),
            Some(false) => line.push(&format!("{} ", glyphs.unchecked), Style::MUTED),
            None if number.is_none() => {
                let bullet = glyphs.bullets[depth % glyphs.bullets.len()];
                line.push(&format!("{bullet} "), Style::of(Ink::Accent));
            }
            None => {}
        }
        line
    }

    pub(super) fn leave(&mut self) {
        self.flush_markers();
        if self.frames.len() > 1 {
            self.frames.pop();
        }
    }
}

fn alert_look(alert: Alert) -> (&'static str, Ink) {
    match alert {
        Alert::Note => ("Note", Ink::Note),
        Alert::Tip => ("Tip", Ink::Success),
        Alert::Important => ("Important", Ink::Important),
        Alert::Warning => ("Warning", Ink::Warning),
        Alert::Caution => ("Caution", Ink::Error),
    }
}
