// A todo list that lives as long as the session. `host.state` keeps values between calls, also over a restart with
// `autocode -c`; every tool of the project sees the same ones.

export const schema = {
  name: "todo",
  description: "Keep a todo list for longer work. Every call answers with the whole list.",
  parameters: {
    type: "object",
    properties: {
      add: { type: "array", items: { type: "string" }, description: "New entries." },
      done: { type: "array", items: { type: "integer" }, description: "Numbers of entries that are done." },
      remove: { type: "array", items: { type: "integer" }, description: "Numbers of entries to drop." },
    },
  },
};

export function run({ add = [], done = [], remove = [] }) {
  const list = host.state.get("todo") ?? { next: 1, items: [] };
  const find = (id) => {
    const item = list.items.find((item) => item.id === id);
    // What a tool throws reaches the model as an error.
    if (!item) throw new Error(`there is no entry ${id}`);
    return item;
  };
  for (const text of add) list.items.push({ id: list.next++, text, done: false });
  for (const id of done) find(id).done = true;
  for (const id of remove) list.items.splice(list.items.indexOf(find(id)), 1);
  host.state.set("todo", list);

  const open = list.items.filter((item) => !item.done).length;
  const lines = list.items.map(({ id, text, done }) => `[${done ? "x" : " "}] ${id} ${text}`);
  return [...lines, `${open} open, ${list.items.length - open} done`].join("\n");
}
