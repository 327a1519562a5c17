//! Delimiters of any height, drawn from the bracket pieces of Unicode.

use super::block::Block;

/// `delim` over `rows` rows with the baseline in row `base`. An empty delimiter has no width.
pub(super) fn stretched(delim: &str, rows: usize, base: usize) -> Block {
    if delim.is_empty() {
        return Block::blank(0, rows, base);
    }
    if rows <= 1 {
        return Block { base, ..Block::line(delim) };
    }
    let column = |top: &str, middle: &str, bottom: &str| {
        let mut column = vec![middle.to_owned(); rows];
        column[0] = top.to_owned();
        column[rows - 1] = bottom.to_owned();
        Block::column(column, base)
    };
    match delim {
        "(" | "⟮" => column("⎛", "⎜", "⎝"),
        ")" | "⟯" => column("⎞", "⎟", "⎠"),
        "[" => column("⎡", "⎢", "⎣"),
        "]" => column("⎤", "⎥", "⎦"),
        "⌈" => column("⎡", "⎢", "⎢"),
        "⌉" => column("⎤", "⎥", "⎥"),
        "⌊" => column("⎢", "⎢", "⎣"),
        "⌋" => column("⎥", "⎥", "⎦"),
        "{" => braced(column("⎧", "⎪", "⎩"), "⎨", ["⎰", "⎱"]),
        "}" => braced(column("⎫", "⎪", "⎭"), "⎬", ["⎱", "⎰"]),
        "⎰" => column("⎧", "⎪", "⎭"),
        "⎱" => column("⎫", "⎪", "⎩"),
        "|" | "∣" => column("│", "│", "│"),
        "‖" | "∥" => column("║", "║", "║"),
        "⟦" => doubled(column("⎡", "⎢", "⎣"), column("⎡", "⎢", "⎣")),
        "⟧" => doubled(column("⎤", "⎥", "⎦"), column("⎤", "⎥", "⎦")),
        "↑" => column("↑", "│", "│"),
        "↓" => column("│", "│", "↓"),
        "↕" => column("↑", "│", "↓"),
        "⇑" => column("⇑", "║", "║"),
        "⇓" => column("║", "║", "⇓"),
        "⇕" => column("⇑", "║", "⇓"),
        "⟨" => chevron(rows, base, true),
        "⟩" => chevron(rows, base, false),
        "/" => diagonal(rows, base, "╱", true),
        "\\" | "∖" => diagonal(rows, base, "╲", false),
        _ => Block::line(delim).grown(base, rows - base - 1),
    }
}

/// The point of a brace, at the baseline unless that is at an end.
fn braced(mut column: Block, point: &str, halves: [&str; 2]) -> Block {
    let rows = column.height();
    if rows == 2 {
        column.rows = halves.map(str::to_owned).to_vec();
    } else {
        column.rows[column.base.clamp(1, rows - 2)] = point.to_owned();
    }
    column
}

fn doubled(left: Block, right: Block) -> Block {
    Block::beside([(0, left), (0, right)])
}

/// Angle brackets lean out by one cell every two rows.
fn chevron(rows: usize, base: usize, left: bool) -> Block {
    let half = rows / 2;
    let odd = rows % 2 == 1;
    let width = half.max(1);
    let rows = (0..rows).map(|row| {
        // Rows away from the point, which is at the left of ⟨ and the right of ⟩.
        let (piece, out) = if odd && row == half {
            (if left { "⟨" } else { "⟩" }, 0)
        } else if row < half {
            (if left { "╱" } else { "╲" }, half - 1 - row)
        } else {
            (if left { "╲" } else { "╱" }, row - half - usize::from(odd))
        };
        let before = if left { out } else { width - 1 - out };
        format!("{}{piece}{}", " ".repeat(before), " ".repeat(width - 1 - before))
    });
    Block::column(rows.collect(), base)
}

fn diagonal(rows: usize, base: usize, piece: &str, rising: bool) -> Block {
    let drawn = (0..rows).map(|row| {
        let before = if rising { rows - 1 - row } else { row };
        format!("{}{piece}{}", " ".repeat(before), " ".repeat(rows - 1 - before))
    });
    Block::column(drawn.collect(), base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(delim: &str, rows: usize) -> String {
        stretched(delim, rows, rows / 2).rows.join("\n")
    }

    #[test]
    fn brackets_have_ends_and_a_brace_has_a_point() {
        assert_eq!(show("(", 3), "⎛\n⎜\n⎝");
        assert_eq!(show("]", 2), "⎤\n⎦");
        assert_eq!(show("{", 5), "⎧\n⎪\n⎨\n⎪\n⎩");
        assert_eq!(show("{", 2), "⎰\n⎱");
        assert_eq!(show("⌊", 2), "⎢\n⎣");
    }

    #[test]
    fn angles_and_slashes_lean() {
        assert_eq!(show("⟨", 3), "╱\n⟨\n╲");
        assert_eq!(show("⟩", 4), "╲ \n ╲\n ╱\n╱ ");
        assert_eq!(show("/", 2), " ╱\n╱ ");
    }

    #[test]
    fn every_row_of_a_delimiter_has_the_same_width() {
        for delim in ["", "(", "}", "⟨", "⟩", "/", "‖", "⟦", "↕", "?"] {
            for rows in 1..7 {
                let block = stretched(delim, rows, rows / 2);
                assert_eq!(block.height(), rows);
                for row in &block.rows {
                    assert_eq!(super::super::block::width(row), block.width, "{delim} {rows}");
                }
            }
        }
    }
}
