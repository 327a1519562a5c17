//! `--reset`: back to what autocode ships, with everything replaced kept in `.autocode/prev/TIME/`.

use std::io;
use std::path::Path;

use super::{FILES, unusable};
use crate::env::Env;
use crate::files;
use crate::pristine;
use crate::project::{Keep, Project, Scaffold};

/// What is reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `config.json`.
    Config,
    /// `prompt.md` and `compact.md`.
    Prompts,
    /// `tools/`; the sources in `src/` stay.
    Tools,
    /// All of these.
    All,
}

impl Part {
    /// The part of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "config" => Some(Self::Config),
            "prompts" => Some(Self::Prompts),
            "tools" => Some(Self::Tools),
            "all" => Some(Self::All),
            _ => None,
        }
    }

    fn holds(self, file: &str) -> bool {
        match self {
            Self::Config => file == "config.json",
            Self::Prompts => file.ends_with(".md"),
            Self::Tools => file == "tools",
            Self::All => true,
        }
    }
}

/// Resets and says line by line what was done and how to undo it.
///
/// # Errors
/// One sentence when the project cannot be written.
pub fn reset(project: &Project, env: &Env, part: Part) -> Result<Vec<String>, String> {
    if let Some(problem) = unusable(project) {
        return replace_home(project, env, &problem);
    }
    if project.scaffold() == Scaffold::Created {
        return Ok(vec![".autocode is new: everything is as it comes".to_owned()]);
    }
    let sentence = |e: io::Error| {
        format!("{} cannot be reset: {}", project.short(&project.home()), files::reason(&e))
    };
    let mut work = Work { project, env, keep: None, said: Vec::new() };
    for (file, shipped) in FILES.into_iter().filter(|(file, _)| part.holds(file)) {
        work.file(file, shipped).map_err(sentence)?;
    }
    if part.holds("tools") {
        work.tools().map_err(sentence)?;
    }
    if part == Part::All {
        work.file(".gitignore", pristine::GITIGNORE).map_err(sentence)?;
        for name in project.misplaced_directories() {
            work.aside(name).map_err(sentence)?;
        }
    }
    if work.said.is_empty() {
        work.said.push("everything is as it comes already".to_owned());
    }
    Ok(work.said)
}

struct Work<'a> {
    project: &'a Project,
    env: &'a Env,
    keep: Option<Keep>,
    said: Vec<String>,
}

impl Work<'_> {
    fn file(&mut self, name: &str, shipped: &str) -> io::Result<()> {
        let path = self.project.file(name);
        let text = files::read_inside(self.project.root(), &path, files::SMALL);
        if matches!(&text, Ok(Some(text)) if text == shipped) {
            return Ok(());
        }
        let was_there = path.symlink_metadata().is_ok();
        if was_there {
            self.keep()?.moved(&path, name)?;
        }
        let mode = if name == "config.json" { 0o600 } else { 0o644 };
        files::write_new(&path, shipped, mode)?;
        if was_there {
            self.say(name);
        } else {
            self.said.push(format!(".autocode/{name} was missing and is back"));
        }
        Ok(())
    }

    fn tools(&mut self) -> io::Result<()> {
        let dir = self.project.tools();
        let empty = !files::is_link(&dir)
            && dir.read_dir().is_ok_and(|mut entries| entries.next().is_none());
        if empty {
            return Ok(());
        }
        let was_there = dir.symlink_metadata().is_ok();
        if was_there {
            self.keep()?.moved(&dir, "tools")?;
        }
        std::fs::create_dir(&dir)?;
        if was_there {
            self.say("tools");
        }
        Ok(())
    }

    /// Moves away what stands where a directory of ours belongs, which is made when it is needed.
    fn aside(&mut self, name: &str) -> io::Result<()> {
        self.keep()?;
        let path = self.project.file(name);
        // The directory for what is replaced may have been the one in the way.
        if path.symlink_metadata().is_ok() && !path.is_dir() {
            self.keep()?.moved(&path, name)?;
            self.said.push(format!(".autocode/{name} was no directory and is out of the way"));
        }
        Ok(())
    }

    /// `mv` alone would move a directory into another, and refuse a link to where it goes.
    fn say(&mut self, name: &str) {
        let Some(keep) = &self.keep else { return };
        let kept = self.project.short(&keep.dir().join(name)).to_string();
        self.said.push(format!(
            ".autocode/{name} is as it comes; to undo: rm -r .autocode/{name} && mv {kept} .autocode/{name}"
        ));
    }

    /// The directory for what is replaced; one that cannot be used is itself moved out of the way.
    fn keep(&mut self) -> io::Result<&Keep> {
        let keep = match self.keep.take() {
            Some(keep) => keep,
            None => Keep::new(self.project, self.env).or_else(|e| {
                let prev = self.project.prev();
                if prev.is_dir() && !files::is_link(&prev) {
                    return Err(e);
                }
                let aside = free_name(&self.project.home(), "prev", self.env);
                std::fs::rename(&prev, &aside)?;
                self.said.push(format!(
                    ".autocode/prev was no directory; it is now {}",
                    self.project.short(&aside)
                ));
                Keep::new(self.project, self.env)
            })?,
        };
        Ok(self.keep.insert(keep))
    }
}

/// Moves a `.autocode` that is no directory of this project out of the way, and writes a new one.
fn replace_home(project: &Project, env: &Env, problem: &str) -> Result<Vec<String>, String> {
    let home = project.home();
    let aside = free_name(project.root(), ".autocode.prev", env);
    let sentence = |e: io::Error| {
        format!("{} {problem} and cannot be moved: {}", project.short(&home), files::reason(&e))
    };
    std::fs::rename(&home, &aside).map_err(sentence)?;
    if let Scaffold::Impossible(why) = project.scaffold() {
        return Err(why);
    }
    Ok(vec![format!(
        ".autocode {problem}; a new one is in its place. To undo: rm -r .autocode && mv {} .autocode",
        project.short(&aside)
    )])
}

fn free_name(dir: &Path, stem: &str, env: &Env) -> std::path::PathBuf {
    let time = env.local_time().strftime("%Y%m%d-%H%M%S").to_string();
    let name =
        |n: u32| if n == 1 { format!("{stem}-{time}") } else { format!("{stem}-{time}-{n}") };
    (1..)
        .map(|n| dir.join(name(n)))
        .find(|path| path.symlink_metadata().is_err())
        .unwrap_or_else(|| dir.join(stem))
}
