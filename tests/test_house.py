"""The rules of the house, each checked by a machine."""

import ast
import importlib
import inspect
import pathlib
import re
import subprocess
import sys
import tomllib
from functools import cache

import pytest
from numpydoc.docscrape import NumpyDocString

import corollary
from tests.docstrings import problems
from tests.registry import family_packages, packages, public_objects

ROOT = pathlib.Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "corollary").rglob("*.py"))
PYTHON = SOURCES + sorted((ROOT / "tests").rglob("*.py")) + sorted((ROOT / "bench").rglob("*.py"))


def parsed(path):
    return ast.parse(path.read_text(), str(path))


# -- public interface ------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(public_objects()))
def test_docstring_matches_signature(name):
    obj = public_objects()[name]
    # For contributors, who are the readers of most of core, a sentence will do.
    lenient = ".core." in name
    assert (lenient and is_a_sentence(obj)) or problems(obj) == []
    if inspect.isclass(obj):
        for method, value in vars(obj).items():
            if method.startswith("_") or not inspect.isfunction(value):
                continue
            if getattr(value, "__module__", None) != obj.__module__:
                continue
            # An overriding method may lean on the docstring of the contract it fulfils.
            text = inspect.getdoc(value) or ""
            inherited = any(hasattr(base, method) for base in obj.__mro__[1:])
            if inherited and "Parameters" not in text:
                assert text, f"{name}.{method} has no docstring"
                continue
            assert (lenient and is_a_sentence(value)) or problems(value) == [], f"{name}.{method}"


def is_a_sentence(obj):
    text = inspect.getdoc(obj) or ""
    return bool(text) and not NumpyDocString(text)["Parameters"]


@pytest.mark.parametrize("name", sorted(n for n in public_objects() if ".core." not in n))
def test_family_object_has_an_example(name):
    text = inspect.getdoc(public_objects()[name])
    assert NumpyDocString(text)["Examples"], f"{name} has no Examples section"


@pytest.mark.parametrize("name", family_packages())
def test_package_has_a_prose_docstring(name):
    text = importlib.import_module(name).__doc__ or ""
    assert len(text.split()) >= 20


def test_every_top_level_name_resolves():
    for name in corollary.__all__:
        assert getattr(corollary, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        corollary.nonsense  # noqa: B018


# -- imports ---------------------------------------------------------------------------------


HEAVY = ("numba", "jax", "matplotlib", "dask", "pandas", "scipy.stats", "scipy.optimize")


@cache
def modules_after(statement):
    code = f"{statement}\nimport sys; print(' '.join(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


def test_the_top_package_imports_nothing_heavy():
    loaded = modules_after("import corollary")
    assert not loaded & {*HEAVY, "numpy", "scipy", "sklearn"}


FORKS = """
import os, sys
import sklearn.base, sklearn.utils.validation
# scikit-learn itself loads some engines; what it loads anyway is not ours to avoid.
anyway = set(sys.modules)
for package in sys.argv[1:]:
    if os.fork() == 0:
        __import__(package)
        print(package, *sorted({engines!r} & (set(sys.modules) - anyway)), flush=True)
        os._exit(0)
    os.wait()
"""


def test_families_import_no_engine():
    families = [name for name in family_packages() if name != "corollary.reporting"]
    code = FORKS.replace("{engines!r}", repr({"numba", "jax", "matplotlib", "dask", "pandas"}))
    result = subprocess.run(
        [sys.executable, "-c", code, *families], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines() == families


def test_help_imports_nothing_heavy():
    loaded = modules_after(
        "import sys; sys.argv = ['corollary', '--help']\n"
        "from corollary.cli import main\n"
        "import contextlib, io\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "    main()"
    )
    assert not loaded & {*HEAVY, "numpy", "scipy", "sklearn"}


def test_private_parts_of_others_are_imported_in_one_place():
    private = re.compile(r"^(sklearn|jax|numba|scipy|pandas)(\.\w+)*\._")
    for path in SOURCES:
        if path.name == "compat.py":
            continue
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom) and node.module:
                full = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                full = [alias.name for alias in node.names]
            else:
                continue
            assert not any(private.match(name) for name in full), f"{path}: {full}"


# -- code ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PYTHON, ids=lambda p: str(p.relative_to(ROOT)))
def test_file_is_short_enough_to_read(path):
    assert len(path.read_text().splitlines()) <= 600


def test_numba_is_used_through_our_decorator_only():
    for path in SOURCES:
        if path.name == "jit.py":
            continue
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom) and node.module == "numba":
                assert {a.name for a in node.names} <= {"prange", "literal_unroll"}, path
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                is_jit = node.value.id in ("numba", "nb") and "jit" in node.attr
                assert not is_jit, f"{path}:{node.lineno}"


def test_kernels_are_private_and_in_private_modules():
    for path in SOURCES:
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.FunctionDef):
                continue
            names = {
                d.func.id
                if isinstance(d, ast.Call) and isinstance(d.func, ast.Name)
                else d.id
                if isinstance(d, ast.Name)
                else ""
                for d in node.decorator_list
            }
            if "jit" in names:
                private = path.name.startswith("_") or path.parent.name == "_loops"
                assert private, f"{path}: kernel {node.name} in a public module"


def test_no_global_randomness():
    seeded = {"RandomState", "default_rng", "Generator", "SeedSequence", "PCG64", "Philox"}
    for path in PYTHON:
        for node in ast.walk(parsed(path)):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Attribute)
                and node.value.attr == "random"
                and isinstance(node.value.value, ast.Name)
                and node.value.value.id == "np"
            ):
                assert node.attr in seeded, f"{path}:{node.lineno} uses np.random.{node.attr}"


def test_every_estimator_parameter_has_a_constraint():
    from sklearn.base import BaseEstimator

    for name, obj in public_objects().items():
        if inspect.isclass(obj) and issubclass(obj, BaseEstimator):
            if inspect.isabstract(obj):
                continue
            parameters = set(inspect.signature(obj.__init__).parameters) - {"self"}
            assert parameters <= set(obj._parameter_constraints), name


def test_every_estimator_can_be_saved():
    from sklearn.base import BaseEstimator

    from corollary.core.files import public_name

    for name, obj in public_objects().items():
        if not inspect.isclass(obj) or inspect.isabstract(obj):
            continue
        if issubclass(obj, BaseEstimator):
            assert public_name(obj) is not None, f"{name} declares no _schema"


# -- configuration and ledger ----------------------------------------------------------------


def test_configuration_points_at_what_exists():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for folder in (
        config["tool"]["mypy"]["files"] + config["tool"]["pytest"]["ini_options"]["testpaths"]
    ):
        assert (ROOT / folder).exists(), folder
    layers = " | ".join(config["tool"]["importlinter"]["contracts"][0]["layers"])
    named = {name.strip() for name in layers.split("|")}
    real = {p for p in packages() if p.count(".") == 1}
    assert named == real
    assert "ignore_imports" not in config["tool"]["importlinter"]["contracts"][0]


def test_no_machine_paths_or_hosts():
    wrong = re.compile(r"/(root|home|work)/|https?://[\w.]*(pypi|npmjs|debian)")
    for path in ROOT.rglob("*"):
        if ".git" in path.parts or ".venv" in path.parts or not path.is_file():
            continue
        if path.suffix in {".py", ".md", ".toml", ".txt", ".html", ".json", ".css"}:
            if path == pathlib.Path(__file__):
                continue
            match = wrong.search(path.read_text(errors="ignore"))
            assert match is None, f"{path}: {match.group()}"
