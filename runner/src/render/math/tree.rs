//! The formula as the two layouts see it: symbols resolved to the characters to print, fonts
//! applied, macros gone. Built by `lower` from KaTeX's parse tree; both `inline` and `display`
//! read it and nothing else, so that a construct is understood in one place.

/// TeX's classes of atoms; they decide the space between neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Ord,
    Op,
    Bin,
    Rel,
    Open,
    Close,
    Punct,
    Inner,
}

/// How much room a part has. Script style is for exponents, indices and labels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    Display,
    Text,
    Script,
}

/// Where an operator carries its scripts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limits {
    Beside,
    /// Above and below when there is room: display style.
    InDisplay,
    Always,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OpKind {
    /// A large sign: ∑, ∫.
    Sign,
    /// A word: sin, lim.
    Name,
    /// The base of `\overset` and its kin.
    Stack,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Atom {
        text: String,
        class: Class,
    },
    /// Upright words, or source text that is shown as it was written.
    Word(String),
    /// Width in em; negative pulls together.
    Space(f32),
    /// `\\` outside a table.
    Newline,
    /// Holds from here to the end of the list.
    Style(Style),
    Group {
        body: Vec<Node>,
        class: Class,
    },
    Op {
        body: Vec<Node>,
        limits: Limits,
        kind: OpKind,
    },
    Scripts {
        base: Option<Box<Node>>,
        sub: Option<Vec<Node>>,
        sup: Option<Vec<Node>>,
    },
    Frac {
        num: Vec<Node>,
        den: Vec<Node>,
        bar: bool,
        left: String,
        right: String,
        compact: bool,
    },
    Root {
        index: Option<Vec<Node>>,
        body: Vec<Node>,
    },
    Fence {
        left: String,
        right: String,
        body: Vec<Node>,
    },
    /// `\middle`, a direct child of a fence.
    Middle(String),
    Accent {
        accent: Accent,
        body: Vec<Node>,
    },
    Line {
        over: bool,
        body: Vec<Node>,
    },
    Brace {
        over: bool,
        square: bool,
        body: Vec<Node>,
    },
    Arrow {
        glyph: String,
        above: Vec<Node>,
        below: Vec<Node>,
    },
    Table(Table),
    Boxed(Vec<Node>),
    Strike(Vec<Node>),
    /// The space its body would take.
    Phantom(Vec<Node>),
    /// The number of an equation, wherever in it that was written.
    Tag(Vec<Node>),
}

impl Node {
    pub(super) fn atom(text: impl Into<String>, class: Class) -> Self {
        Self::Atom { text: text.into(), class }
    }

    /// The class its neighbours see.
    pub(super) fn class(&self) -> Class {
        match self {
            Self::Atom { class, .. } | Self::Group { class, .. } => *class,
            Self::Op { kind: OpKind::Stack, .. } => Class::Ord,
            Self::Op { .. } => Class::Op,
            Self::Scripts { base: Some(base), .. } => base.class(),
            Self::Arrow { .. } => Class::Rel,
            _ => Class::Ord,
        }
    }
}

/// Takes the number out of an equation.
pub(super) fn take_tag(nodes: &mut Vec<Node>) -> Option<Vec<Node>> {
    let at = nodes.iter().position(|node| matches!(node, Node::Tag(_)))?;
    match nodes.remove(at) {
        Node::Tag(tag) => Some(tag),
        _ => None,
    }
}

/// A mark over or under its body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Accent {
    /// The combining character for a body of one character.
    pub mark: char,
    /// The character drawn above or below, or written after, a longer body.
    pub wide: &'static str,
    pub over: bool,
    /// Drawn along the whole body: arrows, arcs.
    pub stretchy: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Align {
    Left,
    Center,
    Right,
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub align: Align,
    /// Cells between this column and the one before, where no bar stands.
    pub gap: usize,
    /// Bars before this column: `|` solid, `:` dashed.
    pub bars: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TableKind {
    Matrix,
    Cases,
    /// Right and left aligned columns in pairs.
    Aligned,
    /// One column of lines: gathered, substack.
    Lines,
    Diagram,
}

#[derive(Clone, Debug)]
pub(super) struct Table {
    pub kind: TableKind,
    pub columns: Vec<Column>,
    /// Bars after the last column.
    pub bars: String,
    pub rows: Vec<Row>,
    /// Rules under the last row: true is dashed.
    pub rules: Vec<bool>,
}

#[derive(Clone, Debug)]
pub(super) struct Row {
    pub cells: Vec<Vec<Node>>,
    /// Rules above the row: true is dashed.
    pub rules: Vec<bool>,
    pub tag: Option<Vec<Node>>,
}
