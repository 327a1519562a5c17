//! The command line: clap types only.

use std::path::PathBuf;

use clap::Parser;

/// A coding agent for the terminal: one tool, bash, and it builds the rest itself.
#[derive(Parser, Debug, Default)]
#[command(name = "autocode", version, max_term_width = 100, args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  autocode                              start talking
  autocode \"fix the failing test\"       start with a message
  autocode -p \"summarise this repo\"     one answer on stdout, the trace on stderr
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

    /// Resume the session with this id
    #[arg(short, long, value_name = "ID")]
    pub resume: Option<String>,

    /// Use this model
    #[arg(short, long)]
    pub model: Option<String>,

    /// Obey this project's .autocode/ in this run, whoever wrote it
    #[arg(long)]
    pub trust: bool,

    /// With -p: one JSON event a line on stdout
    #[arg(long, requires = "print")]
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
}
