//! A module's bytes from whatever stands in the tools directory under its name.

use std::fs::{File, FileType};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use super::broken::{Broken, Phase};

/// Largest module, in bytes.
pub(crate) const MAX_MODULE: u64 = 64 << 20;

/// The file's bytes, if it is a file of a sensible size. Never waits for anyone to write into it.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Broken> {
    let fail = |error: io::Error| Broken::new(Phase::Read, explain(&error));
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(nonblock).open(path).map_err(fail)?;
    let meta = file.metadata().map_err(fail)?;
    if !meta.is_file() {
        return Err(Broken::new(
            Phase::Read,
            format!("it is {}, not a file", kind(meta.file_type())),
        ));
    }
    let too_large = |size: u64| {
        let cause = format!("it has {} MiB; a tool has at most {}", size >> 20, MAX_MODULE >> 20);
        Err(Broken::new(Phase::Read, cause).hint("strip debug information and optimise for size"))
    };
    if meta.len() > MAX_MODULE {
        return too_large(meta.len());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0));
    file.take(MAX_MODULE + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > MAX_MODULE { too_large(bytes.len() as u64) } else { Ok(bytes) }
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "the link leads to nothing, or the file is gone".into(),
        io::ErrorKind::PermissionDenied => "no permission to read it".into(),
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            "its links form a loop".into()
        }
        _ => error.to_string(),
    }
}

fn kind(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}
