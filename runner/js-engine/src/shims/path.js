// path: the part of Node's `path` (POSIX) that tools use.
() => {
  const normalize = (path) => {
    const parts = [];
    for (const part of path.split("/")) {
      if (part === "" || part === ".") continue;
      if (part !== "..") parts.push(part);
      else if (parts.length && parts.at(-1) !== "..") parts.pop();
      else if (!path.startsWith("/")) parts.push("..");
    }
    return (path.startsWith("/") ? "/" : "") + parts.join("/") || ".";
  };
  const join = (...parts) => normalize(parts.filter(Boolean).join("/"));
  const resolve = (...parts) => normalize(parts.reduce((at, part) => (part.startsWith("/") ? part : `${at}/${part}`), "."));
  const basename = (path, suffix = "") => {
    const name = path.replace(/\/+$/, "").split("/").at(-1);
    return suffix && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
  };
  const dirname = (path) => {
    const at = path.replace(/\/+$/, "").lastIndexOf("/");
    return at < 0 ? "." : path.slice(0, at).replace(/\/+$/, "") || "/";
  };
  const extname = (path) => /[^./][^/]*?(\.[^./]*)$/.exec(basename(path))?.[1] ?? "";
  const isAbsolute = (path) => path.startsWith("/");
  const relative = (from, to) => {
    const [a, b] = [resolve(from), resolve(to)].map((p) => p.split("/").filter((s) => s && s !== "."));
    let same = 0;
    while (same < a.length && same < b.length && a[same] === b[same]) same++;
    return [...a.slice(same).map(() => ".."), ...b.slice(same)].join("/");
  };
  const parse = (path) => {
    const ext = extname(path), base = basename(path), dir = dirname(path);
    return { root: isAbsolute(path) ? "/" : "", dir: path.includes("/") ? dir : "", base, ext, name: base.slice(0, base.length - ext.length) };
  };
  return { normalize, join, resolve, basename, dirname, extname, isAbsolute, relative, parse, sep: "/", delimiter: ":" };
}
