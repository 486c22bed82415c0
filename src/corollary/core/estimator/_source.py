"""Fitting to data that need not fit in memory: what every ``fit_source`` does first."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from corollary.core.summary import Source, Summary, Together, open_source

S = TypeVar("S", bound=Summary)


def read_source(
    estimator: Any,
    data: Any,
    summary: Callable[[Source], S],
    *,
    target: str | Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    sample_weight: str | None = None,
    n_jobs: int | None = None,
    one_target: bool = False,
    several_passes: bool = False,
    rows_only: bool = False,
    **options: Any,
) -> tuple[Source, S]:
    """Open data, summarise them in one pass and remember names and rows."""
    from corollary.core.fingerprint import Fingerprint

    who = f"{type(estimator).__name__}.fit_source"
    source = open_source(
        data,
        columns=columns,
        target=target,
        sample_weight=sample_weight,
        rows_only=rows_only,
        **options,
    )
    targets = source.n_targets > 0 and (source.target_ndim == 1 or not one_target)
    if not (targets or rows_only):
        what = "one column of targets" if one_target else "targets"
        raise ValueError(
            f"{who} needs {what}. Name the column to predict in `target`, or give chunks (X, y)"
            + (" with one-dimensional y." if one_target else ".")
        )
    if several_passes and not source.rereadable:
        raise ValueError(
            f"{who} reads the data several times. Got a generator, which can be read once. Give a "
            "list of chunks, a path, a Dask collection or an object whose __iter__ starts anew."
        )
    both: Any = source.reduce(Together((summary(source), Fingerprint())), n_jobs)
    result, rows = both.parts
    earlier = getattr(estimator, "fingerprint_", None)
    if earlier is not None and getattr(estimator, "warm_start", False):
        rows = earlier.union(rows)
    estimator.fingerprint_ = rows
    estimator.n_features_in_ = source.n_features
    if source.feature_names is not None:
        estimator.feature_names_in_ = np.array(source.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return source, result
