//! The system prompt: the project's template, filled in, and its `AGENTS.md`.
//!
//! Invariant: the same template gives the same bytes for a whole session, since providers cache by prefix; so date and
//! `AGENTS.md` are those of the session's start.

use std::path::Path;

use super::layers::Problem;
use crate::env::Env;
use crate::files::{self, ReadProblem};
use crate::project::Project;

/// Bytes of `AGENTS.md` that go into the prompt.
const GUIDE: usize = 32 * 1024;

/// What a template can refer to, as it is at the session's start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    root: String,
    os: &'static str,
    date: String,
    home: String,
    exe: String,
}

impl Facts {
    /// Those of this project, machine and day.
    pub fn of(project: &Project, env: &Env) -> Self {
        Self {
            root: project.root().display().to_string(),
            os: match std::env::consts::OS {
                "linux" => "Linux",
                "macos" => "macOS",
                other => other,
            },
            date: env.local_time().date().to_string(),
            home: project.home().display().to_string(),
            exe: command(env),
        }
    }

    fn named(&self) -> [(&'static str, &str); 5] {
        [
            ("root", &self.root),
            ("os", self.os),
            ("date", &self.date),
            ("home", &self.home),
            ("exe", &self.exe),
        ]
    }
}

/// How a shell calls this program: by name where `PATH` finds it, else by path.
fn command(env: &Env) -> String {
    const NAME: &str = "autocode";
    let Some(exe) = &env.exe else { return NAME.to_owned() };
    let first = env.get("PATH").and_then(|path| {
        path.split(':').map(|dir| Path::new(dir).join(NAME)).find(|candidate| candidate.is_file())
    });
    if first.and_then(|found| found.canonicalize().ok()).is_some_and(|found| found == *exe) {
        return NAME.to_owned();
    }
    let path = exe.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// `template` with each `{name}` replaced. Braces around anything but one lower-case word stand for themselves, as do
/// doubled ones: `{{root}}` gives `{root}`.
///
/// # Errors
/// The line and name of a placeholder that does not exist.
pub fn fill(template: &str, facts: &Facts, place: &str) -> Result<String, Problem> {
    let mut out = String::with_capacity(template.len() + 256);
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(word) = rest.strip_prefix("{{").and_then(word)
            && rest[2 + word.len()..].starts_with("}}")
        {
            out.push_str(&rest[1..3 + word.len()]);
            rest = &rest[4 + word.len()..];
        } else if let Some(name) = word(&rest[1..]) {
            let Some((_, value)) = facts.named().into_iter().find(|(known, _)| *known == name)
            else {
                let line = 1 + template[..template.len() - rest.len()].matches('\n').count();
                return Err(unknown(place, line, name, facts));
            };
            out.push_str(value);
            rest = &rest[2 + name.len()..];
        } else {
            out.push('{');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// The word that `text` begins with if a brace closes it.
fn word(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_ascii_lowercase() || c == '_'))?;
    (end > 0 && text[end..].starts_with('}')).then(|| &text[..end])
}

fn unknown(place: &str, line: usize, name: &str, facts: &Facts) -> Problem {
    let known: Vec<String> = facts.named().iter().map(|(name, _)| format!("{{{name}}}")).collect();
    Problem::at(
        format!("{place}:{line}"),
        format!(
            "there is no placeholder {{{name}}}, only {}; write {{{{{name}}}}} for the word in braces",
            known.join(" ")
        ),
    )
}

/// The project's `AGENTS.md`, else `CLAUDE.md`, under a heading, and what is wrong with it.
pub(super) fn guide(project: &Project) -> (String, Option<String>) {
    for name in ["AGENTS.md", "CLAUDE.md"] {
        let path = project.root().join(name);
        match files::read_inside(project.root(), &path, files::SMALL) {
            Ok(None) => {}
            Ok(Some(text)) if text.trim().is_empty() => {}
            Ok(Some(text)) => return headed(name, text.trim_end()),
            Err(ReadProblem::TooBig(_)) => {
                let warning = format!("{name} is larger than 1 MiB and is left out of the prompt");
                return (String::new(), Some(warning));
            }
            Err(e) => {
                return (String::new(), Some(format!("{name} {e}; it is left out of the prompt")));
            }
        }
    }
    (String::new(), None)
}

fn headed(name: &str, text: &str) -> (String, Option<String>) {
    if text.len() <= GUIDE {
        return (format!("\n\n# {name}\n\n{text}"), None);
    }
    let end = text.floor_char_boundary(GUIDE);
    let end = memchr::memrchr(b'\n', &text.as_bytes()[..end]).unwrap_or(end);
    let kept = format!("the first {} of {} KiB", end / 1024, text.len() / 1024);
    let text = format!("\n\n# {name}\n\n{}\n[{kept}; read the file for the rest]", &text[..end]);
    (text, Some(format!("{name} is long: {kept} are in the prompt")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::pristine;

    fn facts() -> Facts {
        let env = Env::at("/work").at_time("2026-03-01T12:00:00Z".parse().unwrap());
        Facts::of(&Project::at("/src/app"), &env)
    }

    #[test]
    fn placeholders_are_filled_and_other_braces_stay() {
        let text = fill(
            "{root} {os} {date}\n{home} {exe} {{root}} {} {A} {\"a\": {root}} {{",
            &facts(),
            "p",
        )
        .unwrap();
        let os = if cfg!(target_os = "macos") { "macOS" } else { "Linux" };
        assert_eq!(
            text,
            format!(
                "/src/app {os} 2026-03-01\n/src/app/.autocode autocode {{root}} {{}} {{A}} {{\"a\": /src/app}} {{{{"
            )
        );
    }

    #[test]
    fn an_unknown_placeholder_is_named_with_its_line() {
        let error =
            fill("ä {root}\n{{fine}}\n {rot}", &facts(), ".autocode/prompt.md").unwrap_err();
        assert_eq!(
            error.to_string(),
            ".autocode/prompt.md:3: there is no placeholder {rot}, only {root} {os} {date} {home} {exe}; write {{rot}} \
             for the word in braces"
        );
    }

    #[test]
    fn the_prompt_that_ships_is_short_and_complete() {
        let text = fill(pristine::PROMPT, &facts(), "prompt.md").unwrap();
        // Some four characters a token; the schemas of the first request need the rest of 700.
        assert!(text.len() < 1000, "{}", text.len());
        for part in
            ["/src/app", "2026-03-01", "/src/app/.autocode", "tool new", "tool build", "next step"]
        {
            assert!(text.contains(part), "{part}");
        }
    }

    #[test]
    fn the_program_is_called_by_name_only_where_the_path_finds_this_one() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, other) = (dir.path().join("a b/autocode"), dir.path().join("other/autocode"));
        for file in [&ours, &other] {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let mut env = Env::at("/");
        env.exe = Some(ours.canonicalize().unwrap());
        let dirs = |first: &Path, second: &Path| {
            format!(
                "/nowhere:{}:{}",
                first.parent().unwrap().display(),
                second.parent().unwrap().display()
            )
        };
        assert_eq!(command(&env.clone().with("PATH", &dirs(&ours, &other))), "autocode");
        let quoted = format!("'{}'", ours.canonicalize().unwrap().display());
        assert_eq!(command(&env.clone().with("PATH", &dirs(&other, &ours))), quoted);
        assert_eq!(command(&env), quoted);
    }

    #[test]
    fn the_guide_is_agents_md_then_claude_md_and_cut_when_long() {
        let dir = tempfile::tempdir().unwrap();
        let project = Project::at(dir.path());
        assert_eq!(guide(&project), (String::new(), None));
        std::fs::write(dir.path().join("CLAUDE.md"), "be kind\n").unwrap();
        assert_eq!(guide(&project).0, "\n\n# CLAUDE.md\n\nbe kind");
        std::fs::write(dir.path().join("AGENTS.md"), format!("{}\n", "ä\n".repeat(20_000)))
            .unwrap();
        let (text, warning) = guide(&project);
        assert!(text.starts_with("\n\n# AGENTS.md\n\nä\n"));
        assert!(
            text.ends_with("ä\n[the first 31 of 58 KiB; read the file for the rest]"),
            "{}",
            &text[text.len() - 80..]
        );
        assert!(warning.unwrap().contains("31 of 58 KiB"));
    }

    #[test]
    fn a_guide_that_leads_out_of_the_project_is_left_out() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = outside.path().join("secret");
        std::fs::write(&secret, "secret").unwrap();
        std::os::unix::fs::symlink(&secret, dir.path().join("AGENTS.md")).unwrap();
        let (text, warning) = guide(&Project::at(dir.path()));
        assert_eq!(text, "");
        assert!(warning.unwrap().starts_with("AGENTS.md is a link that leads out of the project"));
    }
}
