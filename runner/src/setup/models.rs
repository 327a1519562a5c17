//! What a server says about its models.

use serde_json::Value;

/// A model that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name in requests.
    pub id: String,
    /// Its context window in tokens, where the server tells it.
    pub window: Option<u64>,
}

/// The models in the body of a reply to `GET /models`; `None` when it is something else.
pub fn parse(body: &str) -> Option<Vec<Listed>> {
    let body: Value = serde_json::from_str(body).ok()?;
    let list = body.get("data").unwrap_or(&body).as_array()?;
    let models = list.iter().filter_map(|model| {
        let id = model.get("id")?.as_str()?;
        // Gemini names the resource; requests take the bare name.
        let id = id.strip_prefix("models/").unwrap_or(id).to_owned();
        Some(Listed { id, window: window(model) })
    });
    Some(models.collect())
}

/// OpenRouter, Groq, vLLM, LM Studio, Mistral and llama.cpp in their words. What a model was trained with is not what
/// a server gives it, so llama.cpp's `n_ctx_train` does not count.
fn window(model: &Value) -> Option<u64> {
    const PATHS: [&str; 8] = [
        "/loaded_context_length",
        "/meta/n_ctx",
        "/context_length",
        "/context_window",
        "/max_model_len",
        "/max_context_length",
        "/top_provider/context_length",
        "/limits/max_context_length",
    ];
    PATHS.iter().find_map(|path| model.pointer(path)?.as_u64()).filter(|window| *window >= 1024)
}

/// Those one can talk to; all of them when the names tell nothing.
pub(super) fn for_chat(models: Vec<Listed>) -> Vec<Listed> {
    const OTHERS: [&str; 14] = [
        "audio",
        "dall-e",
        "embed",
        "guard",
        "image",
        "imagen",
        "moderation",
        "realtime",
        "rerank",
        "sora",
        "transcribe",
        "tts",
        "veo",
        "whisper",
    ];
    let talks = |model: &&Listed| {
        let id = model.id.to_lowercase();
        !id.split(['-', '/', '_', '.', ':'])
            .any(|part| OTHERS.iter().any(|other| part.starts_with(other)))
            && !id.contains("dall-e")
    };
    let chat: Vec<Listed> = models.iter().filter(talks).cloned().collect();
    if chat.is_empty() { models } else { chat }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_and_windows_are_found_wherever_servers_put_them() {
        let body = r#"{"object": "list", "data": [
            {"id": "a", "context_length": 131072}, {"id": "models/b", "max_model_len": 4096}, {"id": "c"},
            {"id": "d", "meta": {"n_ctx_train": 8192}}, {"id": "e", "top_provider": {"context_length": 200000}},
            {"id": "f", "context_length": null, "context_window": 32768}, {"id": 5}, "g", {"id": "h", "context_length": 0}
        ]}"#;
        let found: Vec<(String, Option<u64>)> =
            parse(body).unwrap().into_iter().map(|model| (model.id, model.window)).collect();
        let expected = [
            ("a", Some(131_072)),
            ("b", Some(4096)),
            ("c", None),
            ("d", None),
            ("e", Some(200_000)),
            ("f", Some(32_768)),
            ("h", None),
        ];
        assert_eq!(found, expected.map(|(id, window)| (id.to_owned(), window)));
        assert_eq!(parse(r#"[{"id": "a"}]"#).unwrap().len(), 1);
        for other in ["", "<html>", "{}", r#"{"data": {}}"#, "3"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn models_that_do_not_talk_are_left_out_unless_there_are_no_others() {
        let list = |ids: &[&str]| -> Vec<Listed> {
            ids.iter().map(|id| Listed { id: (*id).to_owned(), window: None }).collect()
        };
        let all = list(&[
            "gpt-5",
            "text-embedding-3",
            "whisper-1",
            "dall-e-3",
            "gpt-4o-audio-preview",
            "qwen3:8b",
            "a/veo-2",
        ]);
        assert_eq!(for_chat(all), list(&["gpt-5", "qwen3:8b"]));
        assert_eq!(for_chat(list(&["embed"])), list(&["embed"]));
    }
}
