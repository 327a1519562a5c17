//! One module file in the tools directory, from when it is first seen until it is gone.

use std::path::PathBuf;
use std::sync::Arc;

use super::Wait;
use crate::tools::ToolChange;
use crate::tools::wasm::{Broken, Grants, Known, Loader, MAX_MODULE, Pending, Stamp, Tool};

/// Largest module that is waited for, in bytes: it compiles in some hundred milliseconds.
const SMALL: u64 = 512 << 10;
/// How often a failure that may pass is tried again with the same bytes.
const RETRIES: u8 = 2;

/// What is known of the file's bytes.
pub(super) enum State {
    /// Nothing yet: it is being loaded for the first time.
    Unknown,
    /// It is a tool.
    Ready(Arc<Tool>),
    /// It is none.
    Broken(Box<Broken>),
}

/// One module file.
pub(super) struct Slot {
    /// The file's name.
    pub file: String,
    /// The same without its ending.
    pub stem: String,
    /// As it was last seen.
    pub stamp: Stamp,
    /// As it was last loaded; stands while a new version is being loaded.
    pub state: State,
    /// A version on its way.
    pub pending: Option<Arc<Pending>>,
    /// What the tool is granted, or why its grants file grants nothing.
    pub grants: Result<Arc<Grants>, String>,
    /// Whether that was ever read.
    pub grants_known: bool,
    /// There is something that the index does not hold.
    pub unsaved: bool,
    path: PathBuf,
    retries: u8,
    look_again: bool,
    waited: bool,
    announced: bool,
}

impl Slot {
    /// A file seen for the first time.
    pub fn new(file: String, stamp: Stamp) -> Self {
        let stem = file.strip_suffix(".wasm").unwrap_or(&file).to_owned();
        Self {
            file,
            stem,
            stamp,
            state: State::Unknown,
            pending: None,
            grants: Ok(Arc::default()),
            grants_known: false,
            unsaved: false,
            path: PathBuf::new(),
            retries: RETRIES,
            look_again: false,
            waited: false,
            announced: false,
        }
    }

    /// A file that an earlier process knew.
    pub fn known(known: Known) -> Self {
        let mut slot = Self::new(known.file, known.stamp);
        slot.state = State::Ready(Arc::new(Tool::known(known.hash, known.tool)));
        slot
    }

    /// What the next process is to know; nothing for what is broken, or changed too lately to be told apart.
    pub fn record(&mut self) -> Option<Known> {
        let State::Ready(tool) = &self.state else {
            self.unsaved = false;
            return None;
        };
        self.unsaved = self.pending.is_some() || self.stamp.is_fresh();
        (!self.unsaved).then(|| Known {
            file: self.file.clone(),
            stamp: self.stamp,
            hash: tool.hash,
            tool: tool.description.clone(),
        })
    }

    /// Begins to load the file as it is now.
    pub fn load(&mut self, stamp: Stamp, path: PathBuf, loader: &Loader) {
        let under_way = self.pending.as_ref().is_some_and(|pending| pending.get().is_none());
        if under_way && stamp == self.stamp {
            // Probably the same bytes: they are looked at again when it is done, not compiled twice.
            self.look_again = true;
            return;
        }
        self.stamp = stamp;
        self.look_again = false;
        self.retries = RETRIES;
        self.path = path;
        self.begin(loader);
    }

    fn begin(&mut self, loader: &Loader) {
        self.waited = false;
        self.pending = Some(loader.load(self.path.clone(), false));
    }

    /// What is on its way, if it is to be waited for; a small module is once.
    pub fn awaited(&mut self, wait: Wait) -> Option<Arc<Pending>> {
        let pending = self.pending.clone()?;
        let awaited = match wait {
            Wait::All => true,
            // What is too large to be a tool is refused at once.
            Wait::Small => !self.waited && !(SMALL + 1..=MAX_MODULE).contains(&self.stamp.size()),
            #[cfg(test)]
            Wait::Nothing => false,
        };
        self.waited |= awaited;
        awaited.then_some(pending)
    }

    /// Whether it is to be loaded once more with the same stamp: it failed in a way that may pass, or was too young.
    pub fn wants_retry(&self) -> bool {
        let passing = matches!(&self.state, State::Broken(broken) if broken.passing);
        self.pending.is_none() && (self.look_again || (passing && self.retries > 0))
    }

    /// Loads it once more.
    pub fn retry(&mut self, loader: &Loader) {
        if !std::mem::take(&mut self.look_again) {
            self.retries -= 1;
        }
        self.begin(loader);
    }

    /// Takes in what was loaded; whether nothing is on its way any more.
    pub fn settle(&mut self) -> bool {
        let Some(loaded) = self.pending.as_ref().and_then(|pending| pending.get().cloned()) else {
            return self.pending.is_none();
        };
        self.pending = None;
        self.announced = false;
        self.unsaved = true;
        self.state = match loaded {
            // The same bytes under a new time: the loaded code stays.
            Ok(tool) if matches!(&self.state, State::Ready(old) if old.hash == tool.hash) => {
                return true;
            }
            Ok(tool) => State::Ready(tool),
            Err(broken) => State::Broken(Box::new(broken)),
        };
        true
    }

    /// Whether it was never loaded.
    pub fn is_new(&self) -> bool {
        matches!(self.state, State::Unknown)
    }

    /// Says once that a new tool is being compiled.
    pub fn announce_compiling(&mut self) -> Option<ToolChange> {
        let first = !std::mem::replace(&mut self.announced, true);
        first.then(|| ToolChange::Compiling(self.stem.clone()))
    }

    /// What a call is granted.
    pub fn granted(&self) -> Arc<Grants> {
        self.grants.clone().unwrap_or_default()
    }

    /// The grants on one line.
    pub fn grants_line(&self) -> String {
        match &self.grants {
            Ok(grants) => grants.to_string(),
            Err(error) => format!("none ({}.grants.json: {error})", self.stem),
        }
    }

    /// Says what is granted now, if that is news; for a new tool it is when there is anything to say.
    pub fn grants_change(&self, news: bool, before: Option<String>) -> Option<ToolChange> {
        let nothing_new = self.is_new() && self.grants_line() == "none";
        (news && !nothing_new).then(|| ToolChange::Grants {
            name: self.stem.clone(),
            before,
            now: self.grants_line(),
        })
    }
}
