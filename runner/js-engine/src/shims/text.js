// TextEncoder and TextDecoder, UTF-8 alone.
(native) => {
  class TextEncoder {
    get encoding() { return "utf-8"; }
    encode(text = "") { return native.encode(String(text)); }
    encodeInto(text, into) {
      let read = 0, written = 0;
      for (const char of text) {
        const bytes = native.encode(char);
        if (written + bytes.length > into.length) break;
        into.set(bytes, written);
        written += bytes.length;
        read += char.length;
      }
      return { read, written };
    }
  }
  class TextDecoder {
    #held = new Uint8Array();
    constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
      if (!/^\s*(utf-?8|unicode-1-1-utf-8)\s*$/i.test(label)) throw new RangeError(`TextDecoder knows utf-8 only, not ${label}`);
      Object.assign(this, { encoding: "utf-8", fatal, ignoreBOM });
    }
    decode(data = new Uint8Array(), { stream = false } = {}) {
      const view = data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      let bytes = new Uint8Array(this.#held.length + view.length);
      bytes.set(this.#held);
      bytes.set(view, this.#held.length);
      let end = bytes.length;
      if (stream) {
        // A character that isn't whole yet waits for the next piece.
        let start = end;
        while (start > 0 && end - start < 3 && (bytes[start - 1] & 0xc0) === 0x80) start--;
        const lead = bytes[start - 1] ?? 0;
        const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
        if (size > end - start + 1) end = start - 1;
      }
      this.#held = bytes.slice(end);
      const text = native.decode(bytes.subarray(0, end), this.fatal);
      if (text === undefined || text === null) throw new TypeError("the data is not UTF-8");
      return !this.ignoreBOM && text.startsWith("\ufeff") ? text.slice(1) : text;
    }
  }
  return { TextEncoder, TextDecoder };
}
