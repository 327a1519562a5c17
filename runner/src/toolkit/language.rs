//! The languages that `autocode tool` knows how to start and build.

use std::path::Path;

use clap::ValueEnum;

/// A language to write a tool in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// JavaScript; needs nothing installed
    #[value(name = "js", alias = "javascript")]
    JavaScript,
    /// Rust, with the target wasm32-wasip1
    #[value(alias = "rs")]
    Rust,
    /// C, with zig or a clang that has wasi-libc
    C,
    /// Zig
    Zig,
    /// AssemblyScript
    #[value(name = "assemblyscript", alias = "as")]
    AssemblyScript,
    /// Python, with componentize-py
    #[value(alias = "py")]
    Python,
}

/// A file of a scaffold: its path in the source directory, and its text with `{{name}}` for the tool's name.
type Template = (&'static str, &'static str);

impl Language {
    /// All of them.
    pub(super) const ALL: [Self; 6] =
        [Self::JavaScript, Self::Rust, Self::C, Self::Zig, Self::AssemblyScript, Self::Python];

    /// Its name for people.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::JavaScript => "JavaScript",
            Self::Rust => "Rust",
            Self::C => "C",
            Self::Zig => "Zig",
            Self::AssemblyScript => "AssemblyScript",
            Self::Python => "Python",
        }
    }

    /// The file in a source directory that tells the language, relative to it.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::JavaScript => "tool.js",
            Self::Rust => "Cargo.toml",
            Self::C => "tool.c",
            Self::Zig => "tool.zig",
            Self::AssemblyScript => "tool.ts",
            Self::Python => "tool.py",
        }
    }

    /// The file that a person edits.
    pub(super) fn entry(self) -> &'static str {
        match self {
            Self::Rust => "src/lib.rs",
            other => other.mark(),
        }
    }

    /// The language of a source directory.
    pub(super) fn of(source: &Path) -> Option<Self> {
        Self::ALL.into_iter().find(|language| source.join(language.mark()).is_file())
    }

    /// What a new tool starts as. The smaller languages start as the example in `example-tools/`.
    pub(super) fn templates(self) -> &'static [Template] {
        macro_rules! example {
            ($path:literal) => {
                include_str!(concat!("../../../example-tools/", $path))
            };
        }
        match self {
            Self::JavaScript => &[("tool.js", include_str!("templates/js/tool.js"))],
            Self::Rust => &[
                ("Cargo.toml", include_str!("templates/rust/Cargo.toml.in")),
                ("src/lib.rs", include_str!("templates/rust/src/lib.rs")),
                (".gitignore", "target/\n"),
            ],
            Self::C => &[
                ("tool.c", example!("count/tool.c")),
                ("autocode.h", example!("count/autocode.h")),
            ],
            Self::Zig => &[
                ("tool.zig", example!("digest/tool.zig")),
                ("autocode.zig", example!("digest/autocode.zig")),
            ],
            Self::AssemblyScript => &[
                ("tool.ts", example!("codepoints/tool.ts")),
                ("autocode.ts", example!("codepoints/autocode.ts")),
            ],
            Self::Python => {
                &[("tool.py", example!("pyoutline/tool.py")), (".gitignore", "__pycache__/\n")]
            }
        }
    }

    /// Arguments that a new tool answers to; `source` is the file that a person edits.
    pub(super) fn sample(self, source: &str) -> String {
        match self {
            Self::Zig | Self::AssemblyScript => r#"{"text": "abc"}"#.to_owned(),
            _ => format!(r#"{{"path": "{source}"}}"#),
        }
    }
}
