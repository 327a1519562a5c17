// console.log and its kin show progress under the running call; warnings and errors go to stderr.
(native) => {
  const show = (value, depth, seen) => {
    if (typeof value === "string") return depth ? JSON.stringify(value) : value;
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "function") return `[function ${value.name || "anonymous"}]`;
    if (typeof value !== "object" || value === null) return String(value);
    if (value instanceof Error) return [String(value), ...(value.stack || "").trimEnd().split("\n")].filter(Boolean).join("\n");
    if (value instanceof Date || value instanceof RegExp) return value instanceof Date && isNaN(value) ? "Invalid Date" : value.toJSON?.() ?? String(value);
    if (seen.includes(value)) return "[circular]";
    if (depth > 4) return "…";
    const inner = (v) => show(v, depth + 1, [...seen, value]);
    if (Array.isArray(value) || ArrayBuffer.isView(value)) return `[${Array.from(value, inner).join(", ")}]`;
    if (value instanceof Map) return `Map {${[...value].map(([k, v]) => `${inner(k)} => ${inner(v)}`).join(", ")}}`;
    if (value instanceof Set) return `Set {${[...value].map(inner).join(", ")}}`;
    return `{${Object.entries(value).map(([k, v]) => `${k}: ${inner(v)}`).join(", ")}}`;
  };
  const line = (values) => values.map((v) => show(v, 0, [])).join(" ");
  const out = (...values) => native.progress(line(values));
  const err = (...values) => native.stderr(line(values));
  return {
    log: out, info: out, debug: out, dir: (value) => out(value), table: (value) => out(value),
    error: err, warn: err, trace: err,
    assert: (holds, ...values) => holds || err("assertion failed:", ...values),
  };
}
