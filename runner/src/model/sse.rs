//! Server-sent events out of bytes, however the network cut them.
//!
//! Source: WHATWG HTML, "Event stream interpretation". Invariants: the events do not depend on where the bytes were
//! cut; the time is linear in the bytes; no line is buffered beyond [`MAX_LINE`].

use std::borrow::Cow;

/// Longest line and longest event that is accepted. A whole file can come as one delta; more than this is no reply.
pub(crate) const MAX_LINE: usize = 16 << 20;

/// One event with data.
#[derive(Debug, PartialEq)]
pub(crate) struct Event<'a> {
    /// The server called it an error (`event: error`, or llama.cpp's former `error:` field).
    pub error: bool,
    /// The data lines, joined by newlines.
    pub data: &'a str,
}

/// The server sent a line or an event longer than [`MAX_LINE`].
#[derive(Debug, PartialEq)]
pub(crate) struct TooLong;

/// The state between two reads.
#[derive(Default)]
pub(crate) struct Decoder {
    /// Beginning of a line whose end has not come.
    line: Vec<u8>,
    /// Data of the event whose end has not come; each data line adds itself and a newline.
    data: Vec<u8>,
    error: bool,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_cr: bool,
    /// The first line is behind us; only it may begin with a byte order mark.
    started: bool,
}

impl Decoder {
    /// Takes the next bytes and gives each event that they complete.
    pub fn feed<E: From<TooLong>>(
        &mut self,
        mut bytes: &[u8],
        on_event: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = memchr::memchr2(b'\r', b'\n', bytes) {
            let (head, tail) = bytes.split_at(end);
            bytes = match tail {
                [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
                [] => tail,
            };
            self.after_cr = tail == b"\r";
            if self.line.is_empty() {
                self.take(head, on_event)?;
            } else {
                self.hold(head)?;
                let line = std::mem::take(&mut self.line);
                self.take(&line, on_event)?;
                self.line = line;
                self.line.clear();
            }
        }
        self.hold(bytes)?;
        Ok(())
    }

    /// The stream is over: gives what is pending. It may be half an event, so its data must be checked to be whole.
    pub fn finish<E: From<TooLong>>(
        &mut self,
        on_event: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take(&line, on_event)?;
        }
        self.take(b"", on_event)
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > MAX_LINE {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn take<E: From<TooLong>>(
        &mut self,
        line: &[u8],
        on_event: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = match line.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) if !self.started => rest,
            _ => line,
        };
        self.started = true;
        if line.is_empty() {
            return self.dispatch(on_event);
        }
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        match name {
            b"data" => self.push(value)?,
            b"event" => self.error = value == b"error",
            b"error" => {
                self.error = true;
                self.push(value)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn push(&mut self, value: &[u8]) -> Result<(), TooLong> {
        if self.data.len() + value.len() > MAX_LINE {
            return Err(TooLong);
        }
        self.data.extend_from_slice(value);
        self.data.push(b'\n');
        Ok(())
    }

    fn dispatch<E>(
        &mut self,
        on_event: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let error = std::mem::take(&mut self.error);
        let Some((_, data)) = self.data.split_last() else {
            return Ok(());
        };
        let text: Cow<'_, str> = String::from_utf8_lossy(data);
        let result = on_event(Event { error, data: &text });
        drop(text);
        self.data.clear();
        result
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Events of `bytes` fed in pieces of `size`, and what is pending at the end.
    fn events(bytes: &[u8], size: usize) -> Vec<(bool, String)> {
        let mut out = Vec::new();
        let mut decoder = Decoder::default();
        let mut sink = |event: Event<'_>| {
            out.push((event.error, event.data.to_owned()));
            Ok::<_, TooLong>(())
        };
        for piece in bytes.chunks(size) {
            decoder.feed(piece, &mut sink).unwrap();
        }
        decoder.finish(&mut sink).unwrap();
        out
    }

    fn data(bytes: &[u8]) -> Vec<String> {
        let whole = events(bytes, bytes.len().max(1));
        for size in 1..bytes.len() {
            assert_eq!(events(bytes, size), whole, "in pieces of {size}");
        }
        whole.into_iter().map(|(_, data)| data).collect()
    }

    #[test]
    fn line_ends_may_be_lf_cr_or_crlf() {
        for end in ["\n", "\r", "\r\n"] {
            let text = ["data: a", "", "data: b", "data: c", "", ""].join(end);
            assert_eq!(data(text.as_bytes()), ["a", "b\nc"], "{end:?}");
        }
    }

    #[test]
    fn comments_ids_and_unknown_fields_say_nothing() {
        assert_eq!(data(b": ping\n\n:\n\nid: 7\nretry: 10\nfoo\ndata: x\n\n"), ["x"]);
    }

    #[test]
    fn one_space_after_the_colon_is_dropped_and_no_more() {
        assert_eq!(data(b"data:a\n\ndata:  b\n\ndata\ndata\n\n"), ["a", " b", "\n"]);
    }

    #[test]
    fn a_byte_order_mark_opens_the_stream_only() {
        assert_eq!(data("\u{feff}data: a\n\n\u{feff}data: b\n\n".as_bytes()), ["a"]);
    }

    #[test]
    fn characters_survive_a_cut_and_bad_bytes_are_replaced() {
        assert_eq!(data("data: żółć 🦀\n\n".as_bytes()), ["żółć 🦀"]);
        assert_eq!(data(b"data: a\xFFb\n\n"), ["a\u{fffd}b"]);
    }

    #[test]
    fn what_lacks_its_blank_line_is_given_at_the_end() {
        assert_eq!(data(b"data: a\n\ndata: [DONE]"), ["a", "[DONE]"]);
        assert_eq!(data(b"data: [DONE]\n"), ["[DONE]"]);
    }

    #[test]
    fn errors_are_marked_by_event_or_field() {
        let text = b"event: error\ndata: x\n\nerror: y\n\ndata: z\n\n";
        let marks: Vec<_> = events(text, 3).into_iter().map(|(error, _)| error).collect();
        assert_eq!(marks, [true, true, false]);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut decoder = Decoder::default();
        let mut sink = |_: Event<'_>| Ok::<_, TooLong>(());
        let megabyte = vec![b'x'; 1 << 20];
        let fed = (0..64).find(|_| decoder.feed(&megabyte, &mut sink).is_err());
        assert_eq!(fed, Some(MAX_LINE >> 20));
    }
}
