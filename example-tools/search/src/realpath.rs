//! `realpath`, which `ignore` refers to and some builds of wasi-libc leave out. Every path in this tool is absolute and
//! without `..` already (`autocode_tool::path`), and the sandbox resolves links itself: the path is its own answer.

use std::ffi::c_char;

unsafe extern "C" {
    fn strdup(text: *const c_char) -> *mut c_char;
}

/// A copy of `path` that the caller frees; nothing for a caller who brings a buffer, since none does.
///
/// # Safety
/// As for libc's: `path` is a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn realpath(path: *const c_char, buffer: *mut c_char) -> *mut c_char {
    // SAFETY: as the caller promises.
    if buffer.is_null() { unsafe { strdup(path) } } else { std::ptr::null_mut() }
}
