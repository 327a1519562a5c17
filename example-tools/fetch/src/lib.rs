//! A web page as text. The network is closed to a tool until `.autocode/tools/fetch.grants.json` names servers:
//! `{"net": ["docs.rs", "api.github.com:443"]}`.

mod html;
#[cfg(target_family = "wasm")]
mod http;

use autocode_tool::{Result, tool};
use url::Url;

/// Most redirects that are followed. Each server on the way needs the grant.
const MAX_REDIRECTS: usize = 5;

/// Most of a page that is read, in bytes.
const MAX_BODY: usize = 5 << 20;

/// Fetch a URL and return its text; HTML comes without its markup.
#[tool]
fn fetch(
    /// http or https.
    url: &str,
    /// Return HTML as it is.
    #[serde(default)]
    raw: bool,
    /// Most characters returned.
    #[serde(default = "enough")]
    limit: usize,
) -> Result {
    let mut url = Url::parse(url)?;
    for _ in 0..=MAX_REDIRECTS {
        let response = get(&url)?;
        match response.location {
            Some(next) if (300..400).contains(&response.status) => url = url.join(&next)?,
            _ if !(200..300).contains(&response.status) => {
                let text = readable(&response, false);
                return Err(
                    format!("{url} answered {}\n{}", response.status, cut(&text, 500)).into()
                );
            }
            _ => return Ok(cut(&readable(&response, raw), limit)),
        }
    }
    Err(format!("more than {MAX_REDIRECTS} redirects, the last to {url}").into())
}

fn enough() -> usize {
    20_000
}

/// What a server answered.
struct Response {
    status: u16,
    content_type: String,
    location: Option<String>,
    body: Vec<u8>,
}

#[cfg(target_family = "wasm")]
fn get(url: &Url) -> Result<Response> {
    http::get(url, MAX_BODY)
}

/// Only autocode has the network.
#[cfg(not(target_family = "wasm"))]
fn get(_: &Url) -> Result<Response> {
    Err("built for a test, this has no network".into())
}

fn readable(response: &Response, raw: bool) -> String {
    let text = String::from_utf8_lossy(&response.body);
    let html = response.content_type.contains("html");
    if html && !raw { html::text(&text) } else { text.into_owned() }
}

/// The first `limit` characters, with a word on the rest.
fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => {
            format!("{}\n… {} more characters", &text[..end], text[end..].chars().count())
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(content_type: &str, body: &str) -> Response {
        Response {
            status: 200,
            content_type: content_type.to_owned(),
            location: None,
            body: body.into(),
        }
    }

    #[test]
    fn html_is_read_as_text_unless_it_is_wanted_raw() {
        let page = answer("text/html; charset=utf-8", "<p>a &lt; b</p>");
        assert_eq!(readable(&page, false), "a < b");
        assert_eq!(readable(&page, true), "<p>a &lt; b</p>");
        assert_eq!(readable(&answer("text/plain", "<p>"), false), "<p>");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("äöü", 2), "äö\n… 1 more characters");
        assert_eq!(cut("äöü", 3), "äöü");
    }

    #[test]
    fn what_is_no_url_is_an_error() {
        assert!(autocode_tool::run::<fetch>(r#"{"url": "example.com"}"#).is_err());
    }
}
