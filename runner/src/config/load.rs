//! All layers together: the settings in force, and where each comes from.
//!
//! A user's broken file is an error: nothing of theirs is silently left out. A project's broken file never keeps
//! autocode from starting: it is set aside whole, and a warning names it.

use serde_json::Value;

use super::expand::expand;
use super::layers::{Layer, Overrides, Problem, Source};
use super::save::{Scope, file};
use super::schema::{KEYS, Key};
use super::settings::Settings;
use super::watch::{Seen, Watched};
use crate::env::Env;
use crate::project::Project;

/// The settings in force and how they came about.
#[derive(Clone)]
pub struct Loaded {
    /// What the session runs with.
    pub settings: Settings,
    /// Every source that sets something, lowest priority first.
    pub layers: Vec<Layer>,
    /// What the person should know, one sentence each.
    pub warnings: Vec<String>,
    /// Why the project's config is not obeyed although the project is trusted.
    pub set_aside: Option<Problem>,
}

impl Loaded {
    /// Where a setting comes from and its value there, `$VAR`s as written.
    pub fn origin(&self, key: &Key) -> (&str, Value) {
        let set = self
            .layers
            .iter()
            .rev()
            .find_map(|l| Some((l.place.as_str(), l.get(key.name)?.clone())));
        set.unwrap_or_else(|| ("default", key.value(&Settings::default())))
    }

    /// These settings with one layer replaced or taken out.
    pub(super) fn with(
        &self,
        source: Source,
        new: Option<Layer>,
        env: &Env,
    ) -> Result<Self, Problem> {
        let layers = arranged(&self.layers, source, new);
        let settings = resolve(&layers, env)?;
        let set_aside = self.set_aside.clone().filter(|_| source != Source::Project);
        Ok(Self { settings, layers, warnings: Vec::new(), set_aside })
    }

    /// The value of a setting in the layer that decides, `None` where none sets it.
    pub(super) fn deciding(&self, name: &str) -> Option<&Value> {
        self.layers.iter().rev().find_map(|layer| layer.get(name))
    }

    /// One row a setting for `/config`: name, value with secrets masked, source.
    pub fn rows(&self) -> impl Iterator<Item = (&'static Key, String, &str)> {
        KEYS.iter().map(|key| {
            let (place, value) = self.origin(key);
            (key, key.shown(&value), place)
        })
    }
}

/// Reads all layers. `trusted`: the project's own config may be obeyed.
///
/// # Errors
/// When the user's file, a variable or an override is wrong.
pub fn load(
    project: &Project,
    env: &Env,
    overrides: &Overrides,
    trusted: bool,
) -> Result<Loaded, Problem> {
    let seen =
        |scope: Scope| Watched::new(file(project, env, scope).0, scope.inside(project)).into_seen();
    let own = if trusted { seen(Scope::Project) } else { Ok(None) };
    combine(project, env, overrides, &seen(Scope::User), &own)
}

/// As [`load`], with the files read already.
pub(super) fn combine(
    project: &Project,
    env: &Env,
    overrides: &Overrides,
    user: &Seen,
    own: &Seen,
) -> Result<Loaded, Problem> {
    let mut warnings = Vec::new();
    let mut layers = vec![Layer::open_ai(env)?];
    layers.extend(Layer::file(
        Source::User,
        &file(project, env, Scope::User).1,
        user,
        &mut warnings,
    )?);
    layers.push(Layer::variables(env, &mut warnings)?);
    layers.push(Layer::session(overrides));

    let place = file(project, env, Scope::Project).1;
    let mut of_own = Vec::new();
    let with_own = Layer::file(Source::Project, &place, own, &mut of_own).and_then(|own| {
        let layers = arranged(&layers, Source::Project, own);
        resolve(&layers, env).map(|settings| (settings, layers))
    });
    match with_own {
        Ok((settings, layers)) => {
            warnings.extend(of_own);
            Ok(Loaded { settings, layers, warnings, set_aside: None })
        }
        // Whatever is wrong, the others must stand without the project's; if they do, it was the project's fault.
        Err(problem) => {
            let settings = resolve(&layers, env)?;
            warnings.push(format!("{problem}; the file is set aside"));
            Ok(Loaded { settings, layers, warnings, set_aside: Some(problem) })
        }
    }
}

/// `layers` with the one of `source` replaced or taken out.
fn arranged(layers: &[Layer], source: Source, new: Option<Layer>) -> Vec<Layer> {
    let mut layers: Vec<Layer> =
        layers.iter().filter(|layer| layer.source != source).cloned().collect();
    if let Some(new) = new {
        let at = layers.partition_point(|layer| layer.source < source);
        layers.insert(at, new);
    }
    layers
}

/// Later layers win; only what wins is expanded, so that an unset variable matters only where it is needed.
fn resolve(layers: &[Layer], env: &Env) -> Result<Settings, Problem> {
    let mut settings = Settings::default();
    for layer in layers {
        for (key, value) in layer.values() {
            key.apply(&mut settings, value)
                .map_err(|message| layer.problem(&[key.name], message))?;
        }
    }
    let expanded = |path: &[&str], text: &str| {
        expand(text, env).map_err(|e| {
            let message = format!("{} {e}", path.join("."));
            match layers.iter().rev().find(|layer| layer.get(path[0]).is_some()) {
                Some(layer) => layer.problem(path, message),
                None => Problem::at("setting", message),
            }
        })
    };
    settings.api_key = expanded(&["api_key"], &settings.api_key)?.trim().to_owned();
    for (name, value) in &mut settings.headers {
        *value = expanded(&["headers", name], value)?;
    }
    Ok(settings)
}

/// The project's own config for someone who decides whether to obey it: a line a setting, secrets masked.
pub fn described(project: &Project) -> Vec<String> {
    let seen = Watched::new(project.config(), Scope::Project.inside(project)).into_seen();
    let mut lines = Vec::new();
    match Layer::file(
        Source::Project,
        &project.short(&project.config()).to_string(),
        &seen,
        &mut lines,
    ) {
        Ok(layer) => {
            let settings = layer.iter().flat_map(Layer::values);
            lines.splice(
                0..0,
                settings.map(|(key, value)| format!("{} = {}", key.name, key.shown(value))),
            );
            lines
        }
        Err(problem) => vec![problem.to_string()],
    }
}

/// What to tell someone who has not chosen a model.
pub fn no_model(project: &Project, env: &Env) -> String {
    format!(
        "no model is configured. Choose one with `autocode --setup`; or set AUTOCODE_MODEL (for one run: -m MODEL); \
         or write {{\"model\": \"NAME\"}} into {} or {}",
        project.short(&project.config()),
        file(project, env, Scope::User).1
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
