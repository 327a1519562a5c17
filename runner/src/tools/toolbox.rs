//! Everything the model can call, kept in step with the project's tools directory.
//!
//! Invariants: the `tools` array's bytes change only when a tool does, `bash` first, then in the order of first load;
//! a name has one holder, and a file that wants a taken name is broken, never shadowing. A call carries all it needs:
//! it holds no borrow of the toolbox, so that a rescan can go on while it runs.

mod call;
mod names;
mod slot;

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use self::call::{Place, Target, call};
use self::names::{Entry, Standing};
use self::slot::Slot;
use super::out::OutDir;
use super::wasm::{Grants, Known, Loader, Outcome, Sandbox, Scanner, Seen, index};
use super::{CallContext, ToolChange, ToolResult, ToolStatus, clip};
use crate::env::Env;
use crate::project::Project;

/// How long small modules are waited for, all of them together.
const PATIENCE: Duration = Duration::from_secs(5);
/// Largest grants file.
const MAX_GRANTS: u64 = 64 << 10;

/// The tools of one project.
pub struct Toolbox {
    dir: PathBuf,
    project: Project,
    loader: Loader,
    sandbox: Arc<Sandbox>,
    scanner: Scanner,
    slots: Vec<Slot>,
    entries: Vec<Entry>,
    bash: String,
    schemas: Bytes,
    /// The last look found the project trusted.
    started: bool,
    /// There was a look, trusted or not.
    looked: bool,
}

/// What a rescan waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// Small modules that have just begun to load: they are there in the step after they were written.
    Small,
    /// Everything.
    All,
    #[cfg(test)]
    Nothing,
}

/// A tool for people: `/tools`, `autocode tool list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolInfo {
    /// What the model calls it by.
    pub name: String,
    /// Whether it can be called.
    pub state: ToolState,
    /// The module's length in bytes.
    pub size: u64,
    /// What it is granted, on one line.
    pub grants: String,
    /// What it does, in its own words.
    pub description: String,
    /// Its file.
    pub file: PathBuf,
}

/// Whether a tool can be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolState {
    /// It can.
    Ready,
    /// It is being compiled; a call waits for it.
    Compiling,
    /// It cannot; the whole report.
    Broken(String),
}

impl Toolbox {
    /// The tools of `project`; `bash` is the `tools` array's entry for the built-in tool, as JSON text.
    ///
    /// Nothing is read before the first rescan.
    pub fn new(project: &Project, env: &Env, loader: Loader, bash: impl Into<String>) -> Self {
        let dir = project.tools();
        let mut toolbox = Self {
            scanner: Scanner::new(&dir),
            sandbox: Arc::new(Sandbox::new(project.root(), env)),
            dir,
            project: project.clone(),
            loader,
            slots: Vec::new(),
            entries: Vec::new(),
            bash: bash.into(),
            schemas: Bytes::new(),
            started: false,
            looked: false,
        };
        toolbox.render();
        toolbox
    }

    /// Looks at the tools directory; cheap when nothing changed. Small modules that are new are waited for, large ones
    /// are offered when they are compiled.
    ///
    /// A project that is not trusted has no tools: their descriptions are a stranger's words to the model.
    pub async fn rescan(&mut self, trusted: bool) -> Vec<ToolChange> {
        self.rescan_and(trusted, Wait::Small).await
    }

    /// As [`Toolbox::rescan`], but waits for every module however long it takes: for commands that answer once.
    pub async fn rescan_all(&mut self, trusted: bool) -> Vec<ToolChange> {
        self.rescan_and(trusted, Wait::All).await
    }

    async fn rescan_and(&mut self, trusted: bool, wait: Wait) -> Vec<ToolChange> {
        let first = trusted && !self.started;
        if first {
            self.take_over();
        }
        self.looked = true;
        self.started = trusted;
        let mut seen = if trusted { self.scanner.look() } else { self.scanner.forget() };
        if !trusted {
            // What a tool that is no longer offered may do is no news.
            seen.retain(|one| matches!(one, Seen::ModuleGone(_)));
        }
        let loading = self.slots.iter().any(|slot| slot.pending.is_some() || slot.wants_retry());
        let in_force = !first || !self.entries.is_empty();
        if seen.is_empty() && !loading && in_force {
            return Vec::new();
        }
        let mut changes = Vec::new();
        for one in seen {
            self.apply(one, &mut changes);
        }
        for slot in self.slots.iter_mut().filter(|slot| slot.wants_retry()) {
            slot.retry(&self.loader);
        }
        self.wait(wait).await;
        let settled: Vec<bool> = self.slots.iter_mut().map(Slot::settle).collect();
        for (slot, _) in
            self.slots.iter_mut().zip(settled).filter(|(slot, settled)| !settled && slot.is_new())
        {
            changes.extend(slot.announce_compiling());
        }
        changes.extend(self.update());
        self.save();
        changes
    }

    /// The `tools` array, as JSON text.
    pub fn schemas(&self) -> Bytes {
        self.schemas.clone()
    }

    /// The names that can be called, in the order of the array.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once("bash").chain(self.entries.iter().map(|entry| entry.name.as_str()))
    }

    /// Calls a tool of the project; `arguments` is a JSON object as text. `bash` is the caller's to run.
    pub fn call<'a>(
        &self,
        name: &str,
        arguments: &str,
        cx: CallContext<'a>,
    ) -> LocalBoxFuture<'a, ToolResult> {
        let target = self.find(name);
        let arguments = arguments.to_owned();
        let loader = self.loader.clone();
        let sandbox = self.sandbox.clone();
        let out = OutDir::new(self.project.out());
        Box::pin(async move {
            let start = Instant::now();
            let outcome = tokio::select! {
                biased;
                () = cx.cancel.cancelled() => Outcome { status: ToolStatus::Cancelled, text: "interrupted".into() },
                outcome = call(target, &arguments, &loader, &sandbox, &cx) => outcome,
            };
            let content = clip::clip_to_file(&outcome.text, cx.output_limit, &out);
            ToolResult { content, status: outcome.status, elapsed: start.elapsed() }
        })
    }

    /// The tools for people, broken and compiling ones too.
    pub fn describe(&self) -> Vec<ToolInfo> {
        let entry = |index: usize| self.entries.iter().find(|entry| entry.slot == index);
        let info = |(index, slot): (usize, &Slot)| {
            let standing = entry(index).map(|entry| &entry.standing);
            let state = match standing {
                Some(Standing::Broken(broken)) => {
                    ToolState::Broken(broken.report(&self.shown(slot)))
                }
                Some(Standing::Ready(_)) if slot.pending.is_none() => ToolState::Ready,
                _ => ToolState::Compiling,
            };
            let description = match standing {
                Some(Standing::Ready(tool)) => tool.description.description.clone(),
                _ => String::new(),
            };
            ToolInfo {
                name: entry(index).map_or_else(|| slot.stem.clone(), |entry| entry.name.clone()),
                state,
                size: slot.stamp.size(),
                grants: slot.grants_line(),
                description,
                file: self.dir.join(&slot.file),
            }
        };
        self.slots.iter().enumerate().map(info).collect()
    }

    /// Begins with what an earlier process knew; only what differs from that is news.
    fn take_over(&mut self) {
        let known = index::load(self.loader.cache(), &self.dir);
        self.scanner.assume(known.iter().map(|known| (known.file.as_str(), known.stamp)));
        self.slots.extend(known.into_iter().map(Slot::known));
        // Tools that come into force while the person is there are told, known or not.
        if !self.looked {
            self.entries = self.assign();
            self.render();
        }
    }

    fn apply(&mut self, seen: Seen, changes: &mut Vec<ToolChange>) {
        match seen {
            Seen::Module(file, stamp) => {
                let path = self.dir.join(&file);
                let found = self.slots.iter().position(|slot| slot.file == file);
                let index = found.unwrap_or_else(|| {
                    self.slots.push(Slot::new(file, stamp));
                    let index = self.slots.len() - 1;
                    self.read_grants(index);
                    changes.extend(self.slots[index].grants_change(true, None));
                    index
                });
                self.slots[index].load(stamp, path, &self.loader);
            }
            Seen::ModuleGone(file) => self.slots.retain(|slot| slot.file != file),
            Seen::Grants(stem) => {
                if let Some(index) = self.slots.iter().position(|slot| slot.stem == stem) {
                    let (before, known) =
                        (self.slots[index].grants_line(), self.slots[index].grants_known);
                    self.read_grants(index);
                    let changed = self.slots[index].grants_line() != before;
                    let before = known.then_some(before);
                    changes.extend(self.slots[index].grants_change(changed, before));
                }
            }
        }
    }

    fn read_grants(&mut self, index: usize) {
        let stem = &self.slots[index].stem;
        self.slots[index].grants = read_grants(&self.dir.join(format!("{stem}.grants.json")));
        self.slots[index].grants_known = true;
    }

    /// Waits for what is on its way. What is not done by then is offered by a later rescan.
    async fn wait(&mut self, wait: Wait) {
        let pending: Vec<_> = self.slots.iter_mut().filter_map(|slot| slot.awaited(wait)).collect();
        let all = async {
            for pending in &pending {
                pending.wait().await;
            }
        };
        if !pending.is_empty() {
            let patience = if wait == Wait::All { Duration::MAX } else { PATIENCE };
            _ = tokio::time::timeout(patience, all).await;
        }
    }

    /// Brings names, entries and the array's bytes up to date, and says what changed.
    fn update(&mut self) -> Vec<ToolChange> {
        let entries = self.assign();
        let changes = names::compare(&self.entries, &entries);
        let same = self.entries.len() == entries.len()
            && self.entries.iter().zip(&entries).all(|(old, new)| old.schema == new.schema);
        self.entries = entries;
        if !same {
            self.render();
        }
        changes
    }

    fn assign(&self) -> Vec<Entry> {
        let held: HashMap<&str, &str> = self
            .entries
            .iter()
            .filter(|entry| matches!(entry.standing, Standing::Ready(_)))
            .map(|entry| (entry.name.as_str(), entry.file.as_str()))
            .collect();
        names::assign(&self.slots, &held, |slot| self.shown(slot))
    }

    fn render(&mut self) {
        let parts = std::iter::once(self.bash.as_str()).filter(|bash| !bash.is_empty());
        let parts = parts.chain(self.entries.iter().map(|entry| entry.schema.as_str()));
        self.schemas = format!("[{}]", parts.collect::<Vec<_>>().join(",")).into();
    }

    /// Keeps what is known for the next start, when it is news.
    fn save(&mut self) {
        if !self.slots.iter().any(|slot| slot.unsaved) {
            return;
        }
        let known: Vec<Known> = self.slots.iter_mut().filter_map(Slot::record).collect();
        index::save(self.loader.cache(), &self.dir, &known);
    }

    fn shown(&self, slot: &Slot) -> String {
        self.project.short(&self.dir.join(&slot.file)).to_string()
    }

    fn find(&self, name: &str) -> Target {
        let entry = self.entries.iter().find(|entry| entry.name == name);
        let slot = match entry {
            Some(entry) => self.slots.get(entry.slot),
            None => self.slots.iter().find(|slot| slot.pending.is_some() && slot.stem == name),
        };
        let Some(slot) = slot else { return Target::Unknown(self.unknown(name)) };
        let place = Place {
            file: self.shown(slot),
            path: self.dir.join(&slot.file),
            stem: slot.stem.clone(),
            grants: slot.granted(),
        };
        match (&slot.pending, entry.map(|entry| &entry.standing)) {
            (Some(pending), _) => Target::Pending(pending.clone(), place),
            (None, Some(Standing::Ready(tool))) => Target::Ready(tool.clone(), place),
            (None, Some(Standing::Broken(broken))) => Target::Broken(broken.report(&place.file)),
            (None, None) => Target::Unknown(self.unknown(name)),
        }
    }

    fn unknown(&self, name: &str) -> String {
        let name = name.escape_debug().to_string();
        let nearest = self
            .names()
            .map(|known| (strsim::damerau_levenshtein(known, &name), known))
            .min()
            .filter(|(distance, _)| *distance <= 2);
        let hint =
            nearest.map(|(_, known)| format!(" Did you mean `{known}`?")).unwrap_or_default();
        let names: Vec<&str> = self.names().collect();
        format!("there is no tool `{name}`.{hint} The tools are: {}", names.join(", "))
    }
}

/// What is granted; the error when the file is not a grants file.
fn read_grants(path: &Path) -> Result<Arc<Grants>, String> {
    let open = rustix::fs::open(
        path,
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    );
    let file = match open {
        Ok(file) => fs::File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(Arc::default()),
        Err(error) => return Err(error.to_string()),
    };
    if !file.metadata().is_ok_and(|meta| meta.is_file()) {
        return Err("it is not a file".into());
    }
    let mut text = String::new();
    file.take(MAX_GRANTS + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > MAX_GRANTS {
        return Err(format!("it is longer than {} KiB", MAX_GRANTS >> 10));
    }
    Grants::parse(&text).map(Arc::new)
}

#[cfg(test)]
mod tests;
