//! What changed in settings and prompts, in one line each, for people and for the agent.

use std::time::Duration;

use super::load::Loaded;
use super::schema::Key;

/// Two long texts that have nothing in common are not compared to the end.
const PATIENCE: Duration = Duration::from_millis(50);

/// What a check found; each is told in the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Something new is in force; one line, old → new, secrets masked.
    Applied(String),
    /// Something is wrong with a file, or not obeyed; for the agent to mend. Says what stays in force.
    Rejected(String),
    /// Git brought other files; they are not obeyed until the person approves them.
    Held(String),
}

/// How a setting differs, or that a change to it in a file does not matter.
pub(super) fn difference(key: &Key, old: &Loaded, new: &Loaded) -> Option<Change> {
    let ((_, was), (place, is)) = (old.origin(key), new.origin(key));
    if key.value(&old.settings) != key.value(&new.settings) {
        let (was, is) = (brief(key.shown(&was)), brief(key.shown(&is)));
        return Some(Change::Applied(format!("{} {was} → {is} · {place}", key.name)));
    }
    let hidden = new.layers.iter().find(|layer| {
        let before =
            old.layers.iter().find(|l| l.source == layer.source).and_then(|l| l.get(key.name));
        layer.place != place && layer.get(key.name).is_some() && layer.get(key.name) != before
    })?;
    Some(Change::Applied(format!(
        "{} in {} has no effect: {place} sets it too and counts for more",
        key.name, hidden.place
    )))
}

fn brief(mut text: String) -> String {
    const LONG: usize = 80;
    if let Some((end, _)) = text.char_indices().nth(LONG) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// `+3 −1 lines`; `None` when the texts are the same.
pub(super) fn line_changes(old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let diff = similar::TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    Some(format!(
        "+{} −{} lines",
        count(similar::ChangeTag::Insert),
        count(similar::ChangeTag::Delete)
    ))
}
