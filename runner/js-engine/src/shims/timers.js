// setTimeout and setInterval. Timers run only while the tool awaits a promise; the engine calls `turn` then.
(native) => {
  const timers = new Map();
  let last = 0;
  const set = (call, delay, every, args) => {
    if (typeof call !== "function") throw new TypeError("a timer needs a function to call");
    const wait = Math.max(0, Number(delay) || 0);
    timers.set(++last, { due: Date.now() + wait, every: every ? Math.max(1, wait) : 0, call, args });
    return last;
  };
  const clear = (id) => void timers.delete(id);
  return {
    setTimeout: (call, delay, ...args) => set(call, delay, false, args),
    setInterval: (call, delay, ...args) => set(call, delay, true, args),
    clearTimeout: clear,
    clearInterval: clear,
    turn() {
      let next;
      for (const [id, timer] of timers) if (!next || timer.due < next[1].due) next = [id, timer];
      if (!next) return false;
      const [id, timer] = next;
      native.sleep(timer.due - Date.now());
      if (timer.every) timer.due += timer.every;
      else timers.delete(id);
      timer.call(...timer.args);
      return true;
    },
  };
}
