//! Strings out of JavaScript. They may hold lone surrogates, which no Rust string can; those become U+FFFD.

use rquickjs::{Ctx, Error, FromJs, Result, TypedArray, Value, qjs};

/// Any value as JavaScript's `String(value)` would show it.
pub(crate) struct Text(pub(crate) String);

impl<'js> FromJs<'js> for Text {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        let mut len = 0;
        // SAFETY: the value lives as long as this call; the C string is freed below.
        let ptr =
            unsafe { qjs::JS_ToCStringLen(ctx.as_raw().as_ptr(), &raw mut len, value.as_raw()) };
        if ptr.is_null() {
            return Err(Error::Exception);
        }
        // SAFETY: QuickJS gave this pointer with this length.
        let bytes = unsafe { std::slice::from_raw_parts(ptr.cast::<u8>(), len) };
        let text = String::from_utf8_lossy(bytes).into_owned();
        // SAFETY: it came from JS_ToCStringLen and is not used after this.
        unsafe { qjs::JS_FreeCString(ctx.as_raw().as_ptr(), ptr) };
        Ok(Self(text))
    }
}

/// The bytes of a typed array.
pub(crate) fn bytes(array: &TypedArray<'_, u8>) -> Vec<u8> {
    // SAFETY: the memory is the array's as long as no JavaScript runs, and none runs before it is copied.
    array.as_raw().map_or_else(Vec::new, |raw| unsafe { raw.as_ref() }.to_vec())
}
