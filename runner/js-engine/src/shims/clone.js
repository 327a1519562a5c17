// structuredClone for data: plain objects, arrays, dates, maps, sets, errors and buffers, with cycles kept.
() => {
  const copy = (value, seen) => {
    if (typeof value === "function" || typeof value === "symbol") throw new TypeError(`${String(value)} could not be cloned`);
    if (typeof value !== "object" || value === null) return value;
    if (seen.has(value)) return seen.get(value);
    const keep = (made) => (seen.set(value, made), made);
    if (value instanceof Date) return keep(new Date(value));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (ArrayBuffer.isView(value)) {
      const buffer = copy(value.buffer, seen);
      return keep(new value.constructor(buffer, value.byteOffset, value.length ?? value.byteLength));
    }
    if (value instanceof Map) {
      const made = keep(new Map());
      for (const [k, v] of value) made.set(copy(k, seen), copy(v, seen));
      return made;
    }
    if (value instanceof Set) {
      const made = keep(new Set());
      for (const v of value) made.add(copy(v, seen));
      return made;
    }
    if (value instanceof Error) {
      const made = keep(new (globalThis[value.name] ?? Error)(value.message));
      if ("cause" in value) made.cause = copy(value.cause, seen);
      return made;
    }
    const made = keep(Array.isArray(value) ? new Array(value.length) : {});
    for (const key of Object.keys(value)) made[key] = copy(value[key], seen);
    return made;
  };
  return { structuredClone: (value) => copy(value, new Map()) };
}
