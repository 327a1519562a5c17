//! A session to resume, chosen before there is an agent.

use anyhow::{Context, Result};
use crossterm::event::{Event, KeyEventKind, read};

use super::listing;
use super::picker::{Picked, Picker};
use super::screen::Screen;
use super::terminal::RawMode;
use crate::env::Env;
use crate::project::Project;
use crate::ui::blocks::Blocks;

/// Rows of the list.
const ROWS: usize = 14;

/// The id of the session that the person chooses; `None` if they choose none.
///
/// # Errors
/// When there is no session, or the terminal is gone.
pub fn session(project: &Project, env: &Env) -> Result<Option<String>> {
    let rows = listing::recent(project);
    let (mut ids, items): (Vec<String>, Vec<_>) = rows.into_iter().unzip();
    anyhow::ensure!(!ids.is_empty(), "there is no session to resume in this project");
    let mut picker = Picker::new(format!("Sessions of {}", env.short(project.root())), items);
    let mut screen = Screen::new(env);
    let _raw = RawMode::enter().context("the terminal cannot be used")?;
    loop {
        screen.resized();
        let blocks = Blocks::new(screen.options());
        let (lines, spot) = picker.draw(&blocks, screen.rows().min(ROWS));
        screen.draw(lines, Some(spot))?;
        let picked = match read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => picker.key(key),
            _ => Picked::Open,
        };
        match picked {
            Picked::Open => continue,
            Picked::None => ids.clear(),
            Picked::Item(_) => {}
        }
        screen.draw(Vec::new(), None)?;
        return Ok(match picked {
            Picked::Item(at) => Some(ids.swap_remove(at)),
            _ => None,
        });
    }
}
