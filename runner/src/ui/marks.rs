//! The signs around what people read: one set for terminals that show Unicode, one in ASCII.
//!
//! Only signs that we draw are here; text of people, models and tools is never replaced.

use std::borrow::Cow;

/// What blocks, prompts and the status line are drawn with.
#[derive(Debug)]
pub(crate) struct Marks {
    /// Begins a call.
    pub call: &'static str,
    /// Begins a call's result; as wide as [`Marks::below`].
    pub result: &'static str,
    /// Begins the further rows of a result.
    pub below: &'static str,
    /// Begins thinking, and the banner.
    pub spark: &'static str,
    /// Begins an error.
    pub error: &'static str,
    /// Begins a warning.
    pub warning: &'static str,
    /// Stands for what was left out.
    pub more: &'static str,
    /// Between two figures.
    pub dot: &'static str,
    /// Before what a person types.
    pub prompt: &'static str,
    /// The same while vi's commands are on.
    pub command: &'static str,
    /// Before a message that waits.
    pub queued: &'static str,
    /// Before the chosen one of several.
    pub chosen: &'static str,
    /// From one figure to another.
    pub to: &'static str,
    /// The pictures of the spinner.
    pub spinner: &'static [&'static str],
    /// Signs that autocode's own sentences use, and what stands for them here.
    instead: &'static [(char, &'static str)],
}

const UNICODE: Marks = Marks {
    call: "●",
    result: "  ⎿ ",
    below: "    ",
    spark: "✻",
    error: "✗",
    warning: "!",
    more: "…",
    dot: " · ",
    prompt: "❯",
    command: "❮",
    queued: "↳",
    chosen: "❯",
    to: "→",
    spinner: &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
    instead: &[],
};

const ASCII: Marks = Marks {
    call: "*",
    result: "  | ",
    below: "    ",
    spark: "*",
    error: "x",
    warning: "!",
    more: "...",
    dot: " - ",
    prompt: ">",
    command: "<",
    queued: "+",
    chosen: ">",
    to: "->",
    spinner: &["|", "/", "-", "\\"],
    instead: &[('…', "..."), ('·', "-"), ('→', "->"), ('•', "*"), ('−', "-")],
};

impl Marks {
    /// The set for a terminal that shows, or does not show, more than ASCII.
    pub(crate) const fn of(ascii: bool) -> &'static Self {
        if ascii { &ASCII } else { &UNICODE }
    }

    /// A sentence of autocode's own with the signs of this set.
    pub(crate) fn sentence<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.instead.is_empty() || text.is_ascii() {
            return Cow::Borrowed(text);
        }
        let mut own = String::with_capacity(text.len());
        for c in text.chars() {
            match self.instead.iter().find(|(sign, _)| *sign == c) {
                Some((_, instead)) => own.push_str(instead),
                None => own.push(c),
            }
        }
        Cow::Owned(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_sentences_are_ascii_where_nothing_else_is_shown() {
        let text = "model a → b · this session, and so on …";
        assert_eq!(Marks::of(true).sentence(text), "model a -> b - this session, and so on ...");
        assert_eq!(Marks::of(false).sentence(text), text);
    }
}
