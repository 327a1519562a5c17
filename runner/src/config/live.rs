//! Settings and prompts of a running session, re-read when their files change.
//!
//! Invariants: what is in force is always valid; a change takes effect whole or not at all, and is told either way.
//! Nothing changed costs a stat per file. A running session asks no less often than it did before: only the person
//! loosens `approve`. Files that git brought wait until the person has seen them.

use serde_json::Value;

use super::changes::{Change, difference, line_changes};
use super::layers::{Layer, Overrides, Problem, Source};
use super::load::{Loaded, combine};
use super::prompt::{self, Facts, fill};
use super::save::{Scope, file, save};
use super::schema::{KEYS, Key};
use super::settings::{Approve, Settings};
use super::watch::{Seen, Watched};
use crate::env::Env;
use crate::git::{Mark, Repository};
use crate::pristine;
use crate::project::{Keep, Project};

/// The settings and prompts in force.
pub struct Live {
    project: Project,
    env: Env,
    overrides: Overrides,
    trusted: bool,
    loaded: Loaded,
    strictest: Approve,
    facts: Facts,
    guide: String,
    /// The templates in force; `None`: the one that comes with autocode.
    prompt: Option<String>,
    compact: Option<String>,
    system: String,
    repository: Repository,
    mark: Mark,
    held: bool,
    held_tools: bool,
    moved: bool,
    /// Files are obeyed whoever brought them.
    whoever: bool,
    watched: [Watched; 4],
}

/// The files that are watched, by their place in `Live::watched`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum File {
    User,
    Own,
    Prompt,
    Compact,
}

impl File {
    const ALL: [Self; 4] = [Self::User, Self::Own, Self::Prompt, Self::Compact];

    /// Its name in `.autocode/`.
    fn name(self) -> &'static str {
        match self {
            Self::User | Self::Own => "config.json",
            Self::Prompt => "prompt.md",
            Self::Compact => "compact.md",
        }
    }
}

impl Live {
    /// Loads everything. `trusted`: the project's own files may be obeyed. Also gives what the person should know.
    ///
    /// # Errors
    /// As [`super::load`].
    pub fn start(
        project: Project,
        env: Env,
        overrides: Overrides,
        trusted: bool,
    ) -> Result<(Self, Vec<String>), Problem> {
        let repository = Repository::around(project.root());
        let mark = repository.mark();
        let watched = File::ALL.map(|which| match which {
            File::User => Watched::new(file(&project, &env, Scope::User).0, None),
            own => Watched::new(project.file(own.name()), Some(project.root())),
        });
        let nothing = Ok(None);
        let own = if trusted { watched[File::Own as usize].seen() } else { &nothing };
        let mut loaded =
            combine(&project, &env, &overrides, watched[File::User as usize].seen(), own)?;
        let mut warnings = std::mem::take(&mut loaded.warnings);
        let (guide, warning) = prompt::guide(&project);
        warnings.extend(warning);
        let mut live = Self {
            facts: Facts::of(&project, &env),
            strictest: loaded.settings.approve,
            prompt: None,
            compact: None,
            system: String::new(),
            held: false,
            held_tools: false,
            moved: false,
            whoever: false,
            project,
            env,
            overrides,
            trusted,
            loaded,
            guide,
            repository,
            mark,
            watched,
        };
        live.system = live.filled(pristine::PROMPT)?;
        if trusted {
            for which in [File::Prompt, File::Compact] {
                if let Err(problem) = live.take_prompt(which) {
                    warnings.push(format!("{problem}; it is set aside"));
                }
            }
        }
        Ok((live, warnings))
    }

    /// What the session runs with.
    pub fn settings(&self) -> &Settings {
        &self.loaded.settings
    }

    /// The system prompt; the same bytes until [`Change::Applied`] says otherwise.
    pub fn system(&self) -> &str {
        &self.system
    }

    /// The instructions for a summary.
    pub fn compact(&self) -> &str {
        self.compact.as_deref().unwrap_or(pristine::COMPACT)
    }

    /// The sources, for `/config`.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Whether the project's own files may be obeyed.
    pub fn is_trusted(&self) -> bool {
        self.trusted
    }

    /// Obeys the project's files in this session whoever brings them.
    pub fn obey_whoever(&mut self) {
        self.whoever = self.trusted;
    }

    /// Whether files that git brought wait for [`Live::accept`].
    pub fn is_held(&self) -> bool {
        self.held
    }

    /// Whether the project's tools may be offered to the model.
    pub fn offers_tools(&self) -> bool {
        self.trusted && !self.held_tools
    }

    /// Whether all that is obeyed is so because the person has seen it or it was made here.
    pub fn is_vouched_for(&self) -> bool {
        self.trusted && !self.held && !self.whoever
    }

    /// Whether git brought files to a trusted project since this was last asked; tools may be among them.
    pub fn take_moved(&mut self) -> bool {
        std::mem::take(&mut self.moved) && self.trusted
    }

    /// Nothing new of the project's files is obeyed before [`Live::accept`]; of its tools, where they are concerned,
    /// none is offered.
    pub fn hold(&mut self, tools: bool) {
        self.held = true;
        self.held_tools |= tools;
    }

    /// Looks for changes; to be called before each model call.
    pub fn check(&mut self) -> Vec<Change> {
        let mut changed = Vec::new();
        for which in File::ALL {
            if let Some(old) = self.watched[which as usize].changed() {
                changed.push((which, old));
            }
        }
        let moved = !self.whoever && self.repository.moved_since(&self.mark);
        if moved {
            self.mark = self.repository.mark();
            self.moved = true;
        }
        if changed.is_empty() { Vec::new() } else { self.take(changed, moved) }
    }

    fn take(&mut self, changed: Vec<(File, Seen)>, moved: bool) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut waiting = Vec::new();
        for (which, old) in changed {
            if which == File::User {
                self.reload(Source::User, &mut changes);
                continue;
            }
            if !self.trusted {
                continue;
            }
            self.keep(which, &old);
            self.held |= moved;
            if self.held {
                waiting.push(self.place(which));
            } else {
                self.reload_own(which, &mut changes);
            }
        }
        if !waiting.is_empty() {
            changes.push(Change::Held(format!(
                "git brought changes to {}; they are not obeyed until you approve them",
                waiting.join(", ")
            )));
        }
        changes
    }

    /// Obeys the project's files as they are now: the person has seen them.
    pub fn accept(&mut self) -> Vec<Change> {
        (self.trusted, self.held, self.held_tools) = (true, false, false);
        let mut changes = Vec::new();
        for which in [File::Own, File::Prompt, File::Compact] {
            self.watched[which as usize].changed();
            self.reload_own(which, &mut changes);
        }
        changes
    }

    /// Sets a setting for this session only (`None` takes it back), at the person's word.
    ///
    /// # Errors
    /// When the setting does not take the value.
    pub fn set(&mut self, key: &Key, value: Option<Value>) -> Result<Vec<Change>, Problem> {
        let mut overrides = self.overrides.clone();
        match value {
            Some(value) => overrides.set(key.name, value)?,
            None => overrides.clear(key.name),
        }
        let new = self.loaded.with(Source::Session, Some(Layer::session(&overrides)), &self.env)?;
        self.overrides = overrides;
        self.strictest = Approve::Never;
        Ok(self.put(new))
    }

    /// Saves a setting in a file (`None` takes it out), at the person's word. It counts at once, unless the project
    /// is not trusted.
    ///
    /// # Errors
    /// When the file cannot be written or the result is not valid.
    pub fn save(
        &mut self,
        key: &Key,
        value: Option<Value>,
        scope: Scope,
    ) -> Result<Vec<Change>, Problem> {
        if scope == Scope::Project && self.held {
            let place = self.place(File::Own);
            return Err(Problem::of(place, "holds changes that git brought; approve them first"));
        }
        save(&self.project, &self.env, scope, &[(key, value)])?;
        let (which, source) = match scope {
            Scope::User => (File::User, Source::User),
            Scope::Project => (File::Own, Source::Project),
        };
        self.watched[which as usize].changed();
        if scope == Scope::Project && !self.trusted {
            return Ok(Vec::new());
        }
        let mut warnings = Vec::new();
        let new = self.reread(source, &mut warnings)?;
        self.strictest = Approve::Never;
        Ok(self.put(new))
    }

    /// The settings with a file's layer read anew.
    fn reread(&self, source: Source, warnings: &mut Vec<String>) -> Result<Loaded, Problem> {
        let which = if source == Source::User { File::User } else { File::Own };
        let layer =
            Layer::file(source, &self.place(which), self.watched[which as usize].seen(), warnings)?;
        self.loaded.with(source, layer, &self.env)
    }

    fn reload_own(&mut self, which: File, changes: &mut Vec<Change>) {
        match which {
            File::User | File::Own => self.reload(Source::Project, changes),
            File::Prompt | File::Compact => match self.take_prompt(which) {
                Ok(note) => changes.extend(note.map(Change::Applied)),
                Err(problem) => changes.push(Change::Rejected(format!(
                    "{problem}; the prompt from before stays in force"
                ))),
            },
        }
    }

    fn reload(&mut self, source: Source, changes: &mut Vec<Change>) {
        let mut warnings = Vec::new();
        match self.reread(source, &mut warnings) {
            Ok(new) => {
                changes.extend(warnings.into_iter().map(Change::Rejected));
                let mended = self.loaded.set_aside.is_some() && new.set_aside.is_none();
                let found = self.put(new);
                if found.is_empty() && mended {
                    changes
                        .push(Change::Applied(format!("{} is valid again", self.place(File::Own))));
                }
                changes.extend(found);
            }
            Err(problem) => {
                changes.push(Change::Rejected(format!(
                    "{problem}; the settings from before stay in force"
                )));
                if source == Source::Project {
                    self.loaded.set_aside = Some(problem);
                }
            }
        }
    }

    /// Puts new settings into force and says what is different.
    fn put(&mut self, mut new: Loaded) -> Vec<Change> {
        let asked = new.settings.approve;
        new.settings.approve = asked.max(self.strictest);
        self.strictest = new.settings.approve;
        let mut changes: Vec<Change> =
            KEYS.iter().filter_map(|key| difference(key, &self.loaded, &new)).collect();
        if asked < new.settings.approve
            && self.loaded.deciding("approve") != new.deciding("approve")
        {
            changes.push(Change::Rejected(format!(
                "approve stays {}: only the person at the keyboard loosens it while a session runs",
                new.settings.approve.name()
            )));
        }
        self.loaded = new;
        changes
    }

    /// Puts the prompt that was seen last into force and says how it differs.
    fn take_prompt(&mut self, which: File) -> Result<Option<String>, Problem> {
        let place = self.place(which);
        let text = match self.watched[which as usize].seen() {
            Err(problem) => return Err(Problem::of(place, problem)),
            Ok(Some(text)) if text.trim().is_empty() => {
                return Err(Problem::of(
                    place,
                    "is empty; delete it to use the one that comes with autocode",
                ));
            }
            Ok(text) => text.clone(),
        };
        let (old, pristine, effect) = if which == File::Prompt {
            self.system = self.filled(text.as_deref().unwrap_or(pristine::PROMPT))?;
            (
                std::mem::replace(&mut self.prompt, text.clone()),
                pristine::PROMPT,
                "in force from here on",
            )
        } else {
            (
                std::mem::replace(&mut self.compact, text.clone()),
                pristine::COMPACT,
                "for the next summary",
            )
        };
        let lines =
            line_changes(old.as_deref().unwrap_or(pristine), text.as_deref().unwrap_or(pristine));
        Ok(lines.map(|lines| match text {
            Some(_) => format!("{place} changed ({lines}), {effect}"),
            None => {
                format!("{place} is gone ({lines}): the one that comes with autocode is {effect}")
            }
        }))
    }

    fn filled(&self, template: &str) -> Result<String, Problem> {
        let filled = fill(template, &self.facts, &self.place(File::Prompt))?;
        Ok(format!("{}{}", filled.trim_end(), self.guide))
    }

    /// Keeps the replaced text of a project's file. Failing to is no reason to stop.
    fn keep(&self, which: File, old: &Seen) {
        if let Ok(Some(text)) = old {
            let _ =
                Keep::new(&self.project, &self.env).and_then(|keep| keep.text(which.name(), text));
        }
    }

    fn place(&self, which: File) -> String {
        match which {
            File::User => file(&self.project, &self.env, Scope::User).1,
            own => self.project.short(&self.project.file(own.name())).to_string(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
