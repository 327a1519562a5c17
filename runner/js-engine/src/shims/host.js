// host: what the runner does for a tool. bash, complete, agent and call need a grant and throw without it.
(native) => ({
  progress: (line) => native.progress(line),
  bash: (command, { timeout } = {}) => native.bash(command, timeout),
  complete: (prompt) => native.complete(prompt),
  agent: (task) => native.agent(task),
  call: (tool, args = {}) => native.call(tool, typeof args === "string" ? args : JSON.stringify(args)),
  // Kept with the session and shared between its tools; values are kept as JSON.
  state: {
    get: (key) => {
      const text = native.stateGet(key);
      if (text === undefined) return undefined;
      try {
        return JSON.parse(text);
      } catch {
        return text;
      }
    },
    set: (key, value) => native.stateSet(key, JSON.stringify(value) ?? "null"),
  },
})
