//! The last answer on the clipboard: by the desktop's own program where there is one, else by asking the terminal
//! (OSC 52), which also works from another machine.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use crate::env::Env;

/// More is cut off by many terminals.
const LONGEST: usize = 74_000;

/// Puts `text` on the clipboard; says how.
///
/// # Errors
/// When the terminal cannot be written, or would cut the text off.
pub(super) fn copy(text: &str, env: &Env) -> io::Result<&'static str> {
    if let Some(program) = program(env)
        && feed(program, text).is_ok()
    {
        return Ok(program[0]);
    }
    if text.len() > LONGEST {
        return Err(io::Error::other("the answer is longer than a terminal takes"));
    }
    let mut out = io::stdout();
    write!(out, "\x1b]52;c;{}\x07", base64(text.as_bytes()))?;
    out.flush()?;
    Ok("through the terminal")
}

/// The desktop's program, if there is a desktop.
fn program(env: &Env) -> Option<&'static [&'static str]> {
    if env.get("SSH_CONNECTION").is_some() {
        None
    } else if cfg!(target_os = "macos") {
        Some(&["pbcopy"])
    } else if env.get("WAYLAND_DISPLAY").is_some() {
        Some(&["wl-copy"])
    } else if env.get("DISPLAY").is_some() {
        Some(&["xclip", "-selection", "clipboard"])
    } else {
        None
    }
}

fn feed(program: &[&str], text: &str) -> io::Result<()> {
    let mut child = Command::new(program[0])
        .args(&program[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(text.as_bytes())?;
    }
    match child.wait()?.success() {
        true => Ok(()),
        false => Err(io::Error::other("the program failed")),
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0u32, |group, byte| group << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for n in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * n) & 63) as usize];
            out.push(if n > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_as_the_standard_has_it() {
        let coded = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(coded, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }
}
