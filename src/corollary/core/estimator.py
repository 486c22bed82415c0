"""Estimator: scikit-learn's contract, validated and remembered in one place.

An estimator of this library is a scikit-learn estimator: it derives from scikit-learn's public
base classes, declares ``_parameter_constraints`` and decorates ``fit`` with ``fit_context`` (both
from :mod:`corollary.core.compat`). What we add is small: one call that validates training data
and weights, and a fingerprint of the training rows, by which :func:`corollary.certify` refuses to
sell a training error as a held-out one.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from corollary.core.compat import check_sample_weight
from corollary.core.fingerprint import Fingerprint
from corollary.core.summary import block_rows, reduce_blocks, slice_rows


def check_training_data(
    estimator: BaseEstimator,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    **checks: Any,
) -> tuple[Any, Any, np.ndarray | None]:
    """Validate what ``fit`` was given and remember its rows.

    Parameters
    ----------
    estimator : estimator
        Receives ``n_features_in_``, ``feature_names_in_`` (if X has names) and ``fingerprint_``.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Training inputs.
    y : array-like of shape (n_samples,) or None, default=None
        Training targets; None for methods without.
    sample_weight : array-like of shape (n_samples,), float or None, default=None
        Non-negative weights.
    **checks
        Passed to scikit-learn's ``validate_data``; ``dtype`` is double precision unless given.

    Returns
    -------
    X : ndarray or sparse matrix
        The inputs as numbers.
    y : ndarray or None
        The targets.
    sample_weight : ndarray of shape (n_samples,) or None
        The weights; None if none were given.
    """
    checks.setdefault("dtype", np.float64)
    if y is None:  # an error, if the estimator's tags say that it needs targets
        X = validate_data(estimator, X, None, **checks)
    else:
        X, y = validate_data(estimator, X, y, **checks)
    if sample_weight is not None:
        sample_weight = check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
    earlier = getattr(estimator, "fingerprint_", None)
    remember_rows(estimator, X)
    if earlier is not None and getattr(estimator, "warm_start", False):
        # What started from an earlier fit has learnt from its rows, too.
        estimator.fingerprint_ = earlier.union(estimator.fingerprint_)
    return X, y, sample_weight


def remember_rows(estimator: BaseEstimator, X: Any, *, more: bool = False) -> None:
    """Store a fingerprint of training rows on an estimator.

    Parameters
    ----------
    estimator : estimator
        Receives ``fingerprint_``.
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Validated rows.
    more : bool, default=False
        Whether to add to the rows remembered so far, as ``partial_fit`` does.
    """
    start = getattr(estimator, "fingerprint_", Fingerprint()) if more else Fingerprint()
    # A sketch does not depend on how the rows are cut, so the blocks are larger than those of
    # sums, which saves merges.
    step, size = 16 * block_rows((X,)), X.shape[0]
    blocks = (slice_rows((X,), i, min(i + step, size)) for i in range(0, size, step))
    estimator.fingerprint_ = reduce_blocks(start, blocks)


def check_new_data(estimator: BaseEstimator, X: Any, **checks: Any) -> Any:
    """Validate what ``predict`` or ``transform`` was given.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        New inputs, with the columns of training.
    **checks
        Passed to scikit-learn's ``validate_data``; ``dtype`` is double precision unless given.

    Returns
    -------
    X : ndarray or sparse matrix
        The inputs as numbers.
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    checks.setdefault("dtype", np.float64)
    return validate_data(estimator, X, reset=False, **checks)
