//! Pictures of one document with everything in it.

use super::*;

const GALLERY: &str = include_str!("gallery.md");

fn snapshot(name: &str, content: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, content);
    });
}

#[test]
fn the_gallery_at_three_widths() {
    for width in [40, 80, 120] {
        snapshot(&format!("gallery-{width}"), &texts(&whole(GALLERY, options(width))).join("\n"));
    }
}

#[test]
fn the_gallery_on_dark_and_on_light() {
    for (name, dark) in [("dark", true), ("light", false)] {
        let options = Options { dark, hyperlinks: true, ..options(80) };
        let encoder = Encoder::new(ColorDepth::True, dark, true);
        let mut out = String::new();
        for line in whole(GALLERY, options) {
            encoder.line(&line, &mut out);
            out.push('\n');
        }
        snapshot(&format!("gallery-{name}"), &out.replace('\x1b', "␛"));
    }
}

#[test]
fn sixteen_colours_and_none_are_enough() {
    for (name, color) in [("16", ColorDepth::Ansi16), ("plain", ColorDepth::None)] {
        let encoder = Encoder::new(color, true, false);
        let mut out = String::new();
        for line in whole(GALLERY, Options { color, ascii: true, ..options(60) }) {
            encoder.line(&line, &mut out);
            out.push('\n');
        }
        snapshot(&format!("gallery-{name}"), &out.replace('\x1b', "␛"));
    }
}
