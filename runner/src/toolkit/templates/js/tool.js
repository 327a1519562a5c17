// A tool in JavaScript. Edit it, then `autocode tool build {{name}}`; the agent can call it from its next step on.
// Try it yourself with:  autocode tool run {{name}} '{"path": ".autocode/src/{{name}}/tool.js"}'

// What the model reads to decide when to call the tool, and what to pass. `parameters` is a JSON Schema.
export const schema = {
  name: "{{name}}",
  description: "Count the lines of a text file.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "The file, relative to the working directory." },
      skipBlank: { type: "boolean", description: "Leave out blank lines." },
    },
    required: ["path"],
  },
};

// Called with the arguments. What it returns goes to the model: a string as it is, anything else as JSON. What it throws
// goes there as an error, with its lines. It may be async.
//
// There without an import:
//   fs.readFile(path)  fs.writeFile(path, text)  fs.appendFile  fs.exists  fs.stat  fs.mkdir  fs.remove  fs.rename
//   fs.list(dir)                                    names, directories end in "/"
//   fs.list(dir, {recursive: true})                 paths of all files below, from dir
//   path.join  path.extname  …   URL   TextDecoder   setTimeout   structuredClone
//   console.log(…)                                  a line of progress under the running call
//   host.state.get(key)  host.state.set(key, value) kept with the session
//   host.bash(command)  host.call(tool, args)  host.complete(prompt)  host.agent(task)
//                                                   with a grant: .autocode/tools/{{name}}.grants.json
export function run({ path, skipBlank = false }) {
  const lines = fs.readFile(path).replace(/\n$/, "").split("\n");
  const counted = skipBlank ? lines.filter((line) => line.trim()) : lines;
  return `${counted.length} lines`;
}
