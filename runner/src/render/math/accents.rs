//! Accents: which command puts which mark, and the precomposed letter where Unicode has one.

use super::tree::Accent;

/// The mark that an accent command puts, by KaTeX's label.
pub(super) fn accent(label: &str) -> Option<Accent> {
    let (mark, wide, over, stretchy) = match label {
        r"\acute" | r"\'" => ('\u{301}', "´", true, false),
        r"\grave" | r"\`" => ('\u{300}', "`", true, false),
        r"\ddot" | "\\\"" => ('\u{308}', "¨", true, false),
        r"\tilde" | r"\~" | r"\widetilde" => ('\u{303}', "~", true, false),
        r"\bar" | r"\=" => ('\u{304}', "¯", true, false),
        r"\breve" | r"\u" => ('\u{306}', "˘", true, false),
        r"\check" | r"\v" | r"\widecheck" => ('\u{30C}', "ˇ", true, false),
        r"\hat" | r"\^" | r"\widehat" => ('\u{302}', "^", true, false),
        r"\dot" | r"\." => ('\u{307}', "˙", true, false),
        r"\mathring" | r"\r" => ('\u{30A}', "˚", true, false),
        r"\H" => ('\u{30B}', "˝", true, false),
        r"\c" => ('\u{327}', "¸", false, false),
        r"\textcircled" => ('\u{20DD}', "", true, false),
        r"\vec" => ('\u{20D7}', "→", true, false),
        r"\overrightarrow" => ('\u{20D7}', "→", true, true),
        r"\overleftarrow" => ('\u{20D6}', "←", true, true),
        r"\Overrightarrow" => ('\u{20D7}', "⇒", true, true),
        r"\overleftrightarrow" => ('\u{20E1}', "↔", true, true),
        r"\overleftharpoon" => ('\u{20D0}', "↼", true, true),
        r"\overrightharpoon" => ('\u{20D1}', "⇀", true, true),
        r"\overgroup" => ('\u{311}', "⏠", true, true),
        r"\overlinesegment" => ('\u{305}', "‾", true, true),
        r"\underleftarrow" => ('\u{20EE}', "←", false, true),
        r"\underrightarrow" => ('\u{20EF}', "→", false, true),
        r"\underleftrightarrow" => ('\u{34D}', "↔", false, true),
        r"\undergroup" => ('\u{32E}', "⏡", false, true),
        r"\underlinesegment" => ('\u{332}', "_", false, true),
        r"\utilde" => ('\u{330}', "~", false, false),
        _ => return None,
    };
    Some(Accent { mark, wide, over, stretchy })
}

/// `base` under `mark`: one character where Unicode has it, so that terminals which draw
/// combining marks badly still show it well.
pub(super) fn compose(base: &str, mark: char) -> String {
    let mut chars = base.chars();
    if let (Some(letter), None) = (chars.next(), chars.next())
        && let Some(c) = precomposed(letter, mark)
    {
        return c.to_string();
    }
    format!("{base}{mark}")
}

/// Letters and their composed forms in turn, by mark.
const COMPOSED: &[(char, &str)] = &[
    ('\u{300}', "aàeèiìoòuùnǹwẁyỳAÀEÈIÌOÒUÙNǸWẀYỲ"),
    ('\u{301}', "aáeéiíoóuúyýcćgǵkḱlĺmḿnńpṕrŕsśwẃzźAÁEÉIÍOÓUÚYÝCĆGǴKḰLĹMḾNŃPṔRŔSŚWẂZŹ"),
    ('\u{302}', "aâcĉeêgĝhĥiîjĵoôsŝuûwŵyŷzẑAÂCĈEÊGĜHĤIÎJĴOÔSŜUÛWŴYŶZẐ"),
    ('\u{303}', "aãeẽiĩnñoõuũvṽyỹAÃEẼIĨNÑOÕUŨVṼYỸ"),
    ('\u{304}', "aāeēgḡiīoōuūyȳAĀEĒGḠIĪOŌUŪYȲ"),
    ('\u{306}', "aăeĕgğiĭoŏuŭAĂEĔGĞIĬOŎUŬ"),
    ('\u{307}', "aȧbḃcċdḋeėfḟgġhḣmṁnṅoȯpṗrṙsṡtṫwẇxẋyẏzżAȦBḂCĊDḊEĖFḞGĠHḢIİMṀNṄOȮPṖRṘSṠTṪWẆXẊYẎZŻ"),
    ('\u{308}', "aäeëhḧiïoötẗuüwẅxẍyÿAÄEËHḦIÏOÖUÜWẄXẌYŸ"),
    ('\u{30A}', "aåuůwẘyẙAÅUŮ"),
    ('\u{30B}', "oőuűOŐUŰ"),
    ('\u{30C}', "aǎcčdďeěgǧhȟiǐjǰkǩlľnňoǒrřsštťuǔzžAǍCČDĎEĚGǦHȞIǏKǨLĽNŇOǑRŘSŠTŤUǓZŽ"),
    ('\u{327}', "cçdḑeȩgģhḩkķlļnņrŗsştţCÇDḐEȨGĢHḨKĶLĻNŅRŖSŞTŢ"),
];

fn precomposed(letter: char, mark: char) -> Option<char> {
    if mark == '\u{20DD}' {
        return circled(letter);
    }
    // A letter without its dot is there to carry the mark.
    let letter = match letter {
        'ı' => 'i',
        'ȷ' => 'j',
        c => c,
    };
    let (_, pairs) = COMPOSED.iter().find(|(m, _)| *m == mark)?;
    let mut chars = pairs.chars();
    while let (Some(plain), Some(composed)) = (chars.next(), chars.next()) {
        if plain == letter {
            return Some(composed);
        }
    }
    None
}

fn circled(c: char) -> Option<char> {
    let code = match c {
        'A'..='Z' => 0x24B6 + u32::from(c) - u32::from('A'),
        'a'..='z' => 0x24D0 + u32::from(c) - u32::from('a'),
        '1'..='9' => 0x2460 + u32::from(c) - u32::from('1'),
        '0' => 0x24EA,
        _ => return None,
    };
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_composed_letter_is_used_where_there_is_one() {
        assert_eq!(compose("a", '\u{302}'), "â");
        assert_eq!(compose("x", '\u{302}'), "x\u{302}");
        assert_eq!(compose("é", '\u{302}'), "é\u{302}");
        assert_eq!(compose("R", '\u{20DD}'), "Ⓡ");
    }

    #[test]
    fn the_table_holds_whole_pairs() {
        for (mark, pairs) in COMPOSED {
            assert_eq!(pairs.chars().count() % 2, 0, "pairs of {mark:?}");
        }
    }
}
