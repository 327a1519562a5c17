//! The place where a joined script lies: its length as a little-endian `u32`, then its UTF-8 bytes.
//!
//! The export `script_slot` names the address. It is all zeros in the engine itself, costs no bytes in the file, and
//! sits among the other statics: memory after the last static belongs to the allocator.

/// Room for the length and the script. The runner, which joins, holds the same number.
const SLOT_BYTES: usize = 1 << 20;

/// The slot, filled by a data segment that the compiler doesn't know.
#[unsafe(export_name = "script_slot")]
static mut SLOT: [u8; SLOT_BYTES] = [0; SLOT_BYTES];

/// The joined script.
pub(crate) fn read() -> Result<String, String> {
    let start = (&raw const SLOT).cast::<u8>();
    // SAFETY: inside SLOT. Volatile, since the bytes are not what the source above says.
    let byte = |at: usize| unsafe { start.add(at).read_volatile() };
    let len = u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]) as usize;
    if len == 0 {
        return Err("this is the bare JavaScript engine: no script was joined to it".to_owned());
    }
    if len > SLOT_BYTES - 4 {
        return Err(format!("the joined script claims {len} bytes, more than its slot holds"));
    }
    String::from_utf8((4..4 + len).map(byte).collect())
        .map_err(|_| "the joined script is not UTF-8".to_owned())
}
