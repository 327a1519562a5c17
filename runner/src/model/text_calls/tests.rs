#![allow(clippy::unwrap_used)]

use serde_json::Value;

use super::find;

const TOOLS: [&str; 2] = ["bash", "add"];

fn calls(content: &str) -> Vec<(String, String)> {
    find(content, &TOOLS)
}

fn expect(content: &str, expected: &[(&str, &str)]) {
    let expected: Vec<_> =
        expected.iter().map(|(name, args)| ((*name).to_owned(), (*args).to_owned())).collect();
    assert_eq!(calls(content), expected, "{content}");
}

const LS: (&str, &str) = ("bash", r#"{"command":"ls"}"#);

#[test]
fn calls_in_tags_are_found() {
    expect(
        "<tool_call>\n{\"name\": \"bash\", \"arguments\": {\"command\": \"ls\"}}\n</tool_call>",
        &[LS],
    );
    expect(
        "I look first.\n\n<tool_call>{\"name\":\"bash\",\"parameters\":{\"command\":\"ls\"}}</tool_call>",
        &[LS],
    );
    expect(
        "I look first. <tool_call>{\"name\":\"bash\",\"arguments\":\"{\\\"command\\\":\\\"ls\\\"}\"}</tool_call>\n",
        &[LS],
    );
    expect(
        "<tool_call>{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call><tool_call>{\"name\":\"add\",\"arguments\":{}}</tool_call>",
        &[LS, ("add", "{}")],
    );
}

#[test]
fn a_closing_tag_that_a_stop_sequence_ate_is_not_missed() {
    expect("<tool_call>\n{\"name\": \"bash\", \"arguments\": {\"command\": \"ls\"}}\n", &[LS]);
    expect("<function=bash>\n<parameter=command>\nls\n</parameter>\n", &[LS]);
}

#[test]
fn xml_forms_are_found() {
    for content in [
        "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>",
        "<function=bash><parameter=command>ls</parameter></function>",
        "<function=bash>{\"command\": \"ls\"}</function>",
        "<function_calls>\n<invoke name=\"bash\">\n<parameter name=\"command\">ls</parameter>\n</invoke>\n</function_calls>",
        "Now:\n<x:function_calls><x:invoke name=\"bash\"><x:parameter name=\"command\">ls</x:parameter></x:invoke></x:function_calls>",
        "<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n</tool_call>",
    ] {
        expect(content, &[LS]);
    }
    expect(
        "<function=bash><parameter=command>\nif a < b && c; then\n  echo \"</x>\"\nfi\n</parameter><parameter=timeout>30</parameter></function>",
        &[("bash", r#"{"command":"if a < b && c; then\n  echo \"</x>\"\nfi","timeout":30}"#)],
    );
}

#[test]
fn forms_with_special_tokens_are_found() {
    for content in [
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{\"command\":\"ls\"}<|tool_call_end|><|tool_calls_section_end|>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>bash\n```json\n{\"command\":\"ls\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "[TOOL_CALLS][{\"name\": \"bash\", \"arguments\": {\"command\": \"ls\"}}]",
        "[TOOL_CALLS]bash[ARGS]{\"command\": \"ls\"}",
        "<|python_tag|>{\"name\": \"bash\", \"parameters\": {\"command\": \"ls\"}}",
    ] {
        expect(content, &[LS]);
    }
}

#[test]
fn an_answer_that_is_nothing_but_a_call_is_one() {
    for content in [
        "```json\n{\n  \"name\": \"bash\",\n  \"arguments\": {\"command\": \"ls\"}\n}\n```",
        "\n```\n{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}\n```\n",
        "{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}",
        "[{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}]",
        "{\"type\":\"function\",\"function\":{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}}",
    ] {
        expect(content, &[LS]);
    }
}

#[test]
fn explanations_are_no_calls() {
    for content in [
        "Write `<tool_call>{\"name\":\"bash\",\"arguments\":{}}</tool_call>` to call it.",
        "Like this:\n```\n<tool_call>{\"name\":\"bash\",\"arguments\":{}}</tool_call>\n```\n",
        "Like this:\n~~~xml\n<function=bash><parameter=command>ls</parameter></function>\n~~~",
        "> <tool_call>{\"name\":\"bash\",\"arguments\":{}}</tool_call>",
        "The form <tool_call>{\"name\":\"bash\",\"arguments\":{}}</tool_call> is what the model writes.",
        "Here is JSON:\n```json\n{\"name\":\"bash\",\"arguments\":{}}\n```",
        "{\"name\":\"bash\",\"arguments\":{}} is a call",
        "An unclosed fence:\n```\n<tool_call>{\"name\":\"bash\",\"arguments\":{}}</tool_call>",
    ] {
        expect(content, &[]);
    }
}

#[test]
fn what_is_half_or_not_offered_is_no_call() {
    for content in [
        "<tool_call>{\"name\":\"bash\",\"arguments\":{\"command\":\"rm -rf /tmp/x",
        "<function=bash><parameter=command>rm -rf /tmp/x",
        "<tool_call>{\"name\":\"delete\",\"arguments\":{}}</tool_call>",
        "<tool_call>{\"name\":\"bash\"}</tool_call>",
        "<tool_call>{\"name\":\"bash\",\"arguments\":[1]}</tool_call>",
        "```json\n{\"name\":\"package\",\"arguments\":{}}\n```",
        "```json\n{\"name\":\"bash\",\"version\":\"1.0\"}\n```",
        "<tool_call>",
        "<",
        "[",
        "",
        "plain",
    ] {
        expect(content, &[]);
    }
}

#[test]
fn hostile_input_is_read_to_its_end() {
    for piece in
        ["<tool_call>", "<function=bash>", "<invoke name=\"", "`<", "[TOOL_CALLS]", "<tool_call>{"]
    {
        assert_eq!(calls(&piece.repeat(5_000)), [], "{piece}");
    }
}

#[test]
fn captures_of_a_server_without_a_parser_hold_the_call() {
    let Some(dir) = std::env::var_os("AUTOCODE_CORPUS") else {
        eprintln!("left out: AUTOCODE_CORPUS is unset, captures of calls as text are not read");
        return;
    };
    for (name, command) in [
        ("llamacpp-qwen-tool-auto", "ls"),
        ("llamacpp-qwen-tool-required", "ls"),
        ("llamacpp-qwen-tool-result", "ls README.md main.rs"),
    ] {
        let path = std::path::Path::new(&dir).join(format!("sse/{name}.txt"));
        let capture = std::fs::read_to_string(path).unwrap();
        let events = capture.lines().filter_map(|line| line.strip_prefix("data: "));
        let chunks = events.filter_map(|event| serde_json::from_str::<Value>(event).ok());
        let words = chunks.filter_map(|chunk| {
            Some(chunk.pointer("/choices/0/delta/content")?.as_str()?.to_owned())
        });
        let content: String = words.collect();
        expect(&content, &[("bash", &serde_json::json!({"command": command}).to_string())]);
    }
}
