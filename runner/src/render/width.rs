//! How many terminal cells text takes.
//!
//! Widths are those of whole grapheme clusters, as current terminals draw them: CJK and emoji
//! take two cells, marks none, characters of ambiguous width one.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Cells that `text` takes in one row.
pub fn width(text: &str) -> usize {
    if is_narrow(text) {
        return text.len();
    }
    if text.chars().all(is_plain) {
        return text.chars().count();
    }
    text.graphemes(true).map(cluster_width).sum()
}

/// Whether a character takes one cell and joins no other but by one that is not plain: letters, signs of mathematics,
/// lines of tables.
fn is_plain(c: char) -> bool {
    matches!(c as u32, 0x20..=0x7e | 0xa1..=0xac | 0xae..=0x2ff | 0x370..=0x482 | 0x2070..=0x209f
        | 0x2100..=0x214f | 0x2190..=0x22ff | 0x2500..=0x259f)
}

/// Cells of one grapheme cluster.
pub(crate) fn cluster_width(cluster: &str) -> usize {
    match cluster.as_bytes() {
        [_] => 1,
        _ => cluster.width().min(2),
    }
}

/// Whether terminals disagree about the width of `text`: sequences that older ones draw character
/// by character (families, flags, skin tones, emoji presentation, vowel signs with a width).
pub(crate) fn is_contested(text: &str) -> bool {
    !text.is_ascii()
        && text.graphemes(true).any(|cluster| {
            let mut chars = cluster.chars().map(|c| c.width().unwrap_or(0));
            let base = chars.next().unwrap_or(0);
            chars.any(|w| w > 0) || base != cluster_width(cluster)
        })
}

/// Whether every byte is one cell.
pub(crate) fn is_narrow(text: &str) -> bool {
    text.is_ascii()
}

/// The longest beginning of `text` that fits into `cells`, with its width.
pub(crate) fn fitting(text: &str, cells: usize) -> (&str, usize) {
    let end = text.len().min(cells);
    let bytes = text.as_bytes();
    if bytes[..end].is_ascii() && bytes.get(end).is_none_or(u8::is_ascii) {
        return (&text[..end], end);
    }
    let mut used = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        let w = cluster_width(cluster);
        if used + w > cells {
            return (&text[..at], used);
        }
        used += w;
    }
    (text, used)
}

/// Whether a row may be broken between these two characters although no space is there.
/// Ideographs and kana break anywhere, except before closing and after opening punctuation.
pub(crate) fn breaks_between(before: char, after: char) -> bool {
    (is_ideographic(before) || is_ideographic(after)) && !opens(before) && !closes(after)
}

/// Scripts written without spaces between words.
pub(crate) fn is_ideographic(c: char) -> bool {
    matches!(c as u32, 0x2e80..=0x303f | 0x3040..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xf900..=0xfaff | 0xfe30..=0xfe4f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x20000..=0x3ffff)
}

fn opens(c: char) -> bool {
    "([{「『（［｛〈《【〔〖〘〚“‘".contains(c)
}

fn closes(c: char) -> bool {
    ")]}.,:;!?%、。，．・：；？！）］｝」』〉》】〕〗〙〛”’…‥ー々〜～ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ"
        .contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_characters_are_clusters_of_one_cell() {
        let plain: String = ('\0'..=char::MAX).filter(|&c| is_plain(c)).collect();
        for pair in [plain.clone(), plain.chars().rev().collect()] {
            let clusters: Vec<&str> = pair.graphemes(true).collect();
            assert_eq!(clusters.len(), pair.chars().count());
            for cluster in clusters {
                assert_eq!(cluster_width(cluster), 1, "{cluster}");
            }
        }
    }

    #[test]
    fn clusters_are_measured_whole() {
        for (text, cells) in [
            ("abc", 3),
            ("日本", 4),
            ("e\u{301}", 1),
            ("👨‍👩‍👧‍👦", 2),
            ("🇩🇪🇯🇵", 4),
            ("❤️", 2),
            ("±α…", 3),
            ("لا", 2),
        ] {
            assert_eq!(width(text), cells, "{text}");
        }
    }

    #[test]
    fn fitting_never_cuts_a_cluster() {
        assert_eq!(fitting("日本語", 5), ("日本", 4));
        assert_eq!(fitting("a👨‍👩‍👧b", 2), ("a", 1));
    }

    #[test]
    fn punctuation_sticks_to_its_neighbour() {
        assert!(breaks_between('日', '本'));
        assert!(!breaks_between('本', '。'));
        assert!(!breaks_between('「', '日'));
        assert!(!breaks_between('a', 'b'));
    }
}
