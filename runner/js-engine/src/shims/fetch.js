// There is no network in here; say what to do instead.
() => ({
  fetch() {
    throw new Error('a JavaScript tool has no fetch: use host.call("fetch", {url}) with the fetch tool (`autocode tool add fetch`), or host.bash("curl …"); either needs its grant');
  },
})
