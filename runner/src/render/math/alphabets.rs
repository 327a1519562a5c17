//! Letters in the mathematical alphabets: bold, italic, script, fraktur, double-struck, sans,
//! monospace. Plain mathematical italic stays plain text, which every font has and every reader
//! can search for; only `\mathit` asks for it.

/// The face of a letter; the weight and slope are apart because nested font commands add up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Font {
    pub family: Family,
    pub bold: bool,
    pub italic: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Family {
    #[default]
    Serif,
    Script,
    Fraktur,
    Double,
    Sans,
    Mono,
}

impl Font {
    /// This font with a command such as `mathbf` applied inside it.
    pub(super) fn with(self, command: &str) -> Self {
        let family = |family| Self { family, ..self };
        match command {
            "mathbf" | "boldsymbol" => Self { bold: true, ..self },
            "mathit" => Self { italic: true, ..self },
            "mathcal" | "mathscr" => family(Family::Script),
            "mathfrak" => family(Family::Fraktur),
            "mathbb" => family(Family::Double),
            "mathsf" => family(Family::Sans),
            "mathsfit" => Self { family: Family::Sans, italic: true, ..self },
            "mathtt" => family(Family::Mono),
            "mathrm" => Self { italic: false, ..family(Family::Serif) },
            _ => self,
        }
    }
}

/// `c` in `font`, or `c` itself where Unicode has no such form.
pub(super) fn styled(c: char, font: Font) -> char {
    if font == Font::default() {
        return c;
    }
    let form = match c {
        'A'..='Z' => latin(c, u32::from(c) - u32::from('A'), font),
        'a'..='z' => latin(c, u32::from(c) - u32::from('a') + 26, font),
        '0'..='9' => digit(u32::from(c) - u32::from('0'), font),
        _ => greek(c, font),
    };
    form.unwrap_or(c)
}

fn latin(c: char, offset: u32, font: Font) -> Option<char> {
    use Family::{Double, Fraktur, Mono, Sans, Script, Serif};
    let start = match (font.family, font.bold, font.italic) {
        (Serif, false, false) => return None,
        (Serif, true, false) => 0x1D400,
        (Serif, false, true) if c == 'h' => return Some('ℎ'),
        (Serif, false, true) => 0x1D434,
        (Serif, true, true) => 0x1D468,
        (Script, true, _) => 0x1D4D0,
        (Fraktur, true, _) => 0x1D56C,
        (Sans, false, false) => 0x1D5A0,
        (Sans, true, false) => 0x1D5D4,
        (Sans, false, true) => 0x1D608,
        (Sans, true, true) => 0x1D63C,
        (Mono, ..) => 0x1D670,
        (Script, false, _) => return letterlike_script(c).or(char::from_u32(0x1D49C + offset)),
        (Fraktur, false, _) => return letterlike_fraktur(c).or(char::from_u32(0x1D504 + offset)),
        (Double, ..) => return letterlike_double(c).or(char::from_u32(0x1D538 + offset)),
    };
    char::from_u32(start + offset)
}

/// Letters that Unicode had before it had the alphabets; their places there are empty.
fn letterlike_script(c: char) -> Option<char> {
    Some(match c {
        'B' => 'ℬ',
        'E' => 'ℰ',
        'F' => 'ℱ',
        'H' => 'ℋ',
        'I' => 'ℐ',
        'L' => 'ℒ',
        'M' => 'ℳ',
        'R' => 'ℛ',
        'e' => 'ℯ',
        'g' => 'ℊ',
        'o' => 'ℴ',
        _ => return None,
    })
}

fn letterlike_fraktur(c: char) -> Option<char> {
    Some(match c {
        'C' => 'ℭ',
        'H' => 'ℌ',
        'I' => 'ℑ',
        'R' => 'ℜ',
        'Z' => 'ℨ',
        _ => return None,
    })
}

fn letterlike_double(c: char) -> Option<char> {
    Some(match c {
        'C' => 'ℂ',
        'H' => 'ℍ',
        'N' => 'ℕ',
        'P' => 'ℙ',
        'Q' => 'ℚ',
        'R' => 'ℝ',
        'Z' => 'ℤ',
        _ => return None,
    })
}

fn digit(offset: u32, font: Font) -> Option<char> {
    use Family::{Double, Fraktur, Mono, Sans, Script, Serif};
    let start = match (font.family, font.bold) {
        (Serif, true) => 0x1D7CE,
        (Double, _) => 0x1D7D8,
        (Sans, false) => 0x1D7E2,
        (Sans, true) => 0x1D7EC,
        (Mono, _) => 0x1D7F6,
        (Serif | Script | Fraktur, _) => return None,
    };
    char::from_u32(start + offset)
}

/// Greek has bold forms in serif and sans, and four letters and a sum double-struck. Italic
/// Greek is left plain, as italic Latin is by default.
fn greek(c: char, font: Font) -> Option<char> {
    if font.family == Family::Double {
        return Some(match c {
            'π' => 'ℼ',
            'γ' => 'ℽ',
            'Γ' => 'ℾ',
            'Π' => 'ℿ',
            '∑' => '⅀',
            _ => return None,
        });
    }
    if !font.bold {
        return None;
    }
    let start = match (font.family, font.italic) {
        (Family::Serif, false) => 0x1D6A8,
        (Family::Serif, true) => 0x1D71C,
        (Family::Sans, false) => 0x1D756,
        (Family::Sans, true) => 0x1D790,
        _ => return None,
    };
    let offset = match c {
        'Α'..='Ρ' | 'Σ'..='Ω' => u32::from(c) - u32::from('Α'),
        'ϴ' => 17,
        '∇' => 25,
        'α'..='ω' => 26 + u32::from(c) - u32::from('α'),
        '∂' => 51,
        'ϵ' => 52,
        'ϑ' => 53,
        'ϰ' => 54,
        'ϕ' => 55,
        'ϱ' => 56,
        'ϖ' => 57,
        'Ϝ' if start == 0x1D6A8 => return Some('𝟊'),
        'ϝ' if start == 0x1D6A8 => return Some('𝟋'),
        _ => return None,
    };
    char::from_u32(start + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(command: &str, text: &str) -> String {
        text.chars().map(|c| styled(c, Font::default().with(command))).collect()
    }

    #[test]
    fn letters_that_predate_the_alphabets_keep_their_own_code_points() {
        assert_eq!(set("mathcal", "ABHego"), "𝒜ℬℋℯℊℴ");
        assert_eq!(set("mathfrak", "ACHIRZz"), "𝔄ℭℌℑℜℨ𝔷");
        assert_eq!(set("mathbb", "ACHNPQRZz09"), "𝔸ℂℍℕℙℚℝℤ𝕫𝟘𝟡");
        assert_eq!(set("mathit", "gh"), "𝑔ℎ");
    }

    #[test]
    fn bold_reaches_greek_and_digits() {
        assert_eq!(set("mathbf", "AΑΡΣΩαωϵϖ∇∂7"), "𝐀𝚨𝚸𝚺𝛀𝛂𝛚𝛜𝛡𝛁𝛛𝟕");
    }

    #[test]
    fn what_has_no_form_stays_plain() {
        assert_eq!(set("mathcal", "7+α"), "7+α");
        assert_eq!(set("mathrm", "dx"), "dx");
        assert_eq!(set("mathit", "Γ"), "Γ");
    }

    #[test]
    fn nested_fonts_add_up() {
        let font = Font::default().with("boldsymbol").with("mathcal");
        assert_eq!(styled('A', font), '𝓐');
        assert_eq!(styled('α', Font::default().with("mathsf").with("mathbf")), '𝝰');
    }
}
