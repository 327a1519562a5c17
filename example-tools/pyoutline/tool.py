"""Classes and functions of a Python file, read by Python's own parser: a tool in Python.

componentize-py packs CPython (18 MB) with this file and the modules that it imports here at the top; what is imported
later, by a function or by the standard library itself, is not there when the tool runs.
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
                text = file.read()
            tree = ast.parse(text, path)
        except (OSError, SyntaxError, ValueError) as error:
            raise Err(str(error))
        return "\n".join(outline(tree, text.splitlines())) or "no classes or functions"


def outline(node: ast.AST, lines: list[str]):
    """Each definition's number and first line, in order; what is nested keeps its indentation."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{child.lineno:5}  {lines[child.lineno - 1].rstrip().removesuffix(':')}"
        yield from outline(child, lines)
