#!/usr/bin/env python3
"""Draws the renderer's gallery as SVG, for the README: gallery.py [path/to/autocode]

Writes gallery-dark.svg and gallery-light.svg beside itself. Needs nothing but Python.
"""
import html
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parent / "runner/src/render/tests/gallery.md"
COLUMNS = 84
CELL, ROW, SIZE, MARGIN = 8.43, 19, 14, 18
LOOKS = {"dark": ("#1b1e24", "#d5d9e0", "15;0"), "light": ("#ffffff", "#24292f", "0;15")}
TOKEN = re.compile(r"\x1b\[([0-9;]*)m|\x1b\]8;[^\x1b]*\x1b\\|([^\x1b]+)")


def width(text):
    """Cells a text takes: joined emoji as one."""
    cells, joined = 0, False
    for char in text:
        wide = unicodedata.east_asian_width(char) in "WF"
        zero = unicodedata.combining(char) or char in "\u200d\ufe0f" or "\U0001f3fb" <= char <= "\U0001f3ff"
        if not zero and not joined:
            cells += 2 if wide else 1
        joined = char == "\u200d"
    return cells


def change(style, codes):
    """The style after an SGR sequence."""
    codes = [int(code or 0) for code in codes.split(";")]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = {}
        elif code == 38:
            style = {**style, "fill": "#%02x%02x%02x" % tuple(codes[1:4])}
            codes = codes[4:]
        elif code == 39:
            style = {key: value for key, value in style.items() if key != "fill"}
        else:
            name, value = {1: ("font-weight", "bold"), 3: ("font-style", "italic"),
                           4: ("text-decoration", "underline"), 9: ("text-decoration", "line-through")}[code]
            style = {**style, name: value}
    return style


def row(line, y):
    """One row as SVG, a text element for each piece."""
    out, style, cell = [], {}, 0
    for codes, text in TOKEN.findall(line):
        if not text:
            style = change(style, codes) if codes or "\x1b[m" in line else style
            continue
        cells = width(text)
        if text.strip():
            attributes = "".join(f' {key}="{value}"' for key, value in style.items())
            out.append(f'<text x="{MARGIN + cell * CELL:.1f}" y="{y}" textLength="{cells * CELL:.1f}"{attributes}>'
                       f"{html.escape(text)}</text>")
        cell += cells
    return out


def picture(rendered, background, foreground):
    lines = rendered.rstrip("\n").split("\n")
    wide, high = COLUMNS * CELL + 2 * MARGIN, len(lines) * ROW + 2 * MARGIN
    body = [part for n, line in enumerate(lines) for part in row(line, MARGIN + SIZE + n * ROW)]
    font = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high}" width="{wide:.0f}" height="{high}">',
        f'<rect width="100%" height="100%" rx="8" fill="{background}"/>',
        f'<g font-family="{font}" font-size="{SIZE}" fill="{foreground}" style="white-space:pre" xml:space="preserve">',
        *body, "</g>", "</svg>", ""])


def main():
    command = sys.argv[1:] or ["autocode"]
    for name, (background, foreground, colorfgbg) in LOOKS.items():
        environment = {**os.environ, "FORCE_COLOR": "3", "COLUMNS": str(COLUMNS), "COLORFGBG": colorfgbg,
                       "TERM": "xterm-256color", "FORCE_HYPERLINK": "1"}
        done = subprocess.run([*command, "render", str(DOCUMENT)], env=environment, capture_output=True,
                              text=True, check=True)
        target = HERE / f"gallery-{name}.svg"
        target.write_text(picture(done.stdout, background, foreground), encoding="utf-8")
        print(target)


if __name__ == "__main__":
    main()
