"""Classes and functions of a Python file, read by Python's own parser: a tool in Python.

componentize-py packs CPython (18 MB) and the standard library with this file.
"""

import ast
import json
import os

import wit_world
from componentize_py_types import Err


class WitWorld(wit_world.WitWorld):
    # Without a "name" the tool is called like its file.
    def schema(self) -> str:
        return json.dumps({
            "description": "List the classes and functions of a Python file with signatures and line numbers.",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string", "description": "The file."}},
                "required": ["path"],
            },
        })

    def run(self, args: str) -> str:
        # Relative paths start where the agent works.
        path = os.path.join(os.environ.get("PWD", "/"), json.loads(args)["path"])
        try:
            with open(path, encoding="utf-8") as file:
                tree = ast.parse(file.read(), path)
        except (OSError, SyntaxError, ValueError) as error:
            raise Err(str(error))
        return "\n".join(outline(tree)) or "no classes or functions"


def outline(node: ast.AST, indent: str = ""):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            bases = ", ".join(map(ast.unparse, child.bases))
            yield f"{child.lineno:5}  {indent}class {child.name}" + (f"({bases})" if bases else "")
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            kind = "async def" if isinstance(child, ast.AsyncFunctionDef) else "def"
            returns = f" -> {ast.unparse(child.returns)}" if child.returns else ""
            yield f"{child.lineno:5}  {indent}{kind} {child.name}({ast.unparse(child.args)}){returns}"
        else:
            continue
        yield from outline(child, indent + "  ")
