//! The command line: clap types only.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::drift::Part;
use crate::toolkit::cli::ToolArgs;

/// A coding agent for the terminal: one tool, bash, and it builds the rest itself.
#[derive(Parser, Debug, Default)]
#[command(name = "autocode", version, max_term_width = 100, args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  autocode                              start talking
  autocode \"fix the failing test\"       start with a message
  autocode -p \"summarise this repo\"     one answer, alone on stdout
  git diff | autocode -p \"review this\"  piped input is appended to the message
  autocode --demo                       watch it work, without a model or a key

Exit codes: 0 answered, 1 the turn failed, 2 usage or configuration, 130 interrupted.")]
pub struct Cli {
    /// First message; `-` stands for standard input, read to its end
    pub prompt: Vec<String>,

    /// Answer the message and exit: the answer on stdout, the trace on stderr
    #[arg(short, long)]
    pub print: bool,

    /// Continue the latest session
    #[arg(short, long = "continue", conflicts_with = "resume")]
    pub continue_latest: bool,

    /// Resume the session with this id, or choose among the recent ones
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,

    /// Use this model
    #[arg(short, long)]
    pub model: Option<String>,

    /// Choose where the model's answers come from, and which model
    #[arg(long, conflicts_with_all = ["print", "continue_latest", "resume", "replay", "demo"])]
    pub setup: bool,

    /// Obey this project's .autocode/ in this run, whoever wrote it
    #[arg(long)]
    pub trust: bool,

    /// Ask before what may change something runs
    #[arg(long)]
    pub ask: bool,

    /// Run everything unasked
    #[arg(long, conflicts_with = "ask")]
    pub yes: bool,

    /// With -p: one JSON event a line on stdout; with --diff: one JSON object
    #[arg(long)]
    pub json: bool,

    /// End the turn after this many model calls
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: Option<u32>,

    /// Show the agent at work with a scripted model in a temporary project: no key, no network
    #[arg(long, conflicts_with_all = ["continue_latest", "resume", "replay"])]
    pub demo: bool,

    /// Take the model's replies from a saved session; tools run for real
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,

    /// Show how this project's agent differs from the one autocode ships; exits 1 if it does
    #[arg(long, conflicts_with = "print")]
    pub diff: bool,

    /// With --diff: one line a file
    #[arg(long, requires = "diff")]
    pub stat: bool,

    /// Put the agent's files back as autocode ships them; the old ones are kept
    #[arg(long, value_name = "PART", num_args = 0..=1, default_missing_value = "all")]
    pub reset: Option<ResetPart>,

    /// A command in place of a message
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What `--reset` puts back.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetPart {
    /// config.json
    Config,
    /// prompt.md and compact.md
    Prompts,
    /// The tools; their sources stay
    Tools,
    /// All of these
    All,
}

impl From<ResetPart> for Part {
    fn from(part: ResetPart) -> Self {
        match part {
            ResetPart::Config => Self::Config,
            ResetPart::Prompts => Self::Prompts,
            ResetPart::Tools => Self::Tools,
            ResetPart::All => Self::All,
        }
    }
}

/// Commands that need no model.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Make, try and manage tools for the agent
    Tool(ToolArgs),
    /// Draw a file, or standard input as it arrives, as a reply would look
    Render {
        /// Markdown; `-` or nothing: standard input
        file: Option<PathBuf>,
        /// Each line is a formula in LaTeX; one rendering a line
        #[arg(long)]
        math: bool,
    },
    /// What happened in a session: steps, commands, exit codes, edits of the agent itself, approvals
    Log {
        /// The session; the latest one of this project without it
        id: Option<String>,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Obey this project's .autocode/ from now on
    Trust {
        /// No longer
        #[arg(long, conflicts_with = "list")]
        remove: bool,
        /// Show the projects that are obeyed
        #[arg(long)]
        list: bool,
    },
}
