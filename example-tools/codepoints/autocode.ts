// What a tool in AssemblyScript needs: the two exports of the tool contract's canonical ABI, and strings out of JSON.
// Memory is never freed: each call runs in an instance of its own.

/** Memory for what autocode passes in. */
export function cabi_realloc(old: usize, oldSize: usize, align: usize, size: usize): usize {
  if (size == 0) return align;
  const fresh = heap.alloc(size);
  memory.copy(fresh, old, min(oldSize, size));
  return fresh;
}

/** A text that autocode passed in. */
export function received(ptr: usize, length: usize): string {
  return String.UTF8.decodeUnsafe(ptr, length);
}

/** Writes the address and length of a text at `out`. */
function storeText(out: usize, text: string): void {
  const bytes = String.UTF8.encode(text);
  i32.store(out, <i32>changetype<usize>(bytes));
  i32.store(out, bytes.byteLength, 4);
}

/** What `schema` returns. */
export function described(json: string): usize {
  const out = heap.alloc(8);
  storeText(out, json);
  return out;
}

/** What `run` returns: the answer, or why there is none. */
export function answer(text: string, failed: bool = false): usize {
  const out = heap.alloc(12);
  i32.store8(out, failed ? 1 : 0);
  storeText(out + 4, text);
  return out;
}

/** A string among the arguments, or `otherwise`. autocode checks the arguments against the schema first. */
export function jsonString(object: string, key: string, otherwise: string = ""): string {
  let depth = 0;
  let i = 0;
  while (i < object.length) {
    const c = object.charCodeAt(i);
    if (c != 34) { // "
      if (c == 123 || c == 91) depth++; // { [
      if (c == 125 || c == 93) depth--; // } ]
      i++;
      continue;
    }
    const end = stringEnd(object, i);
    const name = unescape(object.substring(i + 1, end));
    i = skipSpace(object, end + 1);
    if (depth != 1 || name != key || object.charCodeAt(i) != 58) continue; // :
    i = skipSpace(object, i + 1);
    return object.charCodeAt(i) == 34 ? unescape(object.substring(i + 1, stringEnd(object, i))) : otherwise;
  }
  return otherwise;
}

function skipSpace(text: string, at: i32): i32 {
  while (at < text.length && text.charCodeAt(at) <= 32) at++;
  return at;
}

/** Where the string that opens at `at` closes. */
function stringEnd(text: string, at: i32): i32 {
  for (at++; at < text.length && text.charCodeAt(at) != 34; at++) if (text.charCodeAt(at) == 92) at++; // \
  return at;
}

function unescape(text: string): string {
  if (!text.includes("\\")) return text;
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i);
    if (c != "\\") {
      out += c;
      continue;
    }
    const escaped = text.charAt(++i);
    if (escaped == "u") {
      out += String.fromCharCode(<i32>parseInt(text.substr(i + 1, 4), 16));
      i += 4;
    } else {
      const at = "bfnrt".indexOf(escaped);
      out += at < 0 ? escaped : "\b\f\n\r\t".charAt(at);
    }
  }
  return out;
}
