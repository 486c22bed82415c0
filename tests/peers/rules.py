"""Which of scikit-learn's tests are about the public interface of a class that we have too.

Judged by what a test names: itself, the functions and tables of its module that it uses, its
parameters and its fixtures. No test is judged by hand here.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from types import CodeType, ModuleType
from typing import Any

from tests.peers import public_package, shared

#: Private, but helpers of tests rather than parts of an estimator.
_HELPERS = ("sklearn.utils", "sklearn.externals", "numpy", "scipy", "sklearn.datasets")
_PRIVATE_PATH = re.compile(r"^sklearn(\.\w+)*\._\w")


def reason_to_exclude(item: Any) -> str | None:
    """Say why a test is not about the public interface of a shared class; None if it is."""
    names = _of_test(item.module, item.function).copy()
    for value in getattr(getattr(item, "callspec", None), "params", {}).values():
        names.read(value)
    for definitions in item._fixtureinfo.name2fixturedefs.values():
        if getattr(definitions[-1].func, "__module__", None) == item.module.__name__:
            names.read(definitions[-1].func)
    if names.private:
        return "private"
    return None if names.shared else "another class"


@cache
def _of_test(module: ModuleType, function: Any) -> "_Names":
    """Return what all cases of a test name."""
    names = _Names(module, _imported(module))
    names.read(function)
    return names


class _Names:
    """What a test names, followed through its module."""

    def __init__(self, module: ModuleType, origins: dict[str, str]) -> None:
        self.module, self.origins = module, origins
        self.private: set[str] = set()
        self.shared: set[str] = set()
        self._seen: set[int] = set()

    def copy(self) -> "_Names":
        """Return a copy that can be read into."""
        names = _Names(self.module, self.origins)
        names.private, names.shared = set(self.private), set(self.shared)
        return names

    def read(self, value: Any, depth: int = 0) -> None:
        """Follow a value of the test's module, or of a test's parameter."""
        if id(value) in self._seen or depth > 6:
            return
        self._seen.add(id(value))
        if isinstance(value, dict):
            value = [*value.keys(), *value.values()]
        if isinstance(value, list | tuple | set | frozenset):
            for part in value:
                self.read(part, depth + 1)
        elif inspect.isclass(value):
            self._read_class(value, depth)
        elif code := getattr(inspect.unwrap(value) if callable(value) else value, "__code__", None):
            if getattr(value, "__module__", None) == self.module.__name__:
                self._read_code(code, depth)
            elif _is_private(value):
                self.private.add(value.__name__)
        elif hasattr(value, "get_params"):
            self.read(type(value), depth + 1)
            self.read(list(value.get_params(deep=False).values()), depth + 1)
        elif hasattr(value, "func") and hasattr(value, "keywords"):  # partial
            self.read([value.func, *value.args, *value.keywords.values()], depth + 1)
        elif _is_private(type(value)):  # such as a loss
            self.private.add(type(value).__name__)

    def _read_class(self, value: type, depth: int) -> None:
        """Tell ours, private ones, and those that a test module makes for itself."""
        if shared().get(value.__name__, ("", None))[1] is value:
            self.shared.add(value.__name__)
        elif value.__module__ == self.module.__name__:
            self.read(list(value.__bases__), depth + 1)
            self.read([m for m in vars(value).values() if inspect.isfunction(m)], depth + 1)
        elif _is_private(value):
            self.private.add(value.__name__)

    def _read_code(self, code: CodeType, depth: int) -> None:
        """Follow the names in compiled code, and those of functions inside it."""
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._read_code(constant, depth)
            elif isinstance(constant, str) and _PRIVATE_PATH.match(constant):
                self.private.add(constant)
        for name in code.co_names:
            self._read_name(name, depth)

    def _read_name(self, name: str, depth: int) -> None:
        """Judge one name: a global, an attribute, or a module that a function imports."""
        values = vars(self.module)
        if name in values:
            origin = self.origins.get(name)
            if origin and _PRIVATE_PATH.match(origin + ".") and not _is_helper(origin):
                self.private.add(name)
            elif not inspect.ismodule(values[name]):
                self.read(values[name], depth + 1)
        elif name in shared():
            self.shared.add(name)  # an attribute of a module: svm.SVC
        elif _is_private_name(name):
            self.private.add(name)


def _is_private_name(name: str) -> bool:
    """Say whether an attribute, or a module that is imported in a function, is private."""
    attribute = name.startswith("_") and not name.endswith("_")
    return attribute or bool(_PRIVATE_PATH.match(name) and not _is_helper(name))


@cache
def _imported(module: ModuleType) -> dict[str, str]:
    """Return the module that each global of a test module was imported from."""
    return dict(_imports(ast.parse(inspect.getsource(module))))


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                private = "." + alias.name if alias.name.startswith("_") else ""
                yield alias.asname or alias.name, node.module + private


def _is_helper(module: str) -> bool:
    """Say whether a module helps tests."""
    return module.startswith(_HELPERS)


def _is_private(value: Any) -> bool:
    """Say whether a function or class of scikit-learn's cannot be imported from a public place."""
    module = getattr(value, "__module__", None) or ""
    if not module.startswith("sklearn") or _is_helper(module) or ".tests." in module:
        return False
    package = inspect.importlib.import_module(public_package(value))  # type: ignore[attr-defined]
    return not hasattr(package, value.__name__) and value.__name__ not in shared()
