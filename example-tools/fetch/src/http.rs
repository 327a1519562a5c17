//! One GET request over wasi:http.

use autocode_tool::Result;
use url::Url;
use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{Fields, IncomingBody, IncomingResponse, OutgoingRequest, Scheme};
use wasip2::io::streams::StreamError;

use crate::Response;

/// Bytes asked for at a time.
const PIECE: u64 = 64 << 10;

/// Sends a request and reads the whole answer, `max` bytes of its body at most.
pub(crate) fn get(url: &Url, max: usize) -> Result<Response> {
    let scheme = match url.scheme() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => return Err(format!("{other} is neither http nor https").into()),
    };
    let headers = Fields::new();
    for (name, value) in
        [("user-agent", "autocode-fetch"), ("accept", "text/html,text/*;q=0.9,*/*;q=0.5")]
    {
        headers
            .append(name, value.as_bytes())
            .map_err(|error| format!("header {name}: {error}"))?;
    }
    let request = OutgoingRequest::new(headers);
    let set = request
        .set_scheme(Some(&scheme))
        .and_then(|()| request.set_authority(Some(url.authority())))
        .and_then(|()| {
            request.set_path_with_query(Some(
                &url[url::Position::BeforePath..url::Position::AfterQuery],
            ))
        });
    set.map_err(|()| format!("{url} cannot be requested"))?;

    let pending = handle(request, None).map_err(|error| format!("{url}: {error}"))?;
    pending.subscribe().block();
    let response = match pending.get() {
        Some(Ok(Ok(response))) => response,
        Some(Ok(Err(error))) => return Err(format!("{url}: {error}").into()),
        _ => return Err(format!("{url}: no answer").into()),
    };
    let header = |name: &str| -> Option<String> {
        let value = response.headers().get(name).into_iter().next()?;
        Some(String::from_utf8_lossy(&value).into_owned())
    };
    Ok(Response {
        status: response.status(),
        content_type: header("content-type").unwrap_or_default(),
        location: header("location"),
        body: read(&response, max).map_err(|error| format!("{url}: {error}"))?,
    })
}

fn read(response: &IncomingResponse, max: usize) -> Result<Vec<u8>> {
    let body: IncomingBody = response.consume().map_err(|()| "the answer has no body")?;
    let stream = body.stream().map_err(|()| "the answer's body cannot be read")?;
    let mut bytes = Vec::new();
    while bytes.len() < max {
        match stream.blocking_read(PIECE) {
            Ok(piece) => bytes.extend(piece),
            Err(StreamError::Closed) => break,
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(error.to_debug_string().into());
            }
        }
    }
    bytes.truncate(max);
    Ok(bytes)
}
