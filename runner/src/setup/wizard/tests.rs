use serde_json::json;

use super::*;

fn provider(name: &str, base_url: &str, key: Option<&str>) -> Provider {
    Provider { name: name.to_owned(), base_url: base_url.to_owned(), key: key.map(str::to_owned) }
}

fn wizard(env: &Env) -> Wizard<'_> {
    let providers = vec![
        provider("Hosted", "https://hosted.example/v1", Some("HOSTED_KEY")),
        provider("Local", "http://localhost:8080/v1", None),
        provider("another URL", "", None),
    ];
    let key = env.get("HOSTED_KEY").map(|_| Mark::Key("HOSTED_KEY".to_owned()));
    Wizard::new(env, providers, vec![key, Some(Mark::Running), None])
}

fn question(need: Need) -> Question {
    match need {
        Need::Answer(question) => question,
        other => panic!("{other:?}"),
    }
}

fn ask(wizard: &mut Wizard<'_>, label: &str) -> Question {
    let question = question(wizard.need());
    assert!(question.label.starts_with(label), "{question:?}");
    question
}

fn listed(ids: &[&str]) -> Vec<Listed> {
    ids.iter().map(|id| Listed { id: (*id).to_owned(), window: None }).collect()
}

fn bad(question: &Question) -> &str {
    let found = question.above.iter().find_map(|line| match line {
        Line::Bad(text) => Some(text.as_str()),
        _ => None,
    });
    found.unwrap_or_default()
}

#[test]
fn a_key_in_the_environment_is_used_by_its_name() {
    let env = Env::at("/").with("HOSTED_KEY", "secret-1");
    let mut w = wizard(&env);
    let first = ask(&mut w, "Provider");
    assert_eq!(first.default, "1");
    assert!(matches!(&first.above[0], Line::Choice { mark, .. } if mark == "$HOSTED_KEY is set"));
    w.answer("");
    let endpoint = Endpoint {
        base_url: "https://hosted.example/v1".to_owned(),
        api_key: "secret-1".to_owned(),
    };
    assert_eq!(w.need(), Need::Models(endpoint.clone()));
    w.models(Ok(vec![Listed { id: "big".to_owned(), window: Some(200_000) }]));
    ask(&mut w, "Model");
    w.answer("");
    ask(&mut w, "Ask");
    w.answer("writes");
    assert_eq!(w.need(), Need::Test(endpoint, "big".to_owned()));
    w.tested(Ok("ok\n there".to_owned()));
    assert_eq!(
        w.need(),
        Need::Save(vec![
            ("base_url", Some(json!("https://hosted.example/v1"))),
            ("api_key", Some(json!("$HOSTED_KEY"))),
            ("model", Some(json!("big"))),
            ("approve", Some(json!("writes"))),
            ("context_window", Some(json!(200_000))),
        ])
    );
    assert_eq!(w.take_lines(), [Line::Good("big replies: ok there".to_owned())]);
}

#[test]
fn a_wrong_key_says_so_and_asks_again() {
    let env = Env::at("/").with("OTHER", "another-secret");
    let mut w = wizard(&env);
    w.need();
    w.answer("hosted");
    let key = ask(&mut w, "API key");
    assert!(key.hidden);
    w.answer("");
    assert_eq!(bad(&ask(&mut w, "API key")), "this provider wants a key");
    w.answer("$NOWHERE");
    assert_eq!(bad(&ask(&mut w, "API key")), "$NOWHERE is not set in the environment");
    w.answer("sk-wrong");
    assert!(matches!(w.need(), Need::Models(endpoint) if endpoint.api_key == "sk-wrong"));
    w.models(Err(Failure::Key("invalid api key".to_owned())));
    assert_eq!(bad(&ask(&mut w, "API key")), "the key was refused: invalid api key");
    w.answer("another-secret");
    w.models(Err(Failure::Other("404".to_owned())));
    let model = ask(&mut w, "Model name");
    assert_eq!(bad(&model), "no list of models: 404");
    w.answer("");
    assert_eq!(bad(&ask(&mut w, "Model name")), "a model's name");
    w.answer("m");
    ask(&mut w, "Context window");
    w.answer("lots");
    assert!(bad(&ask(&mut w, "Context window")).starts_with("a number of tokens"));
    w.answer("64k");
    ask(&mut w, "Ask");
    w.answer("");
    assert!(matches!(w.need(), Need::Test(..)));
    w.tested(Err(Failure::Key("expired".to_owned())));
    assert_eq!(bad(&ask(&mut w, "API key")), "the key was refused: expired");
    w.answer("pa$$word-2");
    w.models(Ok(listed(&["m"])));
    w.need();
    w.answer("m");
    w.need();
    w.answer("64k");
    w.need();
    w.answer("");
    w.tested(Ok("ok".to_owned()));
    let Need::Save(settings) = w.need() else { panic!() };
    assert_eq!(settings[1], ("api_key", Some(json!("pa$$$$word-2"))));
    assert_eq!(settings[3], ("approve", None), "the default is not written down");
    assert_eq!(settings[4], ("context_window", Some(json!(64_000))));
}

#[test]
fn a_key_that_a_variable_holds_is_saved_by_its_name() {
    let env = Env::at("/").with("OTHER", "another-secret");
    let mut w = wizard(&env);
    w.need();
    w.answer("1");
    w.need();
    w.answer("another-secret");
    assert_eq!(w.stored_key, "$OTHER");
    assert_eq!(w.endpoint.api_key, "another-secret");
}

#[test]
fn a_server_of_ones_own_needs_no_key_and_a_url_is_checked() {
    let env = Env::at("/");
    let mut w = wizard(&env);
    assert_eq!(ask(&mut w, "Provider").default, "2");
    w.answer("nine");
    assert_eq!(bad(&ask(&mut w, "Provider")), "a number from 1 to 3");
    w.answer("0");
    ask(&mut w, "Provider");
    w.answer("3");
    ask(&mut w, "Base URL");
    w.answer("example.org");
    assert!(bad(&ask(&mut w, "Base URL")).starts_with("a URL that"));
    w.answer("http://example.org/v1/");
    ask(&mut w, "API key");
    w.answer("");
    assert_eq!(
        w.need(),
        Need::Models(Endpoint {
            base_url: "http://example.org/v1".to_owned(),
            api_key: String::new()
        })
    );
    w.models(Err(Failure::Key("who are you?".to_owned())));
    assert_eq!(bad(&ask(&mut w, "API key")), "a key is needed: who are you?");
}

#[test]
fn long_lists_are_narrowed_and_other_names_believed() {
    let env = Env::at("/");
    let ids: Vec<String> = (0..50).map(|n| format!("family-{}/model-{n}", n % 2)).collect();
    let start = |env| {
        let mut w = wizard(env);
        w.need();
        w.answer("2");
        w.need();
        w.answer("");
        w.models(Ok(listed(&ids.iter().map(String::as_str).collect::<Vec<_>>())));
        w
    };
    let mut w = start(&env);
    let all = ask(&mut w, "Model");
    assert!(
        all.above.contains(&Line::Note("… 30 more; type part of a name to see fewer".to_owned()))
    );
    w.answer("FAMILY-1");
    let some = ask(&mut w, "Model");
    assert_eq!(some.default, "family-1/model-1");
    assert!(
        some.above.contains(&Line::Note("… 5 more; type part of a name to see fewer".to_owned()))
    );
    w.answer("21");
    assert_eq!(w.model, "family-1/model-21", "a number that is not shown is part of a name");
    let mut w = start(&env);
    w.need();
    w.answer("2");
    assert_eq!(w.model, "family-1/model-1");
    let mut w = start(&env);
    w.need();
    w.answer("model-49");
    assert_eq!(w.model, "family-1/model-49");
    let mut w = start(&env);
    w.need();
    w.answer("brand-new");
    assert_eq!(w.model, "brand-new");
    assert!(
        matches!(&ask(&mut w, "Context").above[0], Line::Note(text) if text.contains("the test will tell"))
    );
}

#[test]
fn a_failed_test_is_saved_only_when_wanted() {
    let env = Env::at("/");
    for (answer, saved) in [("", false), ("y", true)] {
        let mut w = wizard(&env);
        w.need();
        w.answer("2");
        w.need();
        w.answer("");
        w.models(Ok(listed(&["m"])));
        w.need();
        w.answer("");
        ask(&mut w, "Context");
        w.answer("");
        w.need();
        w.answer("");
        w.tested(Err(Failure::Other("500".to_owned())));
        assert_eq!(bad(&ask(&mut w, "Save it anyway")), "500");
        w.answer(answer);
        assert_eq!(matches!(w.need(), Need::Save(_)), saved);
    }
}

#[test]
fn windows_are_read_as_people_write_them() {
    for (text, expected) in [
        ("32768", Some(32_768)),
        ("128k", Some(128_000)),
        ("1M", Some(1_000_000)),
        ("200,000", Some(200_000)),
        ("5", None),
        ("k", None),
        ("99999999999999999999", None),
        ("9999999999999999999k", None),
    ] {
        assert_eq!(tokens(text), expected, "{text}");
    }
}
