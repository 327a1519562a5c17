// fs: readFile, writeFile, appendFile, list, exists, stat, mkdir, remove, rename. All are synchronous; Node's names
// (readFileSync, readdirSync, …) and `fs.promises` stand beside them for habit's sake.
(native) => {
  const SKIP = [".git", "node_modules", "target"];
  const bytes = (data) =>
    data instanceof ArrayBuffer ? new Uint8Array(data)
      : ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
        : data;
  const join = (dir, name) => (dir === "" || dir === "." ? name : dir.endsWith("/") ? dir + name : `${dir}/${name}`);
  const stats = ([type, size, mtimeMs]) => ({
    type, size, mtimeMs, mtime: new Date(mtimeMs),
    isFile: () => type === "file", isDirectory: () => type === "dir", isSymbolicLink: () => type === "link",
  });
  const missing = (path) =>
    Object.assign(new Error(`ENOENT: cannot stat '${path}': no such file or directory`), { code: "ENOENT" });
  const encoding = (options) => (typeof options === "object" && options !== null ? options.encoding : options);

  // Text; with encoding null or "buffer", a Uint8Array.
  const readFile = (path, options) => {
    const wanted = encoding(options);
    return wanted === null || wanted === "buffer" ? native.readBytes(path) : native.readText(path);
  };
  const writeFile = (path, data) => native.write(path, bytes(data), false);
  const appendFile = (path, data) => native.write(path, bytes(data), true);
  const exists = (path) => {
    try {
      return native.stat(path) !== null;
    } catch {
      return false;
    }
  };
  const stat = (path) => {
    const found = native.stat(path);
    if (found === null) throw missing(path);
    return stats(found);
  };
  // Names in a directory, sorted; directories end in "/". With {recursive: true} the paths of all files below it, from
  // there, with directories called as in `skip` (.git, node_modules, target) left out.
  const list = (dir = ".", { recursive = false, skip = SKIP } = {}) => {
    if (!recursive) return native.list(dir).map(([name, type]) => (type === "dir" ? `${name}/` : name));
    const files = [];
    const walk = (below) => {
      for (const [name, type] of native.list(below ? join(dir, below) : dir)) {
        if (type !== "dir") files.push(below + name);
        else if (!skip.includes(name)) walk(`${below}${name}/`);
      }
    };
    walk("");
    return files;
  };
  const mkdir = (path, { recursive = true } = {}) => native.mkdir(path, recursive);
  // A file, or a directory and what is in it; nothing there is no error.
  const remove = (path) => {
    if (native.stat(path) !== null) native.remove(path, true);
  };
  const rename = native.rename;

  const readdir = (dir, options) => {
    if (options?.recursive) return list(dir, { recursive: true, skip: [] });
    const entries = native.list(dir);
    if (!options?.withFileTypes) return entries.map(([name]) => name);
    return entries.map(([name, type]) => ({ name, parentPath: dir, ...stats([type, 0, 0]) }));
  };
  const rm = (path, { recursive = false, force = false } = {}) => {
    if (!force || native.stat(path) !== null) native.remove(path, recursive);
  };
  const unlink = (path) => native.remove(path, false);

  const promises = {};
  const fs = { readFile, writeFile, appendFile, list, exists, stat, mkdir, remove, rename };
  const node = { readFile, writeFile, appendFile, exists, stat, lstat: stat, mkdir, rename, readdir, rm, rmdir: rm, unlink };
  for (const [name, call] of Object.entries({ ...node, list, remove })) {
    promises[name] = async (...args) => call(...args);
    fs[`${name}Sync`] = call;
  }
  promises.mkdir = async (path, { recursive = false } = {}) => native.mkdir(path, recursive);
  fs.mkdirSync = (path, { recursive = false } = {}) => native.mkdir(path, recursive);
  delete fs.listSync;
  delete fs.removeSync;
  return { ...fs, promises };
}
