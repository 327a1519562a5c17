//! One line a figure: ours, each peer with the ratio to it, the goal and whether it is met.

use crate::rounds::Samples;
use crate::subjects::Subjects;

/// What is printed, as it is measured.
pub(crate) struct Table {
    met: usize,
    missed: usize,
}

/// Something a figure has to stay under.
#[derive(Clone, Copy)]
pub(crate) enum Goal<'a> {
    /// At most this many times a peer's figure.
    Ratio(&'a str, f64),
    /// At most this, in the row's own unit.
    AtMost(f64),
}

/// How a number is written.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Seconds,
    MiB,
    SecondsPerMB,
    Times,
}

impl Unit {
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::Seconds if value >= 1.0 => format!("{value:.2} s"),
            Self::Seconds if value >= 0.1 => format!("{:.0} ms", value * 1e3),
            Self::Seconds if value >= 0.001 => format!("{:.2} ms", value * 1e3),
            Self::Seconds => format!("{:.0} µs", value * 1e6),
            Self::MiB => format!("{value:.1} MiB"),
            Self::SecondsPerMB => format!("{value:.3} s/MB"),
            Self::Times => format!("{value:.2} ×"),
        }
    }
}

impl Table {
    pub(crate) fn new(subjects: &Subjects) -> Self {
        println!("autocode: {}", subjects.autocode.display());
        let peer = |path: &Option<std::path::PathBuf>| {
            path.as_ref().map_or("not here, left out".to_owned(), |path| path.display().to_string())
        };
        println!("curl: {}", peer(&subjects.curl));
        println!("Python autocode (AUTOCODE_PYTHON, or on the path): {}\n", peer(&subjects.python));
        Self { met: 0, missed: 0 }
    }

    /// A row of contestants that took turns, ours first.
    pub(crate) fn row(&mut self, what: &str, unit: Unit, samples: &[Samples], goals: &[Goal]) {
        let Some((ours, peers)) = samples.split_first() else { return };
        let mut line = format!("{what:<52} {:>10}", unit.show(ours.median()));
        for peer in peers {
            line += &format!(
                "   {} {} ({:.2} ×)",
                peer.name,
                unit.show(peer.median()),
                ours.ratio_to(peer)
            );
        }
        for goal in goals {
            let verdict = match *goal {
                Goal::AtMost(most) => Some((unit.show(most), ours.median() <= most)),
                Goal::Ratio(name, most) => peers
                    .iter()
                    .find(|peer| peer.name == name)
                    .map(|peer| (format!("{} × {name}", short(most)), ours.ratio_to(peer) <= most)),
            };
            let Some((words, met)) = verdict else { continue };
            self.met += usize::from(met);
            self.missed += usize::from(!met);
            line += &format!("   goal ≤ {words}: {}", if met { "met" } else { "MISSED" });
        }
        println!("{line}");
    }

    /// A figure of ours alone.
    pub(crate) fn single(&mut self, what: &str, unit: Unit, value: f64, goals: &[Goal]) {
        self.row(what, unit, &[Samples { name: "autocode", values: vec![value] }], goals);
    }

    /// Something that could not be measured.
    pub(crate) fn left_out(&self, what: &str, why: &str) {
        println!("{what:<52} left out: {why}");
    }

    pub(crate) fn end(&self) {
        println!("\n{} goals met, {} missed", self.met, self.missed);
    }
}

/// A ratio without needless digits.
fn short(ratio: f64) -> String {
    let text = format!("{ratio:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
