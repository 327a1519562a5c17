//! The colours of the inks on dark and light backgrounds, and the ornaments around text.
//!
//! Text itself keeps the terminal's own foreground, so that it is readable on any background;
//! only what stands out is coloured.

use super::color::ColorDepth;
use super::style::Ink;

/// How many inks there are.
pub(crate) const INKS: usize = Ink::Changed as usize + 1;

/// One ink: 24-bit colours on dark and on light, the 16-colour code on dark and on light.
type Swatch = (u32, u32, u8, u8);

const NONE: u32 = u32::MAX;

const SWATCHES: [(Ink, Swatch); INKS] = [
    (Ink::Plain, (NONE, NONE, 39, 39)),
    (Ink::Muted, (0x808792, 0x6b7280, 90, 90)),
    (Ink::Accent, (0x56b6c2, 0x0e7490, 36, 36)),
    (Ink::Heading, (0x6cb6ff, 0x1d4ed8, 94, 34)),
    (Ink::Link, (0x7aa2f7, 0x2563eb, 94, 34)),
    (Ink::Code, (0xe5c07b, 0x9a3412, 33, 33)),
    (Ink::Math, (0xc3a6ff, 0x7e22ce, 95, 35)),
    (Ink::Success, (0x98c379, 0x15803d, 32, 32)),
    (Ink::Warning, (0xe5c07b, 0xb45309, 33, 33)),
    (Ink::Error, (0xf07178, 0xb91c1c, 91, 31)),
    (Ink::Note, (0x6cb6ff, 0x1d4ed8, 94, 34)),
    (Ink::Important, (0xc678dd, 0x8b1fa9, 95, 35)),
    (Ink::Comment, (0x808792, 0x6b7280, 90, 90)),
    (Ink::Keyword, (0xc678dd, 0x8b1fa9, 95, 35)),
    (Ink::Text, (0x98c379, 0x15803d, 32, 32)),
    (Ink::Number, (0xd19a66, 0x9a5b00, 33, 33)),
    (Ink::Function, (0x61afef, 0x1750c4, 94, 34)),
    (Ink::Type, (0xe5c07b, 0x8a6100, 33, 33)),
    (Ink::Variable, (0xf07178, 0xb3261e, 91, 31)),
    (Ink::Property, (0x56b6c2, 0x0b7285, 36, 36)),
    (Ink::Operator, (0x9aa5b4, 0x4b5563, 39, 39)),
    (Ink::Added, (0x98c379, 0x15803d, 32, 32)),
    (Ink::Removed, (0xf07178, 0xb91c1c, 91, 31)),
    (Ink::Changed, (0x56b6c2, 0x0e7490, 36, 36)),
];

/// SGR parameters that switch each ink on.
pub(crate) fn palette(depth: ColorDepth, dark: bool) -> [String; INKS] {
    let mut out = [const { String::new() }; INKS];
    for (ink, (on_dark, on_light, low_dark, low_light)) in SWATCHES {
        let rgb = if dark { on_dark } else { on_light };
        let [_, r, g, b] = rgb.to_be_bytes();
        out[ink as usize] = match depth {
            ColorDepth::None => String::new(),
            _ if rgb == NONE => "39".to_owned(),
            ColorDepth::Ansi16 => (if dark { low_dark } else { low_light }).to_string(),
            ColorDepth::Ansi256 => format!("38;5;{}", nearest_256(r, g, b)),
            ColorDepth::True => format!("38;2;{r};{g};{b}"),
        };
    }
    out
}

/// SGR parameters of the background behind the user's own messages.
pub(crate) fn bar(depth: ColorDepth, dark: bool) -> &'static str {
    match (depth, dark) {
        (ColorDepth::None, _) => "",
        (ColorDepth::Ansi16, true) => "100",
        (ColorDepth::Ansi16, false) => "47",
        (_, true) => "48;5;236",
        (_, false) => "48;5;254",
    }
}

/// The nearest colour of the 6×6×6 cube or the grey ramp.
fn nearest_256(r: u8, g: u8, b: u8) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |v: u8| (0..6u8).min_by_key(|&i| LEVELS[usize::from(i)].abs_diff(v)).unwrap_or(0);
    let distance = |x: [u8; 3]| -> u32 {
        x.iter().zip([r, g, b]).map(|(&a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    let cube = [level(r), level(g), level(b)];
    let cube_rgb = cube.map(|i| LEVELS[usize::from(i)]);
    let mean = (u16::from(r) + u16::from(g) + u16::from(b)) / 3;
    let step = (mean.saturating_sub(3) / 10).min(23);
    let grey = u8::try_from(8 + 10 * step).unwrap_or(u8::MAX);
    if distance([grey; 3]) < distance(cube_rgb) {
        232 + u8::try_from(step).unwrap_or(23)
    } else {
        16 + 36 * cube[0] + 6 * cube[1] + cube[2]
    }
}

/// Ornaments: what is drawn around text, never what text is replaced by.
#[derive(Debug)]
pub(crate) struct Glyphs {
    pub bullets: [&'static str; 3],
    pub checked: &'static str,
    pub unchecked: &'static str,
    pub quote: &'static str,
    pub rule: &'static str,
    /// Left, middle and right of a table's top, separator and bottom.
    pub top: [&'static str; 3],
    pub middle: [&'static str; 3],
    pub bottom: [&'static str; 3],
    pub bar: &'static str,
}

const UNICODE: Glyphs = Glyphs {
    bullets: ["•", "◦", "▪"],
    checked: "☑",
    unchecked: "☐",
    quote: "▎",
    rule: "─",
    top: ["┌", "┬", "┐"],
    middle: ["├", "┼", "┤"],
    bottom: ["└", "┴", "┘"],
    bar: "│",
};

const ASCII: Glyphs = Glyphs {
    bullets: ["*", "-", "+"],
    checked: "[x]",
    unchecked: "[ ]",
    quote: "|",
    rule: "-",
    top: ["+", "+", "+"],
    middle: ["+", "+", "+"],
    bottom: ["+", "+", "+"],
    bar: "|",
};

/// The ornaments a terminal can draw.
pub(crate) const fn glyphs(ascii: bool) -> &'static Glyphs {
    if ascii { &ASCII } else { &UNICODE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ink_has_its_swatch() {
        for (n, (ink, _)) in SWATCHES.iter().enumerate() {
            assert_eq!(*ink as usize, n);
        }
    }

    #[test]
    fn colours_come_down_to_what_the_terminal_has() {
        let at = |depth| palette(depth, true)[Ink::Added as usize].clone();
        assert_eq!(at(ColorDepth::True), "38;2;152;195;121");
        assert_eq!(at(ColorDepth::Ansi256), "38;5;108");
        assert_eq!(at(ColorDepth::Ansi16), "32");
        assert_eq!(at(ColorDepth::None), "");
        assert_eq!(nearest_256(128, 128, 128), 244);
    }
}
