// What a text is made of, code point by code point: invisible and look-alike characters show. In AssemblyScript.

import { answer, described, jsonString, received } from "./autocode";
export { cabi_realloc } from "./autocode";

// Without a "name" the tool is called like its file.
export function schema(): usize {
  return described(`{
    "description": "List the code points of a text; shows invisible and look-alike characters.",
    "parameters": {
      "type": "object",
      "properties": { "text": { "type": "string", "description": "The text, short." } },
      "required": ["text"]
    }
  }`);
}

export function run(args: usize, length: usize): usize {
  const text = jsonString(received(args, length), "text");
  if (text.length > 2000) return answer(`the text has ${text.length} characters; at most 2000 are listed`, true);
  let lines = "";
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i);
    if (code > 0xffff) i++;
    lines += `U+${code.toString(16).toUpperCase().padStart(4, "0")} ${shown(code)}\n`;
  }
  return answer(lines.length > 0 ? lines.trimEnd() : "the text is empty");
}

/** The character itself, or in words what would not be seen. */
function shown(code: i32): string {
  if (code == 0x0a) return "line feed";
  if (code == 0x09) return "tab";
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return "control character";
  if (code == 0x20) return "space";
  if (code == 0xa0 || code == 0x202f) return "no-break space";
  if (code == 0x200d) return "zero width joiner";
  if (code == 0x200b || code == 0x200c || code == 0x2060) return "zero width";
  if (code == 0xfeff) return "byte order mark";
  if (code == 0xad) return "soft hyphen";
  if (code >= 0xfe00 && code <= 0xfe0f) return "variation selector";
  if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) return "changes the direction of text";
  if (code >= 0x2000 && code <= 0x200a) return "space of another width";
  if (code >= 0xd800 && code <= 0xdfff) return "half of a pair";
  if (code >= 0x300 && code <= 0x36f) return "combining mark";
  return String.fromCodePoint(code);
}
