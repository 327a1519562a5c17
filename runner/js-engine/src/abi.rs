//! The component model's canonical ABI, by hand: how strings and results cross between the host and the engine.
//!
//! Whatever is passed belongs to the receiver. The host allocates what it passes through `cabi_realloc`, and frees what
//! it was given through `cabi_post_*`.

use std::alloc::{self, Layout};

/// A string as an export returns it.
#[repr(C)]
pub(crate) struct Text {
    ptr: *mut u8,
    len: usize,
}

/// `result<string, string>` and `result<_, string>` as an export returns them or an import fills them in.
#[repr(C)]
pub(crate) struct Answer {
    failed: u8,
    text: Text,
}

/// The one allocator the host uses.
///
/// # Safety
/// `old` came from here with `old_size` and `align`, or is null.
#[unsafe(export_name = "cabi_realloc")]
unsafe extern "C" fn realloc(
    old: *mut u8,
    old_size: usize,
    align: usize,
    new_size: usize,
) -> *mut u8 {
    if new_size == 0 {
        return std::ptr::without_provenance_mut(align);
    }
    // SAFETY: `align` is a power of two by the canonical ABI; `old` is as the caller promises.
    let new = unsafe {
        if old_size == 0 {
            alloc::alloc(Layout::from_size_align_unchecked(new_size, align))
        } else {
            alloc::realloc(old, Layout::from_size_align_unchecked(old_size, align), new_size)
        }
    };
    if new.is_null() {
        eprintln!("out of memory: {new_size} bytes for a value from the host");
        trap();
    }
    new
}

/// Ends the instance. What was written to stderr before says why.
pub(crate) fn trap() -> ! {
    core::arch::wasm32::unreachable()
}

/// Takes over a string that the host passed.
///
/// # Safety
/// `ptr` and `len` came through `cabi_realloc` and are given up by the caller.
pub(crate) unsafe fn take(ptr: *mut u8, len: usize) -> String {
    if len == 0 {
        return String::new();
    }
    // SAFETY: as the caller promises; alignment 1 is a string's.
    let bytes = unsafe { Vec::from_raw_parts(ptr, len, len) };
    // The canonical ABI guarantees UTF-8; a host that breaks it gets replacement characters.
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

fn give(text: String) -> Text {
    let bytes = text.into_bytes().into_boxed_slice();
    let len = bytes.len();
    Text { ptr: Box::into_raw(bytes).cast(), len }
}

/// # Safety
/// `text` came from [`give`].
unsafe fn drop_text(text: Text) {
    // SAFETY: the box that `give` let go of.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(text.ptr, text.len)) });
}

/// A returned string; the host calls [`free_text`] when it has read it.
pub(crate) fn text(text: String) -> *const Text {
    Box::into_raw(Box::new(give(text)))
}

/// A returned result; the host calls [`free_answer`] when it has read it.
pub(crate) fn answer(result: Result<String, String>) -> *const Answer {
    let failed = u8::from(result.is_err());
    let (Ok(text) | Err(text)) = result;
    Box::into_raw(Box::new(Answer { failed, text: give(text) }))
}

/// # Safety
/// `text` came from [`text`].
pub(crate) unsafe fn free_text(text: *mut Text) {
    // SAFETY: as the caller promises.
    unsafe { drop_text(*Box::from_raw(text)) }
}

/// # Safety
/// `answer` came from [`answer`].
pub(crate) unsafe fn free_answer(answer: *mut Answer) {
    // SAFETY: as the caller promises.
    unsafe { drop_text(Box::from_raw(answer).text) }
}

impl Answer {
    /// A place for an import to write its result to.
    pub(crate) const fn blank() -> Self {
        Self { failed: 0, text: Text { ptr: std::ptr::null_mut(), len: 0 } }
    }

    /// What the import wrote, read as a `result`.
    ///
    /// # Safety
    /// A host import filled this in.
    pub(crate) unsafe fn result(self) -> Result<String, String> {
        // SAFETY: the host allocated the string through `cabi_realloc`.
        let text = unsafe { take(self.text.ptr, self.text.len) };
        if self.failed == 0 { Ok(text) } else { Err(text) }
    }

    /// What the import wrote, read as an `option<string>`, which lies in memory the same way with 1 for a value.
    ///
    /// # Safety
    /// A host import filled this in.
    pub(crate) unsafe fn option(self) -> Option<String> {
        // SAFETY: as above; without a value there is no string.
        (self.failed == 1).then(|| unsafe { take(self.text.ptr, self.text.len) })
    }
}
