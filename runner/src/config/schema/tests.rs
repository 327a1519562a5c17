use super::*;

#[test]
fn every_default_is_valid_and_comes_out_as_it_went_in() {
    let mut settings = Settings::default();
    for key in KEYS {
        let value = key.value(&Settings::default());
        key.apply(&mut settings, &value).unwrap();
        assert_eq!(key.value(&settings), value, "{}", key.name);
    }
    assert!(settings == Settings::default());
}

#[test]
fn wrong_values_say_what_was_expected_and_what_came() {
    let cases = [
        ("compact_at", json!("high"), "compact_at must be a number between 0 and 1, got \"high\""),
        ("compact_at", json!(0), "compact_at must be a number between 0 and 1, got 0"),
        ("compact_at", json!(1.5), "compact_at must be a number between 0 and 1, got 1.5"),
        (
            "base_url",
            json!("localhost:8080"),
            "base_url must be a URL that starts with http:// or https://, got \"localhost:8080\"",
        ),
        (
            "context_window",
            json!(-1),
            "context_window must be a whole number of tokens, 1024 or more, got -1",
        ),
        (
            "max_tokens",
            json!(2.5),
            "max_tokens must be a whole number of tokens above 0, or null, got 2.5",
        ),
        ("timeout", json!(0), "timeout must be a number of seconds above 0, got 0"),
        ("model", json!(null), "model must be text, got null"),
        ("api_key", json!({"a": 1}), "api_key must be text, got an object"),
        (
            "headers",
            json!({"a": 1}),
            "headers must be an object of header names and their text, got an object",
        ),
        (
            "headers",
            json!("sk-secret"),
            "headers must be an object of header names and their text, got text",
        ),
        (
            "approve",
            json!("sometimes"),
            "approve must be never, writes or always, got \"sometimes\"",
        ),
        ("keep_reasoning", json!([1]), "keep_reasoning must be true or false, got a list"),
    ];
    for (name, value, expected) in cases {
        assert_eq!(Key::named(name).unwrap().check(&value).unwrap_err(), expected);
    }
}

#[test]
fn values_are_normalised_at_the_edge() {
    let mut s = Settings::default();
    let mut set =
        |name: &str, value: Value| Key::named(name).unwrap().apply(&mut s, &value).unwrap();
    set("base_url", json!(" http://localhost:8080/v1/chat/completions/ "));
    set("context_window", json!(32768.0));
    set("api_key", json!("sk-1\n"));
    set("timeout", json!(1e300));
    assert_eq!(s.base_url, "http://localhost:8080/v1");
    assert_eq!(s.context_window, 32768);
    assert_eq!(s.api_key, "sk-1");
    assert_eq!(s.timeout, Duration::from_secs(31_536_000));
}

#[test]
fn typed_text_is_itself_or_json() {
    assert_eq!(Key::named("model").unwrap().typed("4"), json!("4"));
    assert_eq!(Key::named("compact_at").unwrap().typed("0.5"), json!(0.5));
    assert_eq!(Key::named("compact_at").unwrap().typed("high"), json!("high"));
}

#[test]
fn secrets_are_masked_and_references_are_not_secrets() {
    let key = Key::named("api_key").unwrap();
    assert_eq!(key.shown(&json!("sk-abcdefghijklmnopqrstuvwxyz")), "sk-…wxyz");
    assert_eq!(key.shown(&json!("short-key")), "•••");
    assert_eq!(key.shown(&json!("$OPENAI_API_KEY")), "$OPENAI_API_KEY");
    assert_eq!(key.shown(&json!("$OPENAI_API_KEY and more")), "$OP…more");
    let headers = Key::named("headers").unwrap();
    assert_eq!(headers.shown(&json!({"a": "secret", "b": "${B}"})), r#"{"a":"•••","b":"${B}"}"#);
    assert_eq!(headers.shown(&json!({"a": {"b": "secret"}})), r#"{"a":"•••"}"#);
}

#[test]
fn the_nearest_name_is_found_for_slips_only() {
    assert_eq!(Key::nearest("modle"), Some("model"));
    assert_eq!(Key::nearest("base-url"), Some("base_url"));
    assert_eq!(Key::nearest("Context_Windows"), Some("context_window"));
    assert_eq!(Key::nearest("zzz"), None);
}
