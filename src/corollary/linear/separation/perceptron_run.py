r"""The batch perceptron, its leave-one-out error, and its guarantees.

The model is :math:`\mathrm{sign}\langle w, x \rangle`. Starting from w = 0, rows are visited in
passes; wherever :math:`y_i \langle w, x_i \rangle \le 0` the row is added,
:math:`w \leftarrow w + y_i x_i`. The first pass without a mistake ends the run, and w then
separates the data. There is no step size.

With :math:`\|x_i\| \le R` and margin :math:`\gamma` the run makes at most
:math:`(R / \gamma)^2` mistakes in all, in any order.
"""

from collections.abc import Iterator
from itertools import count, repeat
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from corollary.linear.separation._checks import check_signs
from corollary.linear.separation._records import PerceptronLeaveOneOut, PerceptronRun


def perceptron_run(
    X: Any,
    y: Any,
    *,
    max_passes: int = 1000,
    shuffle: bool = False,
    random_state: Any = None,
) -> PerceptronRun:
    """Run the perceptron until a pass without mistake.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels -1 and 1.
    max_passes : int, default=1000
        Largest number of passes. The perceptron stops by itself only on data that a plane
        through the origin separates with positive margin.
    shuffle : bool, default=False
        Whether each pass visits the rows in a fresh random order; else in their given order.
    random_state : int, RandomState instance or None, default=None
        Source of the orders.

    Returns
    -------
    run : named tuple
        The last ``weights``; ``mistakes``, how often each row was mistaken, so that the weights
        are the sum of ``mistakes * y * x``; ``passes``, the verifying one included; ``separated``,
        whether the last pass made no mistake.

    Examples
    --------
    >>> from corollary.linear import perceptron_run
    >>> perceptron_run([[1.0]], [1])
    PerceptronRun(weights=array([1.]), mistakes=array([1]), passes=2, separated=True)
    """
    X = _rows(X)
    y = check_signs("perceptron_run", y, X.shape[0])
    random, rows = check_random_state(random_state), np.arange(X.shape[0])
    orders = (random.permutation(len(rows)) for _ in count()) if shuffle else repeat(rows)
    return _run("perceptron_run", X, y, orders, max_passes)


def _run(
    who: str, X: Any, y: np.ndarray, orders: Iterator[np.ndarray], max_passes: int
) -> PerceptronRun:
    """Make passes, each in the next order, until one makes no mistake."""
    from corollary.linear._loops.perceptron import dense_pass, sparse_pass

    weights, mistakes = np.zeros(X.shape[1]), np.zeros(X.shape[0], dtype=np.int64)
    is_sparse = sparse.issparse(X)
    separated, passes = False, 0
    while not separated and passes < max_passes:
        order = next(orders)
        if is_sparse:
            wrong = sparse_pass(X.data, X.indices, X.indptr, y, order, weights, mistakes)
        else:
            wrong = dense_pass(X, y, order, weights, mistakes)
        separated, passes = wrong == 0, passes + 1
    if not np.isfinite(weights).all():
        raise ValueError(
            f"{who}: rows have numbers so large that their sum has overflowed. Scale the features, "
            "for instance with StandardScaler."
        )
    return PerceptronRun(weights, mistakes, passes, separated)


def perceptron_loo(X: Any, y: Any, *, max_passes: int = 100_000) -> PerceptronLeaveOneOut:
    r"""Return the leave-one-out error of the cyclic perceptron.

    A row that the full run never mistook leaves no trace in it: the run without that row is the
    same, bit for bit, and classifies the row correctly. Only mistaken rows are refitted. The
    argument holds for any order whose restriction to the remaining rows is the order that would
    be run on them, as a fixed order is.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels -1 and 1; a plane through the origin must separate them with positive margin.
    max_passes : int, default=100000
        Largest number of passes of a run.

    Returns
    -------
    result : named tuple
        ``wrong``, whether each row is mistaken by the perceptron trained on the others; their
        share ``error``; ``refits``, how many rows had to be refitted.

    Notes
    -----
    Guarantee: the number of wrong rows is at most the number of rows mistaken by the full run,
    hence at most :math:`(R / \gamma)^2`; checked by
    ``tests/linear/test_perceptron.py::test_loo_counts_stay_below_the_mistake_bound``.

    Examples
    --------
    >>> from corollary.linear import perceptron_loo
    >>> X = [[1.0, 0.0], [0.9, 0.1], [-1.0, 0.1], [-0.8, 0.0]]
    >>> perceptron_loo(X, [1, 1, -1, -1])
    PerceptronLeaveOneOut(wrong=array([False, False, False, False]), error=0.0, refits=1)
    """
    X = _rows(X)
    n = len(X)
    y = check_signs("perceptron_loo", y, n)
    if n < 2:
        raise ValueError(f"perceptron_loo needs at least 2 rows. Got {n}.")

    def run(rows: np.ndarray) -> PerceptronRun:
        outcome = _run("perceptron_loo", X, y, repeat(rows), max_passes)
        if not outcome.separated:
            raise ValueError(
                f"perceptron_loo: no pass without mistake within max_passes={max_passes}. The "
                "method needs data that a plane through the origin separates; see "
                "separability(X, y, fit_intercept=False), or increase max_passes."
            )
        return outcome

    every = np.arange(n)
    refit = np.flatnonzero(run(every).mistakes)
    wrong = np.zeros(n, dtype=bool)
    for k in refit:
        wrong[k] = y[k] * (X[k] @ run(np.delete(every, k)).weights) <= 0
    return PerceptronLeaveOneOut(wrong, float(wrong.mean()), len(refit))


def _rows(X: Any) -> Any:
    """Return finite rows as the loops read them."""
    if sparse.issparse(X):
        X = sparse.csr_matrix(X, dtype=np.float64)
        finite = bool(np.isfinite(X.data).all())
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
        finite = bool(np.isfinite(X).all())
    if X.ndim != 2 or not finite:
        raise ValueError(
            "The rows must be a table of finite numbers of shape (n_samples, n_features). Got "
            f"shape {X.shape}" + ("." if finite else " with NaN or infinity.")
        )
    return X
