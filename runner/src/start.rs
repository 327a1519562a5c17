//! From the command line to a running front end: finds the project, applies settings and trust, opens the session.

use std::rc::Rc;

use anyhow::Context;
use clap::Parser;

use crate::agent::{Agent, AgentOptions};
use crate::cli::Cli;
use crate::env::Env;
use crate::exit::Exit;
use crate::model::Model;
use crate::model::http::HttpModel;
use crate::project::Project;
use crate::{demo, ui};

