use std::collections::VecDeque;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// A person who gives these answers and then walks away.
struct Scripted {
    answers: VecDeque<&'static str>,
    shown: Vec<Line>,
}

impl Terminal for Scripted {
    fn show(&mut self, line: &Line) -> std::io::Result<()> {
        self.shown.push(line.clone());
        Ok(())
    }

    fn ask(&mut self, question: &Question) -> std::io::Result<Option<String>> {
        self.shown.extend(question.above.iter().cloned());
        Ok(self.answers.pop_front().map(str::to_owned))
    }
}

struct Server;

impl Backend for Server {
    fn models<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> LocalBoxFuture<'a, Result<Vec<Listed>, Failure>> {
        let reply = match endpoint.api_key.as_str() {
            "right-key" => Ok(vec![Listed { id: "m".to_owned(), window: Some(64_000) }]),
            _ => Err(Failure::Key("401".to_owned())),
        };
        Box::pin(std::future::ready(reply))
    }

    fn test<'a>(
        &'a self,
        _: &'a Endpoint,
        model: &'a str,
    ) -> LocalBoxFuture<'a, Result<String, Failure>> {
        Box::pin(std::future::ready(Ok(format!("I am {model}"))))
    }
}

fn set_up(env: &Env, answers: &[&'static str]) -> (Result<String, SetupError>, Vec<Line>) {
    let mut terminal = Scripted { answers: answers.iter().copied().collect(), shown: Vec::new() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let project = Project::at(&env.cwd);
    let result = runtime.block_on(run(&project, env, &Server, &mut terminal));
    (result, terminal.shown)
}

const ANSWERS: [&str; 6] =
    ["another URL", "http://example.org/v1", "wrong-key", "$RIGHT", "m", "always"];

#[test]
fn settings_are_saved_for_the_user_and_only_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let env = Env::at(dir.path()).with("RIGHT", "right-key");
    let path = env.config_dir.join("config.json");
    for answered in 0..ANSWERS.len() {
        let (result, _) = set_up(&env, &ANSWERS[..answered]);
        assert!(matches!(result, Err(SetupError::Cancelled)), "{answered}");
        assert!(!path.exists());
    }
    let (result, shown) = set_up(&env, &ANSWERS);
    assert_eq!(result.unwrap(), "~/.config/config.json");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let saved: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let expected = json!({
        "base_url": "http://example.org/v1", "api_key": "$RIGHT", "model": "m", "approve": "always",
        "context_window": 64_000
    });
    assert_eq!(saved, expected);
    assert!(shown.contains(&Line::Bad("the key was refused: 401".to_owned())));
    assert!(shown.contains(&Line::Good("m replies: I am m".to_owned())));
}

#[test]
fn other_settings_stay_and_a_broken_file_is_moved_aside() {
    let dir = tempfile::tempdir().unwrap();
    let env = Env::at(dir.path()).with("RIGHT", "right-key");
    let path = env.config_dir.join("config.json");
    std::fs::create_dir_all(&env.config_dir).unwrap();
    std::fs::write(&path, r#"{"timeout": 9, "model": "old"}"#).unwrap();
    set_up(&env, &ANSWERS).0.unwrap();
    let saved: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!((&saved["timeout"], &saved["model"]), (&json!(9), &json!("m")));

    std::fs::write(&path, "{ mine").unwrap();
    let (result, shown) = set_up(&env, &ANSWERS);
    result.unwrap();
    assert_eq!(
        std::fs::read_to_string(env.config_dir.join("config.json.broken")).unwrap(),
        "{ mine"
    );
    assert!(
        shown
            .iter()
            .any(|line| matches!(line, Line::Bad(text) if text.contains("the old file is now")))
    );
}

#[test]
fn without_a_terminal_the_settings_to_write_are_told() {
    let env = Env::at("/home/ada");
    let text = without_terminal(&Project::at("/src"), &env);
    for part in [
        "~/.config/config.json",
        "chmod 600",
        "\"base_url\"",
        "\"api_key\": \"$OPENAI_API_KEY\"",
        "AUTOCODE_MODEL",
    ] {
        assert!(text.contains(part), "{part}");
    }
}
