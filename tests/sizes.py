"""Print the size table of docs/architecture.md: ``python -m tests.sizes``."""

import ast
import importlib
import inspect
import pathlib
import statistics

import corollary

BRANCHES = (ast.If, ast.For, ast.While, ast.IfExp, ast.ExceptHandler, ast.comprehension, ast.Assert)


def complexity(function: ast.AST) -> int:
    """One, and one more for every branch, loop, handler, case and operand of and, or."""
    total = 1
    for node in ast.walk(function):
        if isinstance(node, BRANCHES):
            total += 1
        elif isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
        elif isinstance(node, ast.match_case):
            total += 1
    return total


def docstring_lines(tree: ast.AST) -> int:
    """Lines of all docstrings of a file."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    owners = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    texts = [node.body[0] for node in owners if ast.get_docstring(node) is not None]
    return sum(text.end_lineno - text.lineno + 1 for text in texts)


def body_lines(function: ast.FunctionDef) -> int:
    """Lines of a function without its docstring."""
    size = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is not None:
        text = function.body[0]
        size -= text.end_lineno - text.lineno + 1
    return size


def exported() -> int:
    """Functions and classes that the doors of families export."""
    names = set()
    for family in corollary._PACKAGES:
        if family != "core":
            for name, value in vars(importlib.import_module(f"corollary.{family}")).items():
                if not name.startswith("_") and (
                    inspect.isfunction(value) or inspect.isclass(value)
                ):
                    names.add((family, name))
    return len(names)


def sizes(source: pathlib.Path) -> dict[str, int]:
    """Measure a source tree."""
    files = sorted(source.rglob("*.py"))
    texts = [path.read_text() for path in files]
    trees = [ast.parse(text) for text in texts]
    functions = [n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    lines = [len(text.splitlines()) for text in texts]
    documented = sum(map(docstring_lines, trees))
    return {
        "files": len(files),
        "lines": sum(lines),
        "lines of docstrings": documented,
        "median lines of a file": int(statistics.median(lines)),
        "lines of the largest file": max(lines),
        "functions over 100 lines": sum(body_lines(f) > 100 for f in functions),
        "functions over 60 lines": sum(body_lines(f) > 60 for f in functions),
        "functions of complexity over 25": sum(complexity(f) > 25 for f in functions),
        "functions of complexity over 15": sum(complexity(f) > 15 for f in functions),
    }


if __name__ == "__main__":
    table = sizes(pathlib.Path(corollary.__file__).parent) | {"exported names": exported()}
    for what, number in table.items():
        print(f"{number:8,}  {what}")
