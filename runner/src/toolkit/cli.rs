//! The command line of `autocode tool`. Its help is the manual: a working tool must come from it alone.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::language::Language;

/// Make, try and manage tools for the agent
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_long_help = include_str!("guide.txt"))]
pub struct ToolArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ToolCommand,
}

/// What can be done with tools.
#[derive(Subcommand, Clone, Debug, PartialEq, Eq)]
pub enum ToolCommand {
    /// Start a tool: writes its source to .autocode/src/NAME/, ready to build
    New {
        /// a-z, 0-9, - and _, beginning with a letter
        name: String,
        /// Language to write it in [default: rust where its wasm target is installed, else js]
        #[arg(long, value_enum)]
        lang: Option<Language>,
    },
    /// Build .autocode/src/NAME/ into .autocode/tools/NAME.wasm
    Build {
        /// The tool [default: the one whose source this directory is, else all]
        name: Option<String>,
    },
    /// Load a module as the agent would, and say phase by phase what holds
    Check {
        /// A .wasm file
        file: PathBuf,
    },
    /// Run a tool with the grants and limits that it has when the agent calls it
    Run {
        /// The tool
        name: String,
        /// Its arguments, a JSON object
        #[arg(default_value = "{}", value_name = "JSON")]
        args: String,
    },
    /// List the project's tools: name, state, size, grants, description
    List {
        /// As JSON, one array
        #[arg(long)]
        json: bool,
    },
    /// Install a tool that comes with autocode; without NAME, list them
    Add {
        /// The tool
        name: Option<String>,
    },
    /// Remove a tool's module and grants; its source stays
    Remove {
        /// The tool
        name: String,
    },
}
