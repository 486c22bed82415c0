"""Validation of what the functions of this package are given."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from corollary.core.compat import check_sample_weight


def checked_rows(X: Any, sample_weight: Any = None, **options: Any) -> tuple[Any, Any]:
    """Validate rows and weights, of which one must be positive."""
    X = check_array(X, accept_sparse="csr", dtype=np.float64, order="C", **options)
    if sample_weight is None:
        return X, None
    return X, check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def checked_labels(who: str, labels: Any, n: int, n_clusters: int | None = None) -> np.ndarray:
    """Validate a partition, given as one number from 0 on for each row."""
    labels = np.asarray(labels)
    if labels.shape != (n,) or labels.dtype.kind not in "iu" or labels.min(initial=0) < 0:
        raise ValueError(
            f"{who} needs labels that are whole numbers from 0 on, one for each of {n} rows. Got "
            f"an array of shape {labels.shape} and type {labels.dtype}."
        )
    if n_clusters is not None and labels.max(initial=0) >= n_clusters:
        raise ValueError(
            f"{who} needs labels below n_clusters={n_clusters}. Got {labels.max()}; give the "
            "number of clusters that the labels have."
        )
    return labels.astype(np.int32)


def checked_centres(
    who: str, centres: Any, n_features: int, n_clusters: int | None = None
) -> np.ndarray:
    """Validate centres of rows with so many features."""
    centres = check_array(centres, dtype=np.float64, order="C", copy=True)
    if n_clusters is not None and len(centres) != n_clusters:
        raise ValueError(
            f"The shape of the initial centers {centres.shape} of {who} does not match the number "
            f"of clusters {n_clusters}. Give one row for each cluster."
        )
    if centres.shape[1] != n_features:
        raise ValueError(
            f"The shape of the initial centers {centres.shape} of {who} does not match the number "
            f"of features of the data {n_features}. Give one column for each feature."
        )
    return centres


def refuse_few_rows(who: str, n: int, n_clusters: int) -> None:
    """Raise if there are fewer rows than clusters."""
    if n < n_clusters:
        raise ValueError(
            f"{who} needs at least as many rows as clusters. Got n_samples={n} should be >= "
            f"n_clusters={n_clusters}. Ask for fewer clusters, or give more rows."
        )
