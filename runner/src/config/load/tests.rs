use serde_json::json;

use super::*;
use crate::config::Approve;

struct Place {
    dir: tempfile::TempDir,
    env: Env,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::at(dir.path());
        std::fs::create_dir_all(&env.config_dir).unwrap();
        std::fs::create_dir_all(dir.path().join(".autocode")).unwrap();
        Self { dir, env }
    }

    fn user(self, text: &str) -> Self {
        std::fs::write(self.env.config_dir.join("config.json"), text).unwrap();
        self
    }

    fn own(self, text: &str) -> Self {
        std::fs::write(self.project().config(), text).unwrap();
        self
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.env = self.env.with(name, value);
        self
    }

    fn project(&self) -> Project {
        Project::at(self.dir.path())
    }

    fn load(&self) -> Loaded {
        load(&self.project(), &self.env, &Overrides::default(), true).unwrap()
    }

    fn error(&self) -> String {
        let loaded = load(&self.project(), &self.env, &Overrides::default(), true);
        loaded.err().unwrap().to_string()
    }
}

#[test]
fn each_layer_wins_over_those_before_it() {
    let place = Place::new()
        .with("OPENAI_BASE_URL", "http://openai")
        .with("OPENAI_API_KEY", "a$b")
        .user(r#"{"model": "user", "temperature": 1, "max_tokens": 100, "compact_at": 0.7}"#)
        .own(r#"{"model": "project", "temperature": null, "max_tokens": 200}"#)
        .with("AUTOCODE_MODEL", "variable")
        .with("AUTOCODE_MAX_TOKENS", "300");
    let mut overrides = Overrides::default();
    overrides.set("model", json!("first")).unwrap();
    overrides.set("model", json!("flag")).unwrap();

    let loaded = load(&place.project(), &place.env, &overrides, true).unwrap();
    let s = &loaded.settings;
    assert_eq!(s.base_url, "http://openai");
    assert_eq!(s.api_key, "a$b");
    assert_eq!(s.model, "flag");
    assert_eq!(s.temperature, None);
    assert_eq!(s.max_tokens, Some(300));
    assert!((s.compact_at - 0.7).abs() < f64::EPSILON);
    assert_eq!(loaded.warnings, [""; 0]);

    let origin = |name| loaded.origin(Key::named(name).unwrap());
    assert_eq!(origin("model"), ("this session", json!("flag")));
    assert_eq!(origin("max_tokens"), ("AUTOCODE_* variables", json!(300)));
    assert_eq!(origin("temperature"), (".autocode/config.json", json!(null)));
    assert_eq!(origin("compact_at"), ("~/.config/config.json", json!(0.7)));
    assert_eq!(origin("api_key"), ("OPENAI_* variables", json!("$OPENAI_API_KEY")));
    assert_eq!(origin("timeout"), ("default", json!(600)));
    assert_eq!(loaded.rows().count(), KEYS.len());
}

#[test]
fn an_untrusted_project_sets_nothing_and_its_faults_are_nobodys_concern() {
    for text in [r#"{"base_url": "http://stranger", "api_key": "$OPENAI_API_KEY"}"#, "{broken"] {
        let place = Place::new().own(text);
        let loaded = load(&place.project(), &place.env, &Overrides::default(), false).unwrap();
        assert!(loaded.settings == Settings::default());
        assert_eq!(loaded.warnings, [""; 0]);
    }
}

#[test]
fn errors_name_the_file_the_line_and_what_was_expected() {
    let cases = [
        (
            "{\n  \"model\": \"m\",\n  \"compact_at\": \"high\"\n}",
            "~/.config/config.json:3: compact_at must be a number between 0 and 1, got \"high\"",
        ),
        (
            "{\"headers\": {\n\"a\": \"b\",\n\"c\": 1}}",
            "~/.config/config.json:3: headers must be an object of header names and their text, got an object",
        ),
        (
            "{\"model\": \"a\",\n\"model\": \"b\"}",
            "~/.config/config.json:2: model is set twice; keep one of the two",
        ),
        (
            "{\"model\": \"a\",}",
            "~/.config/config.json:1:15: a comma with nothing after it; delete it",
        ),
        ("{\n  // mine\n}", "~/.config/config.json:2:3: JSON has no comments; delete this one"),
        ("{\n  # mine\n}", "~/.config/config.json:2:3: JSON has no comments; delete this one"),
        ("{'model': 1}", "~/.config/config.json:1:2: text goes in double quotes"),
        ("{model: 1}", "~/.config/config.json:1:2: a setting's name goes in double quotes"),
        (
            "{\"model\": \"a\"",
            "~/.config/config.json:1:13: the file ends too early; a quote or bracket is not closed",
        ),
        ("{} {}", "~/.config/config.json:1:4: there is text after the closing bracket"),
        (
            " \n",
            "~/.config/config.json:1:1: the file is empty; write {} for no settings, or delete it",
        ),
        (
            "{\"api_key\":\n\"$NO_SUCH\"}",
            "~/.config/config.json:1: api_key refers to $NO_SUCH, which is not set in the environment; export it, or put \
          another value here",
        ),
        (
            "{\"headers\": {\"x\": \"\",\n\"y\": \"${NO_SUCH}\"}}",
            "~/.config/config.json:2: headers.y refers to $NO_SUCH, which is not set in the environment; export it, or \
          put another value here",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(Place::new().user(text).error(), expected, "{text}");
    }
    for (text, got) in [("[1]", "sequence"), ("3", "integer `3`"), ("null", "null")] {
        let error = Place::new().user(text).error();
        assert!(error.contains("the file must hold a JSON object, {…}, not "), "{error}");
        assert!(error.ends_with(got), "{error}");
    }
}

#[test]
fn a_wrong_variable_is_an_error_and_a_misspelt_one_a_warning() {
    let place = Place::new().with("AUTOCODE_COMPACT_AT", "high");
    assert_eq!(
        place.error(),
        "AUTOCODE_COMPACT_AT: compact_at must be a number between 0 and 1, got \"high\""
    );
    let place = Place::new().with("OPENAI_BASE_URL", "openai.com");
    assert!(place.error().starts_with("OPENAI_BASE_URL: base_url must be a URL"));
    let place = Place::new()
        .with("AUTOCODE_MODLE", "m")
        .with("AUTOCODE_CORPUS", "/")
        .with("AUTOCODE_TIMEOUT", "");
    assert_eq!(
        place.load().warnings,
        ["AUTOCODE_MODLE sets nothing, did you mean AUTOCODE_MODEL?"]
    );
}

#[test]
fn unknown_keys_warn_with_their_line_and_the_nearest_name() {
    let loaded =
        Place::new().user("{\"model\": \"m\",\n\"compct_at\": 1}").own("{\n\n\"zzz\": 1}").load();
    assert_eq!(loaded.settings.model, "m");
    assert_eq!(
        loaded.warnings[0],
        "~/.config/config.json:2: there is no setting \"compct_at\", did you mean \"compact_at\"?"
    );
    let all = loaded.warnings[1].as_str();
    assert!(
        all.starts_with(
            ".autocode/config.json:3: there is no setting \"zzz\"; the settings are base_url,"
        ),
        "{all}"
    );
}

#[test]
fn a_projects_broken_file_is_set_aside_whole_and_named() {
    let cases = [
        "{\"base_url\": \"http://stranger\", \"timeout\": -1}",
        "{\"base_url\": \"http://stranger\", \"api_key\": \"$NO_SUCH\"}",
        "{\"base_url\": \"http://stranger\"",
        "",
    ];
    for text in cases {
        let loaded = Place::new().user(r#"{"model": "mine"}"#).own(text).load();
        assert_eq!(loaded.settings.base_url, Settings::default().base_url, "{text}");
        assert_eq!(loaded.settings.model, "mine");
        let [warning] = &loaded.warnings[..] else { panic!("{:?}", loaded.warnings) };
        assert!(warning.starts_with(".autocode/config.json:1"), "{warning}");
        assert!(warning.ends_with("; the file is set aside"), "{warning}");
        assert!(loaded.set_aside.is_some());
    }
}

#[test]
fn a_fault_of_the_user_is_not_blamed_on_the_project() {
    let place = Place::new().user("{").own(r#"{"model": "m"}"#);
    assert!(place.error().starts_with("~/.config/config.json:1:1"));
    let place = Place::new().user(r#"{"api_key": "$NO_SUCH"}"#);
    assert!(place.error().starts_with("~/.config/config.json:1: api_key refers to $NO_SUCH"));
    // Not needed, not complained about.
    let loaded = place.own(r#"{"api_key": "k"}"#).load();
    assert_eq!(loaded.settings.api_key, "k");
}

#[test]
fn a_config_that_is_no_file_is_named() {
    let place = Place::new();
    std::fs::create_dir(place.project().config()).unwrap();
    assert_eq!(
        place.load().warnings,
        [".autocode/config.json is a directory, not a file; the file is set aside"]
    );
    std::fs::create_dir(place.env.config_dir.join("config.json")).unwrap();
    assert_eq!(place.error(), "~/.config/config.json is a directory, not a file");
}

#[test]
fn expansion_happens_once_and_only_in_secrets() {
    let place = Place::new()
        .with("KEY", "k$OTHER")
        .user(r#"{"api_key": "${KEY}", "model": "$KEY", "headers": {"X-A": "t $KEY"}, "approve": "writes"}"#);
    let s = place.load().settings;
    assert_eq!(s.api_key, "k$OTHER");
    assert_eq!(s.model, "$KEY");
    assert_eq!(s.headers["X-A"], "t k$OTHER");
    assert_eq!(s.approve, Approve::Writes);
}

#[test]
fn a_byte_order_mark_is_no_fault() {
    assert_eq!(Place::new().user("\u{feff}{\"model\": \"m\"}").load().settings.model, "m");
}

#[test]
fn overrides_are_checked() {
    let mut overrides = Overrides::default();
    let error = overrides.set("modle", json!("m")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "setting: there is no setting \"modle\", did you mean \"model\"?"
    );
    assert!(overrides.set("compact_at", json!(7)).is_err());
    overrides.set("compact_at", json!(0.5)).unwrap();
    assert_eq!(overrides.get("compact_at"), Some(&json!(0.5)));
    overrides.clear("compact_at");
    assert_eq!(overrides.get("compact_at"), None);
}

#[test]
fn without_a_model_the_three_ways_are_told() {
    let place = Place::new();
    let text = no_model(&place.project(), &place.env);
    for way in ["--setup", "AUTOCODE_MODEL", ".autocode/config.json", "~/.config/config.json"] {
        assert!(text.contains(way), "{text}");
    }
}
