"""scikit-learn's own tests, run on our classes.

``plugin`` swaps the import: before a test module of scikit-learn's is loaded, the public names of
classes that we have too (``sklearn.linear_model.Ridge``) become ours; nothing private changes.
``rules`` says which tests are about the public interface of such a class, ``exclusions.toml`` which
of those are not held, and why. ``python -m tests.peers`` runs them and says what passed.
"""

import importlib
import os
from functools import cache
from pathlib import Path
from typing import Any

import sklearn
from sklearn.utils import all_estimators

from tests.registry import estimators

ROOT = Path(sklearn.__file__).parent
HOUSE = Path(__file__).parents[2]


def search_path() -> str:
    """Return the search path of a child: this house first."""
    return os.pathsep.join([str(HOUSE), str(HOUSE / "src"), os.environ.get("PYTHONPATH", "")])


@cache
def shared() -> dict[str, tuple[str, Any]]:
    """Return the public package of scikit-learn's that has a class, and ours, by its name."""
    theirs = dict(all_estimators())  # imports all of scikit-learn, whose modules keep their own
    ours = {type(model).__name__: type(model) for model in estimators()}
    return {name: (public_package(theirs[name]), ours[name]) for name in ours if name in theirs}


def public_package(value: Any) -> str:
    """Return the part of a module's name before its first private one."""
    parts = value.__module__.split(".")
    private = [place for place, part in enumerate(parts) if part.startswith("_")]
    return ".".join(parts[: private[0]] if private else parts)


def swap() -> None:
    """Let the public names of scikit-learn's be our classes."""
    for name, (package, ours) in shared().items():
        setattr(importlib.import_module(package), name, ours)


@cache
def files() -> dict[str, list[Path]]:
    """Return the test files of each public package that has a shared class and name one."""
    tests: dict[str, list[Path]] = {}
    for package in sorted({package for package, _ in shared().values()}):
        name = package.removeprefix("sklearn.")
        folder = ROOT / name
        paths = sorted(folder.rglob("test_*.py")) or [ROOT / "tests" / f"test_{name}.py"]
        tests[name] = [path for path in paths if any(c in path.read_text() for c in shared())]
    return tests
