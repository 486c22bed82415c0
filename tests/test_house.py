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
PACKAGE = ROOT / "src" / "corollary"
SOURCES = sorted(PACKAGE.rglob("*.py"))
PYTHON = SOURCES + sorted((ROOT / "tests").rglob("*.py")) + sorted((ROOT / "bench").rglob("*.py"))


@cache
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
    engines = {"numba", "jax", "matplotlib", "dask", "pandas", "sklearn.tree"}
    code = FORKS.replace("{engines!r}", repr(engines))
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
                assert {a.name for a in node.names} <= {"literal_unroll"}, path
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                is_jit = node.value.id in ("numba", "nb") and "jit" in node.attr
                assert not is_jit, f"{path}:{node.lineno}"


def test_jax_is_used_through_its_door_only():
    # Which keeps it to one thread, and so to the same bits on any number of cores.
    outside = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        if path.name != "xla.py"
        for node in ast.walk(parsed(path))
        if (isinstance(node, ast.ImportFrom) and node.module in ("jax", "jax.numpy"))
        or (
            isinstance(node, ast.Import)
            and any(alias.name in ("jax", "jax.numpy") for alias in node.names)
        )
    ]
    assert outside == []


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


# -- functions and loops ---------------------------------------------------------------------

BRANCHES = (
    *(ast.If, ast.For, ast.While, ast.IfExp, ast.ExceptHandler, ast.With, ast.Assert),
    ast.comprehension,
)
MAKES_ARRAYS = {"empty", "zeros", "ones", "full", "arange", "empty_like", "zeros_like", "array"}

#: Doors of parts, which loops of other packages import and nothing else does.
PARTS = {"core/draws.py": "corollary.core.draws"}
#: Functions that are too large, each with the reason; exact, so that it can only shrink.
LARGE = {
    "certificates/certification.py::certify": "its arguments are options, by name",
    "cli.py::_report": "its arguments are the options of the command",
    "core/training/loop.py::train": "its arguments are options, by name, of one public function",
    "optimize/stochastic/stochastic_gradient.py::stochastic_gradient": (
        "its arguments are options, by name"
    ),
    "reporting/_report.py::report": "its arguments are the options of the command",
}


def package_of(path):
    return path.relative_to(PACKAGE).parts[0]


def functions(path):
    return (n for n in ast.walk(parsed(path)) if isinstance(n, ast.FunctionDef))


def how_compiled(function):
    """Return ``jit(...)`` or ``part(...)`` as written above a function, or an empty string."""
    written = [ast.unparse(d) for d in function.decorator_list]
    return next((w for w in written if w.split("(")[0] in ("jit", "part")), "")


def is_call(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def is_loop_file(path):
    return path.name == "_loops.py" or path.parent.name == "_loops"


def too_large(function):
    """Say what is too large about a function, or an empty string."""
    branches = sum(isinstance(n, BRANCHES) for n in ast.walk(function))
    branches += sum(len(n.values) - 1 for n in ast.walk(function) if isinstance(n, ast.BoolOp))
    prose = ast.get_docstring(function, clean=False) or ""
    lines = function.end_lineno - function.lineno + 1 - (prose.count("\n") + 1 if prose else 0)
    arguments = len(function.args.args) + len(function.args.kwonlyargs)
    if lines > 100:
        return f"{lines} lines"
    if branches + 1 > 25:
        return f"complexity {branches + 1}"
    if arguments > 12 and function.name != "__init__":
        return f"{arguments} arguments"
    return ""


def test_functions_can_be_held_in_the_head():
    large = {
        f"{path.relative_to(PACKAGE)}::{function.name}": what
        for path in SOURCES
        for function in functions(path)
        if (what := too_large(function))
    }
    assert set(large) == set(LARGE), {k: large.get(k) for k in set(large) ^ set(LARGE)}


def test_a_large_function_is_seen():
    body = "\n".join(f"    if x > {i}:\n        pass" for i in range(26))
    assert too_large(ast.parse(f"def f(x):\n{body}").body[0]) == "complexity 27"
    names = ", ".join(f"a{i}" for i in range(13))
    assert too_large(ast.parse(f"def f({names}):\n    pass").body[0]) == "13 arguments"
    assert too_large(ast.parse("def f(x):\n" + "    x\n" * 101).body[0]) == "102 lines"


def test_compiled_functions_live_in_loops_and_nothing_else_does():
    for path in SOURCES:
        for function in functions(path):
            place = f"{path}:{function.lineno} {function.name}"
            assert is_loop_file(path) or not how_compiled(function), f"{place} is compiled"
    for path in filter(is_loop_file, SOURCES):
        body = parsed(path).body
        plain = {n.name for n in body if isinstance(n, ast.FunctionDef) and not how_compiled(n)}
        made = {n.value.func.id for n in body if isinstance(n, ast.Assign) and is_call(n.value)}
        assert plain <= made, f"{path}: {plain - made} neither is compiled nor makes a constant"


def test_loops_are_imported_where_they_are_needed():
    # Importing a family must not import Numba, and a package is entered by its door.
    for path in SOURCES:
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.ImportFrom) or "._loops" not in (node.module or ""):
                continue
            assert node.module.split(".")[1] == package_of(path), f"{path}:{node.lineno}"
            if not is_loop_file(path) and str(path.relative_to(PACKAGE)) not in PARTS:
                assert node.col_offset > 0, f"{path}:{node.lineno} at the top of a module"


def test_parts_are_imported_by_loops_only():
    for path in SOURCES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom) and node.module in PARTS.values():
                assert is_loop_file(path), f"{path}:{node.lineno}"


def loop_faults(function):
    """List what the rules of ``core/jit.py`` refuse in a compiled function."""
    compiled, faults = how_compiled(function), []
    borrowed = compiled.startswith("part") or "counted=False" in compiled
    names = {a.arg for a in function.args.args}
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called = ast.unparse(node.func)
            if borrowed and called in {f"np.{name}" for name in MAKES_ARRAYS}:
                faults.append(f"line {node.lineno}: {called} in a function that borrows arrays")
            loaded = (ast.Name, ast.Subscript, ast.Attribute)
            if called == "np.isfinite" and not isinstance(node.args[0], loaded):
                faults.append(f"line {node.lineno}: np.isfinite of an expression")
        if not borrowed and isinstance(node, ast.For | ast.While):
            called = {n.func.id for n in ast.walk(node) if is_call(n)}
            calls = called - {"range", "len", "abs", "min", "max", "int"}
            for inner in ast.walk(node):
                if (
                    calls
                    and isinstance(inner, ast.Subscript)
                    and isinstance(inner.value, ast.Attribute)
                    and isinstance(inner.value.value, ast.Name)
                    and inner.value.value.id in names
                    and inner.value.attr != "shape"
                ):
                    counted = ast.unparse(inner.value)
                    faults.append(f"line {inner.lineno}: {counted} is unpacked in every round")
    return faults


def test_loops_keep_the_rules_of_the_compiler():
    wrong = {
        f"{path.relative_to(ROOT)} {function.name}: {fault}"
        for path in SOURCES
        for function in functions(path)
        if how_compiled(function)
        for fault in loop_faults(function)
    }
    assert not wrong, wrong


def test_a_loop_against_the_rules_is_seen():
    text = "@part\ndef f(work):\n    room = np.empty(3)\n    return np.isfinite(room[0] - 1.0)\n"
    assert len(loop_faults(ast.parse(text).body[0])) == 2
    text = "@jit\ndef f(work):\n    for i in range(3):\n        g(work.sums[i])\n"
    assert len(loop_faults(ast.parse(text).body[0])) == 1


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
    contracts = config["tool"]["importlinter"]["contracts"]
    assert [contract["type"] for contract in contracts] == ["layers", "door"]
    assert not any("ignore_imports" in contract for contract in contracts)


def test_no_machine_paths_or_hosts():
    wrong = re.compile(r"/(root|home|work)/|https?://[\w.]*(pypi|npmjs|debian)")
    for path in ROOT.rglob("*"):
        hidden = any(part in {".git", ".venv", ".venv-lowest"} for part in path.parts)
        if hidden or not path.is_file():
            continue
        if path.suffix in {".py", ".md", ".toml", ".txt", ".html", ".json", ".css"}:
            if path == pathlib.Path(__file__):
                continue
            match = wrong.search(path.read_text(errors="ignore"))
            assert match is None, f"{path}: {match.group()}"
