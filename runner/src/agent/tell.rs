//! What the person asks about between turns: settings, tools, models.

use super::Agent;
use super::event::Event;
use crate::config::Key;
use crate::tools::toolbox::{ToolInfo, ToolState};

/// Characters of a setting's value or of a tool's description in a row.
const SHOWN: usize = 38;

impl Agent {
    /// The settings with their sources, or the one that is named.
    pub(super) fn tell_settings(&self, name: Option<&str>) {
        if let Some(name) = name
            && Key::named(name).is_none()
        {
            let nearest =
                Key::nearest(name).map(|n| format!("; did you mean {n}?")).unwrap_or_default();
            self.events.error(format!("there is no setting {name}{nearest}"));
            return;
        }
        let mut text = String::new();
        for (key, value, place) in self.live.loaded().rows() {
            let value = match value.as_str() {
                "null" | "\"\"" => "not set".to_owned(),
                _ => value,
            };
            match name {
                Some(name) if name != key.name => {}
                Some(_) => text = format!("{} = {value} · {place}\n{}", key.name, key.doc),
                None => {
                    text.push_str(&format!("{:<16} {:<SHOWN$} {place}\n", key.name, cut(&value)));
                }
            }
        }
        self.events.info(text.trim_end());
    }

    /// What the model can call.
    pub(super) async fn tell_tools(&mut self) {
        let cancel = self.interrupt.arm();
        self.refresh(&cancel).await;
        self.record_trust();
        let mut text = format!("{:<20} built in", "bash");
        for tool in self.toolbox.describe() {
            text.push('\n');
            text.push_str(&tool_row(&tool));
        }
        self.events.info(text);
    }

    /// What the endpoint offers.
    pub(super) async fn tell_models(&self) {
        let cancel = self.interrupt.arm();
        let models = self.model.models(self.live.settings(), &cancel).await;
        self.events.send(Event::Models(models.map_err(|error| error.to_string())));
    }
}

fn tool_row(tool: &ToolInfo) -> String {
    let state = match &tool.state {
        ToolState::Ready => cut(tool.description.lines().next().unwrap_or_default()),
        ToolState::Compiling => "is being compiled".to_owned(),
        ToolState::Broken(why) => cut(why.lines().next().unwrap_or_default()),
    };
    let size = format!("{:.0} KB", tool.size as f64 / 1024.0);
    format!("{:<20} {state:<SHOWN$} {size:>8}  {}", tool.name, tool.grants).trim_end().to_owned()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN - 1) {
        Some((at, _)) if text.chars().count() > SHOWN => format!("{}…", &text[..at]),
        _ => text.to_owned(),
    }
}
