//! Superscripts, subscripts and vulgar fractions that Unicode has characters for.

/// `text` raised, if every character can be.
pub(super) fn superscript(text: &str) -> Option<String> {
    if text.contains("′′") {
        let text = text.replace("′′′′", "⁗").replace("′′′", "‴").replace("′′", "″");
        return convert(&text, raised, lone_raised);
    }
    convert(text, raised, lone_raised)
}

/// `text` lowered, if every character can be.
pub(super) fn subscript(text: &str) -> Option<String> {
    // Between indices a comma reads well as it is: x₁,₂.
    let inner_comma = !text.starts_with(',') && !text.ends_with(',');
    let form = |c| if c == ',' && inner_comma { Some(c) } else { lowered(c) };
    convert(text, form, |_| None)
}

fn convert(
    text: &str,
    form: impl Fn(char) -> Option<char>,
    lone: impl Fn(char) -> Option<char>,
) -> Option<String> {
    let mut chars = text.chars();
    if let (Some(c), None) = (chars.next(), chars.next())
        && let Some(c) = lone(c)
    {
        return Some(c.to_string());
    }
    (!text.is_empty()).then(|| text.chars().map(form).collect()).flatten()
}

fn raised(c: char) -> Option<char> {
    Some(match c {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        '+' => '⁺',
        '-' | '−' => '⁻',
        '=' => '⁼',
        '(' => '⁽',
        ')' => '⁾',
        'a' => 'ᵃ',
        'b' => 'ᵇ',
        'c' => 'ᶜ',
        'd' => 'ᵈ',
        'e' => 'ᵉ',
        'f' => 'ᶠ',
        'g' => 'ᵍ',
        'h' => 'ʰ',
        'i' => 'ⁱ',
        'j' => 'ʲ',
        'k' => 'ᵏ',
        'l' => 'ˡ',
        'm' => 'ᵐ',
        'n' => 'ⁿ',
        'o' => 'ᵒ',
        'p' => 'ᵖ',
        'r' => 'ʳ',
        's' => 'ˢ',
        't' => 'ᵗ',
        'u' => 'ᵘ',
        'v' => 'ᵛ',
        'w' => 'ʷ',
        'x' => 'ˣ',
        'y' => 'ʸ',
        'z' => 'ᶻ',
        'A' => 'ᴬ',
        'B' => 'ᴮ',
        'D' => 'ᴰ',
        'E' => 'ᴱ',
        'G' => 'ᴳ',
        'H' => 'ᴴ',
        'I' => 'ᴵ',
        'J' => 'ᴶ',
        'K' => 'ᴷ',
        'L' => 'ᴸ',
        'M' => 'ᴹ',
        'N' => 'ᴺ',
        'O' => 'ᴼ',
        'P' => 'ᴾ',
        'R' => 'ᴿ',
        'T' => 'ᵀ',
        'U' => 'ᵁ',
        'V' => 'ⱽ',
        'W' => 'ᵂ',
        'β' => 'ᵝ',
        'γ' => 'ᵞ',
        'δ' => 'ᵟ',
        'θ' => 'ᶿ',
        'φ' => 'ᵠ',
        'χ' => 'ᵡ',
        // Signs that are drawn high anyway.
        '*' | '∗' => '*',
        '∘' | '°' => '°',
        '′' | '″' | '‴' | '⁗' | '†' | '‡' => c,
        _ => return None,
    })
}

/// Letters added late to Unicode, in few fonts: used where the script is that letter alone, since
/// a longer script reads better in parentheses than with a gap in it.
fn lone_raised(c: char) -> Option<char> {
    Some(match c {
        'C' => 'ꟲ',
        'F' => 'ꟳ',
        'Q' => 'ꟴ',
        'q' => '𐞥',
        // The transpose.
        '⊤' | '⊺' => 'ᵀ',
        _ => return None,
    })
}

fn lowered(c: char) -> Option<char> {
    Some(match c {
        '0' => '₀',
        '1' => '₁',
        '2' => '₂',
        '3' => '₃',
        '4' => '₄',
        '5' => '₅',
        '6' => '₆',
        '7' => '₇',
        '8' => '₈',
        '9' => '₉',
        '+' => '₊',
        '-' | '−' => '₋',
        '=' => '₌',
        '(' => '₍',
        ')' => '₎',
        'a' => 'ₐ',
        'e' => 'ₑ',
        'h' => 'ₕ',
        'i' => 'ᵢ',
        'j' => 'ⱼ',
        'k' => 'ₖ',
        'l' => 'ₗ',
        'm' => 'ₘ',
        'n' => 'ₙ',
        'o' => 'ₒ',
        'p' => 'ₚ',
        'r' => 'ᵣ',
        's' => 'ₛ',
        't' => 'ₜ',
        'u' => 'ᵤ',
        'v' => 'ᵥ',
        'x' => 'ₓ',
        'β' => 'ᵦ',
        'γ' => 'ᵧ',
        'ρ' => 'ᵨ',
        'φ' => 'ᵩ',
        'χ' => 'ᵪ',
        _ => return None,
    })
}

/// The single character for a simple fraction.
pub(super) fn vulgar(num: &str, den: &str) -> Option<char> {
    Some(match (num, den) {
        ("1", "2") => '½',
        ("1", "3") => '⅓',
        ("2", "3") => '⅔',
        ("1", "4") => '¼',
        ("3", "4") => '¾',
        ("1", "5") => '⅕',
        ("2", "5") => '⅖',
        ("3", "5") => '⅗',
        ("4", "5") => '⅘',
        ("1", "6") => '⅙',
        ("5", "6") => '⅚',
        ("1", "7") => '⅐',
        ("1", "8") => '⅛',
        ("3", "8") => '⅜',
        ("5", "8") => '⅝',
        ("7", "8") => '⅞',
        ("1", "9") => '⅑',
        ("1", "10") => '⅒',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_converted_whole_or_not_at_all() {
        assert_eq!(superscript("n+1").as_deref(), Some("ⁿ⁺¹"));
        assert_eq!(superscript("2π"), None);
        assert_eq!(subscript("i−1").as_deref(), Some("ᵢ₋₁"));
        assert_eq!(subscript("b"), None);
        assert_eq!(superscript(""), None);
    }

    #[test]
    fn rare_letters_stand_only_alone() {
        assert_eq!(superscript("q").as_deref(), Some("𐞥"));
        assert_eq!(superscript("q+1"), None);
    }
}
