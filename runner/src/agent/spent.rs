//! What a session has cost so far, counted wherever a model is asked: by the turn, by a summary, by a tool.

use std::cell::Cell;

use crate::model::message::Usage;
use crate::session::Meta;

/// A sum that grows.
#[derive(Default)]
pub(super) struct Spent(Cell<Usage>);

impl Spent {
    /// What a loaded session has cost.
    pub(super) fn on(meta: &[Meta]) -> Self {
        let spent = Self::default();
        meta.iter().for_each(|meta| spent.add(meta.usage));
        spent
    }

    /// Adds what one model call cost, if the server told.
    pub(super) fn add(&self, usage: Option<Usage>) {
        if let Some(usage) = usage {
            let mut sum = self.0.get();
            sum.add(&usage);
            self.0.set(sum);
        }
    }

    /// The sum.
    pub(super) fn sum(&self) -> Usage {
        self.0.get()
    }

    /// What was added since it was `earlier`; `None`: nothing.
    pub(super) fn since(&self, earlier: &Usage) -> Option<Usage> {
        Some(self.sum().since(earlier)).filter(|added| *added != Usage::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_told_apart_from_what_was_there() {
        let usage = |prompt, cost| Some(Usage { prompt, cost, ..Usage::default() });
        let spent = Spent::on(&[Meta { usage: usage(10, Some(0.5)), ..Meta::default() }]);
        let before = spent.sum();
        assert_eq!(spent.since(&before), None);
        spent.add(None);
        spent.add(usage(5, None));
        spent.add(usage(7, Some(0.25)));
        assert_eq!(spent.since(&before), usage(12, Some(0.25)));
        assert_eq!(Some(spent.sum()), usage(22, Some(0.75)));
    }
}
