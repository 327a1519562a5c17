// What a source file declares, with line numbers: cheaper to read than the file. One pattern a language, no parser.

const NAME = "[\\p{L}_$][\\p{L}\\p{N}_$]*";
const patterns = {
  js: `^\\s*(export\\s+)?(default\\s+)?(async\\s+)?(function\\*?|class|interface|enum|namespace|type)\\s+${NAME}|^\\s*(export\\s+)?(const|let)\\s+${NAME}\\s*=\\s*(async\\s*)?(\\(|function|${NAME}\\s*=>)`,
  py: `^\\s*(async\\s+)?(def|class)\\s+${NAME}`,
  rs: `^\\s*(pub(\\([^)]*\\))?\\s+)?((default|const|async|unsafe|extern\\s+"[^"]*")\\s+)*(fn|struct|enum|union|trait|impl|mod|type|macro_rules!)\\b`,
  go: `^(func|type)\\s`,
  c: `^(?!\\s|#|//|/\\*|\\}|return\\b|else\\b)[^=;]*\\([^;]*$|^(typedef\\s+)?(struct|enum|union|class|namespace)\\s+${NAME}[^;]*$|^#define\\s+${NAME}\\(`,
  java: `^\\s*((public|private|protected|internal|static|final|abstract|override|open|data|sealed|suspend|async|virtual|readonly|partial)\\s+)*(class|interface|enum|record|object|fun|struct|namespace)\\s+${NAME}|^\\s+((public|private|protected|internal|static|final|abstract|override|virtual|async)\\s+)+[^=;]*\\([^;]*$`,
  rb: "^\\s*(def|class|module)\\s",
  php: "^\\s*((public|private|protected|static|final|abstract)\\s+)*(function|class|interface|trait|enum)\\s",
  sh: `^\\s*(function\\s+)?[\\w:.-]+\\s*\\(\\)|^\\s*function\\s+[\\w:.-]+`,
  md: "^#{1,6}\\s",
};
const alike = {
  js: ["mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"], py: ["pyi"], c: ["h", "cc", "cpp", "cxx", "hh", "hpp", "m"],
  java: ["kt", "kts", "cs", "scala", "swift"], sh: ["bash", "zsh"], md: ["markdown"],
};

export const schema = {
  name: "outline",
  description: "List what source files declare (functions, types, headings) with line numbers.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "A file, or a directory for all files in it." },
      match: { type: "string", description: "Only declarations that contain this text." },
    },
    required: ["path"],
  },
};

export function run({ path: where, match = "" }) {
  const inside = () => fs.list(where, { recursive: true }).map((file) => path.join(where, file));
  const files = fs.stat(where).isDirectory() ? inside() : [where];
  const parts = [];
  for (const file of files) {
    const lines = declarations(file).filter(([, text]) => text.includes(match));
    if (lines.length) parts.push([file, ...lines.map(([at, text]) => `${String(at).padStart(5)}  ${text}`)].join("\n"));
  }
  return parts.join("\n") || `no declarations${match && ` with "${match}"`} in ${where}`;
}

function declarations(file) {
  const extension = path.extname(file).slice(1).toLowerCase();
  const language = Object.keys(patterns).find((name) => name === extension || alike[name]?.includes(extension));
  if (!language) return [];
  const pattern = new RegExp(patterns[language], "u");
  let fenced = false;
  return fs.readFile(file).split("\n").flatMap((line, i) => {
    if (language === "md" && /^\s*(```|~~~)/.test(line)) fenced = !fenced;
    return !fenced && pattern.test(line) ? [[i + 1, line.trimEnd().replace(/\s*\{$/, "").slice(0, 160)]] : [];
  });
}
