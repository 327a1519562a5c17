//! `\not`: the precomposed sign where Unicode has one, else a stroke through the character.

use super::tree::Node;

/// Strikes the first character of `node` through.
pub(super) fn negate(node: &mut Node) {
    match node {
        Node::Atom { text, .. } | Node::Word(text) => {
            let mut chars = text.chars();
            let Some(first) = chars.next() else { return };
            let rest = chars.as_str();
            *text = match negated(first) {
                Some(c) => format!("{c}{rest}"),
                None => format!("{first}\u{338}{rest}"),
            };
        }
        Node::Scripts { base: Some(base), .. } => negate(base),
        Node::Group { body, .. } | Node::Op { body, .. } => {
            if let Some(first) = body.first_mut() {
                negate(first);
            }
        }
        _ => {}
    }
}

fn negated(c: char) -> Option<char> {
    Some(match c {
        '=' => '≠',
        '<' => '≮',
        '>' => '≯',
        '∈' => '∉',
        '∋' => '∌',
        '∃' => '∄',
        '⊂' => '⊄',
        '⊃' => '⊅',
        '⊆' => '⊈',
        '⊇' => '⊉',
        '⊑' => '⋢',
        '⊒' => '⋣',
        '≡' => '≢',
        '≈' => '≉',
        '∼' => '≁',
        '≃' => '≄',
        '≅' => '≇',
        '≍' => '≭',
        '≤' => '≰',
        '≥' => '≱',
        '≲' => '≴',
        '≳' => '≵',
        '≶' => '≸',
        '≷' => '≹',
        '∣' | '|' => '∤',
        '∥' => '∦',
        '≺' => '⊀',
        '≻' => '⊁',
        '≼' | '⪯' => '⋠',
        '≽' | '⪰' => '⋡',
        '⊢' => '⊬',
        '⊨' => '⊭',
        '⊩' => '⊮',
        '⊲' | '◁' => '⋪',
        '⊳' | '▷' => '⋫',
        '⊴' => '⋬',
        '⊵' => '⋭',
        '→' => '↛',
        '←' => '↚',
        '↔' => '↮',
        '⇒' => '⇏',
        '⇐' => '⇍',
        '⇔' => '⇎',
        _ => return None,
    })
}
