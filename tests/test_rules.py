"""Rules of the house that a machine can see in the source: doors, names, types, sentences."""

import ast
import importlib
import pathlib
from collections import Counter
from functools import cache

import corollary

SOURCE = pathlib.Path(corollary.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
#: What depends on the words of other packages stands in this file alone.
COMPAT = SOURCE / "core" / "compat.py"
#: Reads exactly some classes of scikit-learn: a subclass may train in another way.
ADAPTER = SOURCE / "certificates" / "_scikit_learn.py"


@cache
def tree(path):
    return ast.parse(path.read_text(), str(path))


def place(path, node):
    return f"{path.relative_to(SOURCE)}:{node.lineno}"


def is_record(node):
    """Whether a class only holds what a function returns, so that users never make one."""
    if not isinstance(node, ast.ClassDef):
        return False
    marks = [*node.bases, *node.decorator_list]
    return any("NamedTuple" in ast.unparse(m) or "dataclass" in ast.unparse(m) for m in marks)


def test_every_name_is_exported_or_private():
    """A name without an underscore is exported by its family, a record, or in a private file."""
    unexported = []
    for path in FILES:
        family, *parts = path.relative_to(SOURCE).parts
        if family == "core" or not parts or any(part.startswith("_") for part in parts[:-1]):
            continue
        if path.name.startswith("_"):
            continue
        door = vars(importlib.import_module(f"corollary.{family}"))
        unexported += [
            f"{place(path, node)} {node.name}"
            for node in tree(path).body
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            and not node.name.startswith("_")
            and node.name not in door
            and not is_record(node)
        ]
    assert unexported == []


def names_a_class(node):
    """Whether an expression is the name or the exact type of something."""
    if isinstance(node, ast.Attribute):
        return node.attr in ("__name__", "__qualname__", "__module__")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "type" and len(node.args) == 1
    return False


def test_nothing_is_recognised_by_its_name_or_exact_type():
    wrong = [
        f"{place(path, node)} {ast.unparse(node)}"
        for path in FILES
        if path != ADAPTER
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Compare)
        and any(names_a_class(part) for part in [node.left, *node.comparators])
    ]
    assert wrong == []


def test_nothing_depends_on_what_others_have_imported():
    wrong = [
        place(path, node)
        for path in FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Compare) and "sys.modules" in ast.unparse(node)
    ]
    assert wrong == []


def words(node):
    """The text of a constant of at least two words, or None."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) and " " in value.strip() else None


def reads_a_sentence(node):
    """Whether an expression asks what a text of several words says."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return words(node.left) is not None and not isinstance(
            node.comparators[0], ast.Dict | ast.Set | ast.List | ast.Tuple
        )
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        asks = ("startswith", "endswith", "removeprefix", "removesuffix", "find", "index")
        return node.func.attr in asks and any(words(argument) for argument in node.args)
    return False


def test_no_meaning_is_read_out_of_a_sentence():
    wrong = [
        f"{place(path, node)} {ast.unparse(node)}"
        for path in FILES
        if path != COMPAT
        for node in ast.walk(tree(path))
        if reads_a_sentence(node)
    ]
    assert wrong == []


def test_the_rules_see_what_they_forbid():
    """Each rule finds a fault that is planted here."""
    for source, rule in [
        ("'two words' in text", reads_a_sentence),
        ("name.startswith('squared error of')", reads_a_sentence),
    ]:
        assert rule(ast.parse(source, mode="eval").body), source
    for source in ["type(x) is int", "type(x).__name__ == 'SVC'", "cls.__module__ != 'a.b'"]:
        compare = ast.parse(source, mode="eval").body
        assert any(names_a_class(part) for part in [compare.left, *compare.comparators]), source
    assert not reads_a_sentence(ast.parse("'a b' in ('a b', 'c')", mode="eval").body)


def test_folders_are_small_enough_to_know():
    sizes = Counter(path.parent for path in FILES if path.name != "__init__.py")
    crowded = {str(f.relative_to(SOURCE)): n for f, n in sizes.items() if n > 15}
    assert crowded == {}, "more than 15 files: move what belongs together into a subfolder"
