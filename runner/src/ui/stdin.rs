//! What is piped in: appended to the message. A pipe that stays open and silent does not hold a run that has one.

use std::io::{self, IsTerminal, Read, Write};
use std::sync::mpsc;
use std::time::Duration;

/// How long a run that has a message waits for the first byte of a pipe. A producer that takes longer is meant with
/// `-` as the message.
const FIRST_BYTE: Duration = Duration::from_secs(3);

/// Most that is taken from a pipe, in bytes.
const LIMIT: u64 = 10 << 20;

/// The first message: the words of the command line, and what is piped in after them. `None` when there is neither.
///
/// # Errors
/// When standard input cannot be read, is not text, or is beyond 10 MiB.
pub fn message(words: &[String]) -> io::Result<Option<String>> {
    let patient = words.iter().any(|w| w == "-");
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|w| *w != "-").collect();
    let prompt = words.join(" ");
    let piped = if io::stdin().is_terminal() || is_null() {
        String::new()
    } else if patient || prompt.trim().is_empty() {
        read_all(io::stdin())?
    } else {
        read_unless_silent()?
    };
    let parts: Vec<&str> =
        [prompt.as_str(), piped.trim_end()].into_iter().filter(|p| !p.trim().is_empty()).collect();
    Ok((!parts.is_empty()).then(|| parts.join("\n\n")))
}

/// Standard input to its end, or nothing if its first byte does not come in time.
fn read_unless_silent() -> io::Result<String> {
    let (sender, receiver) = mpsc::channel();
    let (begun, began) = mpsc::channel();
    std::thread::spawn(move || {
        let mut first = [0];
        let result = match io::stdin().read(&mut first) {
            Ok(0) => Ok(String::new()),
            Ok(_) => {
                let _ = begun.send(());
                read_all(first.chain(io::stdin()))
            }
            Err(error) => Err(error),
        };
        let _ = sender.send(result);
    });
    let ended = || receiver.recv().unwrap_or_else(|_| Ok(String::new()));
    match began.recv_timeout(FIRST_BYTE) {
        Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => ended(),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            let note = "note: standard input is open but silent; going on without it (`-` as the message waits for it)";
            let _ = writeln!(io::stderr(), "{note}");
            Ok(String::new())
        }
    }
}

fn read_all(source: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    source.take(LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LIMIT {
        return Err(io::Error::other(
            "standard input is longer than 10 MiB; save it to a file and name the file",
        ));
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

/// Whether standard input is a character device that is no terminal, `/dev/null` above all.
#[cfg(unix)]
fn is_null() -> bool {
    use rustix::fs::{FileType, fstat};
    fstat(io::stdin())
        .is_ok_and(|s| FileType::from_raw_mode(s.st_mode) == FileType::CharacterDevice)
}

#[cfg(not(unix))]
fn is_null() -> bool {
    false
}
