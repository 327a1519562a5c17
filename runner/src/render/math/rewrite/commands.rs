//! The commands that this pass knows and the parser does not, or knows too well.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::symbols;
use super::super::tree::Class;

pub(super) enum Command {
    /// Replaced by `body`, with `#1` … for the arguments; a star after the name is dropped.
    Template {
        arguments: usize,
        body: &'static str,
    },
    /// A character the parser has no command for.
    Symbol(&'static str, Class),
    /// The name of a function.
    Operator {
        name: &'static str,
        limits: bool,
    },
    /// Says nothing in a terminal; dropped with its arguments.
    Drop {
        arguments: usize,
    },
    /// Takes text, as the parser's command of this name.
    Text(&'static str),
    Special(Special),
}

pub(super) enum Special {
    Begin,
    End,
    Left,
    Right,
    Middle,
    Big,
    OpenGroup,
    CloseGroup,
    Dots,
    Char,
    LineBreak,
    Space,
    Color,
    ColorBox {
        colours: usize,
        as_text: &'static str,
    },
    Tag,
    Reference {
        before: &'static str,
        after: &'static str,
    },
    /// Optional arguments that say nothing here, before a command for the parser.
    Skip,
    /// Nothing but optional arguments.
    Ignore,
    /// A length up to the next command: `\raise1ex`.
    Shift,
    /// `\url`, which shows its address, and `\href`, which has a text.
    Link {
        shown: bool,
    },
    /// A picture, by its description or its name.
    Picture,
    Unicode,
    /// `\root n \of x`, `\buildrel a \over b`: what stands before `until` becomes the argument of
    /// `form`.
    Plain {
        until: &'static str,
        form: &'static str,
    },
    Chemistry,
    Number,
    Unit,
    Quantity,
    Angle,
    NewCommand,
    Def,
    Let,
    DeclareOperator,
    Derivative(&'static [&'static str; 4]),
    /// Would define, expand or print: shown instead.
    Refused,
}

pub(super) fn command(word: &str) -> Option<&'static Command> {
    static COMMANDS: LazyLock<HashMap<&'static str, Command>> = LazyLock::new(all);
    COMMANDS.get(word)
}

fn all() -> HashMap<&'static str, Command> {
    let mut all = HashMap::with_capacity(1024);
    for (name, c, class) in symbols::extra() {
        all.insert(name, Command::Symbol(c, class));
    }
    for name in FUNCTIONS.split_whitespace() {
        all.insert(name, Command::Operator { name, limits: false });
    }
    for (name, text) in OPERATORS {
        all.insert(name, Command::Operator { name: text, limits: true });
    }
    for (name, arguments, body) in TEMPLATES {
        all.insert(name, Command::Template { arguments: *arguments, body });
    }
    for (arguments, names) in DROPPED {
        for name in names.split_whitespace() {
            all.insert(name, Command::Drop { arguments: *arguments });
        }
    }
    for (name, target) in TEXTS {
        all.insert(name, Command::Text(target));
    }
    for name in REFUSED.split_whitespace() {
        all.insert(name, Command::Special(Special::Refused));
    }
    for name in BIG.split_whitespace() {
        all.insert(name, Command::Special(Special::Big));
    }
    all.extend(specials().map(|(name, special)| (name, Command::Special(special))));
    all
}

fn specials() -> impl Iterator<Item = (&'static str, Special)> {
    use Special::*;
    [
        ("begin", Begin),
        ("end", End),
        ("left", Left),
        ("right", Right),
        ("middle", Middle),
        ("bgroup", OpenGroup),
        ("begingroup", OpenGroup),
        ("egroup", CloseGroup),
        ("endgroup", CloseGroup),
        ("dots", Dots),
        ("char", Char),
        ("cr", LineBreak),
        ("newline", LineBreak),
        ("hspace", Space),
        ("color", Color),
        ("textcolor", Color),
        ("pagecolor", Color),
        ("colorbox", ColorBox { colours: 1, as_text: "text" }),
        ("fcolorbox", ColorBox { colours: 2, as_text: "fbox" }),
        ("tag", Tag),
        ("ref", Reference { before: "", after: "" }),
        ("eqref", Reference { before: "(", after: ")" }),
        ("cite", Reference { before: "[", after: "]" }),
        ("url", Link { shown: true }),
        ("href", Link { shown: false }),
        ("includegraphics", Picture),
        ("unicode", Unicode),
        ("underbracket", Skip),
        ("overbracket", Skip),
        ("cfrac", Skip),
        ("smashoperator", Ignore),
        ("cramped", Ignore),
        ("crampedllap", Ignore),
        ("crampedrlap", Ignore),
        ("crampedclap", Ignore),
        ("mathmakebox", Ignore),
        ("MoveEqLeft", Ignore),
        ("raise", Shift),
        ("lower", Shift),
        ("moveleft", Shift),
        ("moveright", Shift),
        ("makebox", ColorBox { colours: 0, as_text: "text" }),
        ("framebox", ColorBox { colours: 0, as_text: "fbox" }),
        ("parbox", ColorBox { colours: 1, as_text: "text" }),
        ("root", Plain { until: "of", form: r"\sqrt[{#1}]" }),
        ("buildrel", Plain { until: "over", form: r"\overset{#1}" }),
        ("ce", Chemistry),
        ("cf", Chemistry),
        ("num", Number),
        ("si", Unit),
        ("unit", Unit),
        ("pu", Unit),
        ("SI", Quantity),
        ("qty", Quantity),
        ("ang", Angle),
        ("newcommand", NewCommand),
        ("renewcommand", NewCommand),
        ("providecommand", NewCommand),
        ("def", Def),
        ("gdef", Def),
        ("edef", Def),
        ("xdef", Def),
        ("let", Let),
        ("DeclareMathOperator", DeclareOperator),
        ("dv", Derivative(&DERIVATIVE)),
        ("odv", Derivative(&DERIVATIVE)),
        ("pdv", Derivative(&PARTIAL)),
        ("fdv", Derivative(&FUNCTIONAL)),
    ]
    .into_iter()
}

/// Of one, of two, of two with an order, of three arguments.
const DERIVATIVE: [&str; 4] = [
    r"\frac{\mathrm{d}}{\mathrm{d}#1}",
    r"\frac{\mathrm{d}#1}{\mathrm{d}#2}",
    r"\frac{\mathrm{d}^{#3}#1}{\mathrm{d}#2^{#3}}",
    r"\frac{\mathrm{d}^2#1}{\mathrm{d}#2\,\mathrm{d}#3}",
];
const PARTIAL: [&str; 4] = [
    r"\frac{\partial}{\partial #1}",
    r"\frac{\partial #1}{\partial #2}",
    r"\frac{\partial^{#3}#1}{\partial #2^{#3}}",
    r"\frac{\partial^2#1}{\partial #2\,\partial #3}",
];
const FUNCTIONAL: [&str; 4] = [
    r"\frac{\delta}{\delta #1}",
    r"\frac{\delta #1}{\delta #2}",
    r"\frac{\delta^{#3}#1}{\delta #2^{#3}}",
    r"\frac{\delta^2#1}{\delta #2\,\delta #3}",
];

const BIG: &str =
    "big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr bigm Bigm biggm Biggm";

const REFUSED: &str = "message errmessage show expandafter noexpand futurelet catcode csname \
    endcsname input include write openout immediate read special";

const TEXTS: &[(&str, &str)] = &[
    ("text", "text"),
    ("textrm", "text"),
    ("textsf", "text"),
    ("texttt", "text"),
    ("textnormal", "text"),
    ("textbf", "text"),
    ("textmd", "text"),
    ("textit", "text"),
    ("textup", "text"),
    ("textsc", "text"),
    ("textsl", "text"),
    ("emph", "text"),
    ("mbox", "text"),
    ("hbox", "text"),
    ("intertext", "text"),
    ("shortintertext", "text"),
    ("reflectbox", "text"),
    ("fbox", "fbox"),
    ("sout", "sout"),
    ("llap", "text"),
    ("rlap", "text"),
    ("clap", "text"),
];

/// By the number of arguments that go with the command.
const DROPPED: &[(usize, &str)] = &[
    (
        0,
        "adjustlimits displaylimits nonumber notag protect strut null par noindent centering \
         allowdisplaybreaks qedhere long global smallskip medskip bigskip newpage\
         displaybreak nopagebreak pagebreak leavevmode unskip ignorespaces",
    ),
    (1, "label leftroot uproot vspace  mathversion"),
    (2, "setlength addtolength setcounter"),
    (3, "definecolor Rule Space newenvironment"),
];

/// Names of functions that LaTeX users define for themselves.
const FUNCTIONS: &str = "sgn sign diag Tr tr trace rank Rank Span Var Cov Corr erf erfc erfi lcm \
    Hom End Aut Gal Spec Ext Tor coker codim Id id ad Ad supp conv dom cod ran Res grad curl rot \
    arcsinh arccosh arctanh arcoth arcsec arccsc arccot arsinh arcosh artanh asin acos atan sech \
    csch sinc softmax softplus relu ReLU sigmoid proj Proj vol Vol polylog negl ord Irr Frac Sym \
    Ob Mor Fun Cat Pic Div Cl Stab Orb Inn Out Ind Coind Lie Bernoulli Poisson Binomial \
    Uniform Normal KL diam dist card length len mex nullity Null row col minimize maximize";

const OPERATORS: &[(&str, &str)] = &[
    ("esssup", r"ess\,sup"),
    ("essinf", r"ess\,inf"),
    ("colim", "colim"),
    ("hocolim", "hocolim"),
    ("holim", "holim"),
];

/// Name, number of arguments, replacement.
const TEMPLATES: &[(&str, usize, &str)] = &[
    ("prescript", 3, "{}^{#1}_{#2}{#3}"),
    ("sideset", 3, "{}#1#3\\nolimits #2"),
    ("cancelto", 2, r"\cancel{#2}^{#1}"),
    ("Aboxed", 1, r"\boxed{#1}"),
    ("bbox", 1, "{#1}"),
    ("mathreflectbox", 1, "{#1}"),
    ("ensuremath", 1, "{#1}"),
    ("scalebox", 2, "{#2}"),
    ("resizebox", 3, "{#3}"),
    ("rotatebox", 2, "{#2}"),
    ("raisebox", 2, r"\text{#2}"),
    ("htmlClass", 2, "{#2}"),
    ("htmlId", 2, "{#2}"),
    ("htmlStyle", 2, "{#2}"),
    ("htmlData", 2, "{#2}"),
    ("class", 2, "{#2}"),
    ("cssId", 2, "{#2}"),
    ("style", 2, "{#2}"),
    ("enclose", 2, "{#2}"),
    ("texttip", 2, "{#1}"),
    ("mathtip", 2, "{#1}"),
    ("shoveleft", 1, "{#1}"),
    ("shoveright", 1, "{#1}"),
    ("skew", 3, "#2{#3}"),
    ("hdotsfor", 1, r"\cdots "),
    ("vdotswithin", 1, r"\vdots "),
    ("shortvdotswithin", 1, r"\vdots "),
    ("splitfrac", 2, r"\begin{matrix}#1\\#2\end{matrix}"),
    ("splitdfrac", 2, r"\begin{matrix}#1\\#2\end{matrix}"),
    ("matrix", 1, r"\begin{matrix}#1\end{matrix}"),
    ("pmatrix", 1, r"\begin{pmatrix}#1\end{pmatrix}"),
    ("cases", 1, r"\begin{cases}#1\end{cases}"),
    ("eqalign", 1, r"\begin{aligned}#1\end{aligned}"),
    ("displaylines", 1, r"\begin{gathered}#1\end{gathered}"),
    ("hfill", 0, r"\qquad "),
    ("hfil", 0, r"\qquad "),
    ("nobreakspace", 0, "~"),
    ("overparen", 1, r"\overgroup{#1}"),
    ("wideparen", 1, r"\overgroup{#1}"),
    ("overarc", 1, r"\overgroup{#1}"),
    ("underparen", 1, r"\undergroup{#1}"),
    ("xlongrightarrow", 1, r"\xrightarrow{#1}"),
    ("xlongleftarrow", 1, r"\xleftarrow{#1}"),
    ("xLongrightarrow", 1, r"\xRightarrow{#1}"),
    ("xLongleftarrow", 1, r"\xLeftarrow{#1}"),
    ("dddot", 1, "{#1\u{20DB}}"),
    ("ddddot", 1, "{#1\u{20DC}}"),
    ("mathds", 1, r"\mathbb{#1}"),
    ("mathbbm", 1, r"\mathbb{#1}"),
    ("mathbbold", 1, r"\mathbb{#1}"),
    ("mathpzc", 1, r"\mathcal{#1}"),
    ("mathbfcal", 1, r"\mathbf{\mathcal{#1}}"),
    ("mathbfscr", 1, r"\mathbf{\mathscr{#1}}"),
    ("mathbffrak", 1, r"\mathbf{\mathfrak{#1}}"),
    ("mathbfsf", 1, r"\mathbf{\mathsf{#1}}"),
    ("mathbfit", 1, r"\mathbf{\mathit{#1}}"),
    ("mathup", 1, r"\mathrm{#1}"),
    ("symup", 1, r"\mathrm{#1}"),
    ("symrm", 1, r"\mathrm{#1}"),
    ("symbf", 1, r"\mathbf{#1}"),
    ("symbfup", 1, r"\mathbf{#1}"),
    ("symit", 1, r"\mathit{#1}"),
    ("symbfit", 1, r"\mathbf{\mathit{#1}}"),
    ("symcal", 1, r"\mathcal{#1}"),
    ("symscr", 1, r"\mathscr{#1}"),
    ("symbfcal", 1, r"\mathbf{\mathcal{#1}}"),
    ("symbfscr", 1, r"\mathbf{\mathscr{#1}}"),
    ("symfrak", 1, r"\mathfrak{#1}"),
    ("symbffrak", 1, r"\mathbf{\mathfrak{#1}}"),
    ("symbb", 1, r"\mathbb{#1}"),
    ("symsf", 1, r"\mathsf{#1}"),
    ("symsfup", 1, r"\mathsf{#1}"),
    ("symsfit", 1, r"\mathsfit{#1}"),
    ("symbfsf", 1, r"\mathbf{\mathsf{#1}}"),
    ("symbfsfup", 1, r"\mathbf{\mathsf{#1}}"),
    ("symbfsfit", 1, r"\mathbf{\mathsfit{#1}}"),
    ("symtt", 1, r"\mathtt{#1}"),
    // Of physics and its kin.
    ("abs", 1, r"\left|#1\right|"),
    ("norm", 1, r"\left\|#1\right\|"),
    ("ceil", 1, r"\left\lceil #1\right\rceil"),
    ("floor", 1, r"\left\lfloor #1\right\rfloor"),
    ("paren", 1, r"\left(#1\right)"),
    ("pqty", 1, r"\left(#1\right)"),
    ("bqty", 1, r"\left[#1\right]"),
    ("Bqty", 1, r"\left\{#1\right\}"),
    ("vqty", 1, r"\left|#1\right|"),
    ("eval", 1, r"\left.#1\right|"),
    ("order", 1, r"\mathcal{O}\left(#1\right)"),
    ("comm", 2, r"\left[#1,#2\right]"),
    ("commutator", 2, r"\left[#1,#2\right]"),
    ("acomm", 2, r"\left\{#1,#2\right\}"),
    ("anticommutator", 2, r"\left\{#1,#2\right\}"),
    ("dd", 1, r"\mathrm{d}#1"),
    ("vb", 1, r"\mathbf{#1}"),
    ("va", 1, r"\vec{\mathbf{#1}}"),
    ("vu", 1, r"\hat{\mathbf{#1}}"),
    ("ip", 2, r"\left\langle #1\middle|#2\right\rangle"),
    ("innerproduct", 2, r"\left\langle #1\middle|#2\right\rangle"),
    ("inner", 2, r"\left\langle #1,#2\right\rangle"),
    ("ketbra", 2, r"\left|#1\right\rangle\left\langle #2\right|"),
    ("dyad", 2, r"\left|#1\right\rangle\left\langle #2\right|"),
    ("outerproduct", 2, r"\left|#1\right\rangle\left\langle #2\right|"),
    ("ev", 1, r"\left\langle #1\right\rangle"),
    ("expval", 1, r"\left\langle #1\right\rangle"),
    ("mel", 3, r"\left\langle #1\middle|#2\middle|#3\right\rangle"),
    ("matrixel", 3, r"\left\langle #1\middle|#2\middle|#3\right\rangle"),
    ("laplacian", 0, r"\nabla^2"),
    ("gradient", 0, r"\nabla "),
    ("divergence", 0, r"\nabla\cdot "),
    ("flatfrac", 2, "{#1}/{#2}"),
    ("sfrac", 2, r"\tfrac{#1}{#2}"),
    ("nicefrac", 2, r"\tfrac{#1}{#2}"),
    ("xfrac", 2, r"\tfrac{#1}{#2}"),
    ("cp", 0, r"\times "),
    ("vdot", 0, r"\cdot "),
    ("given", 0, r"\mid "),
    ("suchthat", 0, r"\mid "),
    ("divides", 0, r"\mid "),
];
