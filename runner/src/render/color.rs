//! What the terminal can show, read from the environment alone: colours, background, links.

use crate::env::Env;

/// How many colours may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColorDepth {
    /// No colours and no attributes.
    None,
    /// The 16 colours of the terminal's own palette.
    Ansi16,
    /// The 256-colour palette.
    Ansi256,
    /// 24-bit colours.
    True,
}

/// The depth for a stream that is (or is not) a terminal.
///
/// `FORCE_COLOR` wins over everything (`0` switches off, `2` and `3` ask for 256 and 24-bit),
/// then `NO_COLOR`, then `TERM=dumb`; a stream that is no terminal gets none.
pub fn depth(env: &Env, terminal: bool) -> ColorDepth {
    let able = capability(env);
    match env.get("FORCE_COLOR") {
        Some("0" | "false") => ColorDepth::None,
        Some("2") => able.max(ColorDepth::Ansi256),
        Some("3") => ColorDepth::True,
        Some(_) => able.max(ColorDepth::Ansi16),
        None if env.get("NO_COLOR").is_some() || !terminal => ColorDepth::None,
        None => able,
    }
}

fn capability(env: &Env) -> ColorDepth {
    const TRUE_TERMS: [&str; 6] = ["kitty", "alacritty", "ghostty", "foot", "wezterm", "direct"];
    const TRUE_PROGRAMS: [&str; 5] = ["iTerm.app", "WezTerm", "ghostty", "vscode", "Hyper"];
    let term = env.get("TERM").unwrap_or("dumb");
    let program = env.get("TERM_PROGRAM").unwrap_or_default();
    if term == "dumb" {
        ColorDepth::None
    } else if matches!(env.get("COLORTERM"), Some("truecolor" | "24bit"))
        || TRUE_TERMS.iter().any(|t| term.contains(t))
        || TRUE_PROGRAMS.contains(&program)
        || env.get("WT_SESSION").is_some()
    {
        ColorDepth::True
    } else if term.contains("256color") {
        ColorDepth::Ansi256
    } else {
        ColorDepth::Ansi16
    }
}

/// Whether escape sequences that move the cursor are understood.
pub fn can_redraw(env: &Env) -> bool {
    env.get("TERM").is_some_and(|term| term != "dumb")
}

/// Whether the background is dark, as far as `COLORFGBG` tells; dark if it does not.
pub fn is_dark(env: &Env) -> bool {
    let background = env.get("COLORFGBG").and_then(|v| v.rsplit(';').next());
    !matches!(background, Some("7" | "15"))
}

/// Whether the terminal is known to show OSC 8 links.
pub fn hyperlinks(env: &Env) -> bool {
    const PROGRAMS: [&str; 6] = ["iTerm.app", "WezTerm", "ghostty", "vscode", "Hyper", "rio"];
    const TERMS: [&str; 5] = ["kitty", "alacritty", "ghostty", "foot", "wezterm"];
    let term = env.get("TERM").unwrap_or_default();
    if let Some(forced) = env.get("FORCE_HYPERLINK") {
        return forced != "0";
    }
    can_redraw(env)
        && (env.get("TERM_PROGRAM").is_some_and(|p| PROGRAMS.contains(&p))
            || TERMS.iter().any(|t| term.contains(t))
            || env.get("VTE_VERSION").and_then(|v| v.parse().ok()).is_some_and(|v: u32| v >= 5000)
            || env.get("WT_SESSION").is_some()
            || env.get("KONSOLE_VERSION").is_some())
}

/// Whether only ASCII may be drawn: the locale is one without UTF-8. Where there is none at all, as in most containers,
/// the terminal is likely to know UTF-8.
pub fn ascii_only(env: &Env) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| env.get(name));
    locale.is_some_and(|locale| !locale.to_ascii_uppercase().contains("UTF"))
}

/// Whether the terminal is known to wrap its rows anew when its width changes.
pub fn reflows(env: &Env) -> bool {
    const SIGNS: [&str; 8] = [
        "TMUX",
        "VTE_VERSION",
        "KITTY_WINDOW_ID",
        "ALACRITTY_WINDOW_ID",
        "WEZTERM_PANE",
        "KONSOLE_VERSION",
        "WT_SESSION",
        "TERM_PROGRAM",
    ];
    SIGNS.into_iter().any(|name| env.get(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(vars: &[(&str, &str)]) -> Env {
        vars.iter().fold(Env::default(), |env, (name, value)| env.with(name, value))
    }

    #[test]
    fn the_environment_decides_how_many_colours() {
        use ColorDepth::{Ansi16, Ansi256, None, True};
        let xterm = ("TERM", "xterm-256color");
        for (vars, terminal, expected) in [
            (vec![xterm], true, Ansi256),
            (vec![xterm], false, None),
            (vec![xterm, ("COLORTERM", "truecolor")], true, True),
            (vec![xterm, ("NO_COLOR", "1")], true, None),
            (vec![xterm, ("NO_COLOR", "1"), ("FORCE_COLOR", "1")], false, Ansi256),
            (vec![("TERM", "dumb")], true, None),
            (vec![("TERM", "dumb"), ("FORCE_COLOR", "1")], true, Ansi16),
            (vec![("TERM", "linux")], true, Ansi16),
            (vec![xterm, ("FORCE_COLOR", "0")], true, None),
            (vec![("TERM", "xterm-kitty")], true, True),
        ] {
            assert_eq!(depth(&env(&vars), terminal), expected, "{vars:?} {terminal}");
        }
    }

    #[test]
    fn the_background_is_read_from_colorfgbg() {
        assert!(is_dark(&env(&[])));
        assert!(is_dark(&env(&[("COLORFGBG", "15;0")])));
        assert!(!is_dark(&env(&[("COLORFGBG", "0;default;15")])));
    }

    #[test]
    fn links_are_drawn_only_where_they_are_known_to_work() {
        assert!(!hyperlinks(&env(&[("TERM", "xterm-256color")])));
        assert!(hyperlinks(&env(&[("TERM", "xterm-256color"), ("VTE_VERSION", "6003")])));
        assert!(!hyperlinks(&env(&[("TERM", "dumb"), ("TERM_PROGRAM", "vscode")])));
    }

    #[test]
    fn the_locale_decides_whether_more_than_ascii_is_drawn() {
        for (vars, expected) in [
            (vec![], false),
            (vec![("LANG", "C")], true),
            (vec![("LANG", "C.UTF-8")], false),
            (vec![("LANG", "de_DE.utf8"), ("LC_CTYPE", "POSIX")], true),
            (vec![("LANG", "en_US.ISO-8859-1")], true),
            (vec![("LANG", "en_US")], true),
            (vec![("LC_ALL", ""), ("LANG", "C"), ("LC_CTYPE", "en_US.UTF-8")], false),
        ] {
            assert_eq!(ascii_only(&env(&vars)), expected, "{vars:?}");
        }
    }
}
