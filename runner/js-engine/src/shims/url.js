// URL and URLSearchParams: parsing, resolving and editing of the usual schemes. No punycode.
() => {
  const PORTS = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21" };
  const special = (protocol) => protocol in PORTS || protocol === "file:";
  const escape = (text, keep) =>
    text.replace(keep, (char) => (char === "%" ? char : encodeURIComponent(char.isWellFormed() ? char : "\ufffd").replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)));
  const PATH = /[^\w\-.~!$&'()*+,;=:@/%[\]|^\\]/gu, QUERY = /[^\w\-.~!$&()*+,;=:@/%?[\]{}|^\\`]/gu, USER = /[^\w\-.~!$&'()*+,%]/gu;

  const dots = (path) => {
    const parts = [], all = path.split("/").slice(1);
    all.forEach((part, i) => {
      const plain = part.replace(/%2e/gi, ".");
      if (plain === ".." || plain === ".") {
        if (plain === "..") parts.pop();
        if (i === all.length - 1) parts.push("");
      } else parts.push(part);
    });
    return `/${parts.join("/")}`;
  };
  const host = (text) => {
    const [, name, port] = /^(\[[0-9a-f:.]+\]|[^:]*)(?::(\d*))?$/i.exec(text) ?? [];
    if (name === undefined || /[\s#/<>?@\\^|%]/.test(name) || Number(port) > 65535) throw 0;
    return [name.toLowerCase(), port ? String(Number(port)) : ""];
  };
  const fragment = (text) => (/^#?$/.test(text) ? "" : `#${escape(text.replace(/^#/, ""), QUERY)}`);
  const split = (text) => {
    const [, before, query = "", hash = ""] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(text);
    return [before, query, hash];
  };
  const parse = (input, base) => {
    const text = input.replace(/^[\0-\x20]+|[\0-\x20]+$|[\t\n\r]/g, "");
    const scheme = /^([a-z][a-z0-9+.-]*:)(.*)$/is.exec(text);
    const protocol = scheme?.[1].toLowerCase();
    const same = base && (!scheme || (protocol === base.protocol && special(protocol) && !/^[/\\]{2}/.test(scheme[2])));
    if (!scheme && !base) throw 0;
    const url = same ? { ...base } : { protocol, username: "", password: "", hostname: "", port: "", pathname: "", search: "", hash: "" };
    let [rest, query, hash] = split(same && scheme ? scheme[2] : scheme ? scheme[2] : text);
    if (special(url.protocol)) rest = rest.replaceAll("\\", "/");
    const authority = /^\/\/([^/]*)(.*)$/s.exec(special(url.protocol) && url.protocol !== "file:" && !same ? rest.replace(/^\/*/, "//") : rest);
    if (authority) {
      const at = authority[1].lastIndexOf("@");
      const [user, ...secret] = at < 0 ? [""] : authority[1].slice(0, at).split(":");
      url.username = escape(user, USER);
      url.password = escape(secret.join(":"), USER);
      [url.hostname, url.port] = host(authority[1].slice(at + 1));
      if (!url.hostname && special(url.protocol) && url.protocol !== "file:") throw 0;
      if (url.port === PORTS[url.protocol]) url.port = "";
      url.pathname = dots(authority[2] || (special(url.protocol) ? "/" : ""));
      if (!authority[2] && !special(url.protocol)) url.pathname = "";
    } else if (rest.startsWith("/")) {
      url.pathname = dots(rest);
    } else if (same && !base.pathname.startsWith("/")) {
      throw 0;
    } else if (same && rest) {
      url.pathname = dots(base.pathname.replace(/[^/]*$/, "") + rest);
    } else if (!same) {
      url.pathname = url.protocol === "file:" ? dots(`/${rest}`) : rest;
    }
    url.pathname = escape(url.pathname, PATH);
    if (!same || rest || query || authority) url.search = query.length > 1 ? escape(query, QUERY) : "";
    url.hash = fragment(hash);
    return url;
  };

  const form = (text) => encodeURIComponent(String(text).toWellFormed()).replace(/%20/g, "+").replace(/[!'()~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const unform = (text) => {
    const plain = text.replaceAll("+", " ");
    try {
      return decodeURIComponent(plain);
    } catch {
      return plain;
    }
  };
  class URLSearchParams {
    #pairs = [];
    #changed;
    constructor(from = "", changed = () => {}) {
      this.#changed = changed;
      if (typeof from === "string") {
        for (const part of from.replace(/^\?/, "").split("&").filter(Boolean)) {
          const at = part.indexOf("=");
          this.#pairs.push(at < 0 ? [unform(part), ""] : [unform(part.slice(0, at)), unform(part.slice(at + 1))]);
        }
      } else {
        const pairs = typeof from[Symbol.iterator] === "function" ? from : Object.entries(from);
        for (const [name, value] of pairs) this.#pairs.push([String(name), String(value)]);
      }
    }
    #edit(pairs) { this.#pairs = pairs; this.#changed(this.toString()); }
    append(name, value) { this.#edit([...this.#pairs, [String(name), String(value)]]); }
    delete(name, value) { this.#edit(this.#pairs.filter(([n, v]) => n !== name || (value !== undefined && v !== value))); }
    get(name) { return this.#pairs.find(([n]) => n === name)?.[1] ?? null; }
    getAll(name) { return this.#pairs.filter(([n]) => n === name).map(([, v]) => v); }
    has(name, value) { return this.#pairs.some(([n, v]) => n === name && (value === undefined || v === value)); }
    set(name, value) {
      const at = this.#pairs.findIndex(([n]) => n === name);
      const others = this.#pairs.filter(([n], i) => n !== name || i === at);
      this.#edit(at < 0 ? [...others, [String(name), String(value)]] : others.map((p) => (p[0] === name ? [name, String(value)] : p)));
    }
    sort() { this.#edit(this.#pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))); }
    forEach(call) { for (const [name, value] of this) call(value, name, this); }
    *entries() { yield* this.#pairs.map(([n, v]) => [n, v]); }
    *keys() { yield* this.#pairs.map(([n]) => n); }
    *values() { yield* this.#pairs.map(([, v]) => v); }
    get size() { return this.#pairs.length; }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return this.#pairs.map(([n, v]) => `${form(n)}=${form(v)}`).join("&"); }
  }

  class URL {
    #parts;
    #params;
    constructor(input, base) {
      try {
        this.#parts = parse(String(input), base === undefined ? undefined : parse(String(base)));
      } catch {
        throw Object.assign(new TypeError(`Invalid URL: ${input}`), { code: "ERR_INVALID_URL" });
      }
    }
    static canParse(input, base) { return URL.parse(input, base) !== null; }
    static parse(input, base) {
      try {
        return new URL(input, base);
      } catch {
        return null;
      }
    }
    get protocol() { return this.#parts.protocol; }
    set protocol(value) { this.#parts.protocol = String(value).replace(/:?$/, ":"); }
    get username() { return this.#parts.username; }
    set username(value) { this.#parts.username = escape(String(value), USER); }
    get password() { return this.#parts.password; }
    set password(value) { this.#parts.password = escape(String(value), USER); }
    get hostname() { return this.#parts.hostname; }
    set hostname(value) { this.#parts.hostname = String(value).toLowerCase(); }
    get port() { return this.#parts.port; }
    set port(value) { this.#parts.port = String(value) === PORTS[this.protocol] ? "" : String(value); }
    get host() { return this.hostname + (this.port && `:${this.port}`); }
    set host(value) { [this.hostname, this.port] = host(String(value)); }
    get origin() { return this.protocol in PORTS ? `${this.protocol}//${this.host}` : "null"; }
    get pathname() { return this.#parts.pathname; }
    set pathname(value) { this.#parts.pathname = escape(dots(String(value).replace(/^\/?/, "/")), PATH); }
    get search() { return this.#parts.search; }
    set search(value) { this.#query(String(value)); this.#params = undefined; }
    get hash() { return this.#parts.hash; }
    set hash(value) { this.#parts.hash = fragment(String(value)); }
    #query(text) { this.#parts.search = text && text !== "?" ? escape(text.replace(/^\??/, "?"), QUERY) : ""; }
    get searchParams() { return (this.#params ??= new URLSearchParams(this.search, (text) => this.#query(text))); }
    get href() {
      const { protocol, username, password, hostname, pathname, search, hash } = this.#parts;
      const login = username || password ? `${username}${password && `:${password}`}@` : "";
      const slashes = hostname || special(protocol) ? "//" : "";
      return `${protocol}${slashes}${login}${this.host}${pathname}${search}${hash}`;
    }
    set href(value) { this.#parts = parse(String(value)); this.#params = undefined; }
    toString() { return this.href; }
    toJSON() { return this.href; }
  }
  return { URL, URLSearchParams };
}
