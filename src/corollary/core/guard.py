"""Find out whether a model was trained on given rows, or on rows of their owners.

Our estimators keep a fingerprint of their training rows. A fingerprint may sit at the end of a
pipeline, inside a search or inside other wrappers; here the rows are followed there, through the
transformations that the pipeline applies, and looked up.

Three limits are known. Third-party models keep no fingerprint. A transformer whose
``fit_transform`` differs from its ``transform`` (target encoders that cross-fit, for instance)
hides the training rows from a fingerprint behind it. And a few dozen training rows, each repeated
in training, cannot be told from a population that repeats its rows. A certificate's assumptions
say which case it is.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from corollary.core.compat import safe_indexing
from corollary.core.fingerprint import Fingerprint, Overlap, hash_rows
from corollary.core.protocols import HasFittedParts, RemembersGroups

# An overlap is refused when fresh rows would show it less often than this. Fresh continuous rows
# never match at all, so the level only concerns data that repeat rows by nature.
_LEVEL = 1e-3
# Rows that all match are refused already at this level: with one or two rows the first level
# cannot be reached.
_LEVEL_ALL = 0.05

_INNER = ("best_estimator_", "estimator_", "regressor_", "classifier_")
_INNER_LISTS = ("estimators_", "calibrated_classifiers_")


class _Memory(NamedTuple):
    """A fingerprint found in a model, with the rows in the form it knows."""

    fingerprint: Fingerprint
    rows: Any


def count_different(X: Any) -> int | None:
    """Count the different rows of a table."""
    rows = _as_numbers(X)
    return None if rows is None else len(np.unique(hash_rows(rows)))


def _memories(model: Any, X: Any, visited: set[int]) -> Iterator[_Memory]:
    if model is None or isinstance(model, str) or id(model) in visited:
        return
    visited.add(id(model))
    fingerprint = getattr(model, "fingerprint_", None)
    if isinstance(fingerprint, Fingerprint):
        rows = _as_numbers(X, getattr(model, "categories_", None))
        if rows is not None:
            yield _Memory(fingerprint, rows)
    if hasattr(model, "fitted_parts"):  # isinstance would take as long as all else here
        for part, rows in model.fitted_parts(X):
            yield from _memories(part, rows, visited)
        return
    steps = getattr(model, "steps", None)
    if steps is not None:
        rows = X
        for _, step in steps[:-1]:
            yield from _memories(step, rows, visited)
            if step is not None and step != "passthrough":
                rows = step.transform(rows)
        yield from _memories(steps[-1][1], rows, visited)
        return
    for _, part, *columns in _parts(model):
        yield from _memories(part, safe_indexing(X, *columns, axis=1) if columns else X, visited)
    if hasattr(model, "support_") and hasattr(model, "estimator_") and hasattr(model, "transform"):
        X = model.transform(X)  # recursive elimination: its model knows the columns that are left
    for name in _INNER:
        yield from _memories(getattr(model, name, None), X, visited)
    if not hasattr(model, "get_params"):
        # A helper inside a wrapper (such as one calibrated classifier) holds a fitted model; in an
        # estimator the same name is a parameter, which is not fitted.
        yield from _memories(getattr(model, "estimator", None), X, visited)
    if hasattr(model, "estimators_features_"):
        yield from _bagged(model, X, visited)
        return
    for name in _INNER_LISTS:
        inner = getattr(model, name, None)
        if isinstance(inner, list | tuple | np.ndarray):
            for one in np.ravel(np.asarray(inner, dtype=object)):
                yield from _memories(one, X, visited)


def _parts(model: Any) -> list[tuple]:
    """Return names, transformers and, if they take some columns only, these."""
    if hasattr(model, "transformers_"):
        return [part for part in model.transformers_ if not isinstance(part[1], str)]
    parts = getattr(model, "transformer_list", None)
    return list(parts) if parts is not None else []


def _bagged(model: Any, X: Any, visited: set[int]) -> Iterator[_Memory]:
    """Follow rows into members of a bag, each with its columns and repeated rows of its own."""
    rows = _as_numbers(X)
    if rows is None:
        return
    for member, columns in zip(model.estimators_, model.estimators_features_):
        for fingerprint, known in _memories(member, rows[:, columns], visited):
            # The bootstrap repeated these rows, not nature: a repetition explains no match.
            yield _Memory(replace(fingerprint, counts=np.ones_like(fingerprint.counts)), known)


def _as_numbers(X: Any, categories: Any = None) -> Any:
    try:
        if hasattr(categories, "encode"):  # trees remember the codes of their categories
            X = categories.encode(X)
        return check_array(
            X, dtype=np.float64, accept_sparse=True, allow_nd=True, ensure_all_finite=False
        )
    except (TypeError, ValueError):
        # Rows that are not numbers cannot be those the fingerprint was taken of.
        return None


def look_up(model: Any, X: Any) -> list[tuple[Fingerprint, Overlap]]:
    """Look rows up in every fingerprint inside a model."""
    return [
        (fingerprint, fingerprint.overlap(rows)) for fingerprint, rows in _memories(model, X, set())
    ]


def is_suspicious(overlap: Overlap) -> bool:
    """Say whether fresh rows would hardly overlap so much."""
    if overlap.seen == 0:
        return False
    level = _LEVEL_ALL if overlap.seen == overlap.compared else _LEVEL
    return overlap.p_value < level


def refuse_training_rows(model: Any, X: Any, *, who: str, repair: str) -> list[Overlap]:
    """Raise if a model was trained on some of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from corollary.core.fingerprint import Fingerprint
    >>> from corollary.core.guard import refuse_training_rows
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> model = SimpleNamespace(fingerprint_=Fingerprint().update((X,)))
    >>> refuse_training_rows(model, X[:9], who="certify", repair="Use other rows.")
    Traceback (most recent call last):
        ...
    ValueError: certify needs rows that SimpleNamespace was not trained on. Found 9 of 9 rows
    among its training rows. Use other rows.
    """
    overlaps = [overlap for _, overlap in look_up(model, X)]
    for overlap in overlaps:
        if is_suspicious(overlap):
            raise ValueError(
                f"{who} needs rows that {type(model).__name__} was not trained on. Found "
                f"{overlap.seen} of {overlap.compared} rows among its training rows. {repair}"
            )
    return overlaps


def refuse_training_groups(
    model: Any, X: Any, groups: Any, *, who: str, unit: str = "owner", repair: str = ""
) -> bool:
    """Raise if a model was trained on rows of the same owners; say whether it remembers them.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.guard import refuse_training_groups
    >>> class Model:
    ...     def knows_groups(self, groups):
    ...         return np.isin(groups, ["a", "b"])
    >>> refuse_training_groups(Model(), np.zeros((2, 1)), ["c", "d"], who="certify")
    True
    >>> refuse_training_groups(Model(), np.zeros((2, 1)), ["a", "d"], who="certify")
    Traceback (most recent call last):
        ...
    ValueError: certify needs rows of owners that Model was not trained on. Found 1 of 2 rows
    whose owner is among those of its training rows.
    """
    told = False
    for part in _models_inside(model, X, set()):
        known = part.knows_groups(groups) if isinstance(part, RemembersGroups) else None
        if known is None:
            continue
        told = True
        seen = int(np.count_nonzero(known))
        if seen:
            raise ValueError(
                f"{who} needs rows of owners that {type(model).__name__} was not trained on. "
                f"Found {seen} of {len(known)} rows whose {unit} is among those of its training "
                "rows. "
                f"{repair}".rstrip()
            )
    return told


def _models_inside(model: Any, X: Any, visited: set[int]) -> Iterator[Any]:
    """Go through a model and the fitted models inside it."""
    if model is None or isinstance(model, str) or id(model) in visited:
        return
    visited.add(id(model))
    yield model
    inside = [getattr(model, name, None) for name in _INNER]
    inside += [part for _, part in getattr(model, "steps", None) or ()]
    inside += [part for _, part, *_ in _parts(model)]
    if isinstance(model, HasFittedParts):
        inside += [part for part, _ in model.fitted_parts(X)]
    for name in _INNER_LISTS:
        members = getattr(model, name, None)
        if isinstance(members, list | tuple | np.ndarray):
            inside += list(np.ravel(np.asarray(members, dtype=object)))
    for part in inside:
        yield from _models_inside(part, X, visited)
