"""Folds of whole units: rows of one client, patient or copied row stay together.

Otherwise a model is asked about what it has seen, and the error of memory is taken for that of
knowledge.
"""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import CountFromTwo, Probability, RandomSeed, checked
from corollary.validation._units import read_units


@checked
def unit_folds(
    units: Any, n_folds: CountFromTwo, random_state: RandomSeed = None, *, y: Any = None
) -> np.ndarray:
    """Deal whole units to folds of nearly equal numbers of rows.

    Units come in random order, those of at least 2, 4, 8, ... rows before smaller ones, and each
    goes to the fold that is emptiest: training sets are then of nearly equal size, as a comparison
    with random folds needs. With labels, emptiness counts the classes that the unit brings as well.

    Parameters
    ----------
    units : array-like of shape (n_samples,)
        The unit of each row: any labels, none missing.
    n_folds : int
        Folds, at least 2 and at most the number of units.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the order.
    y : array-like of shape (n_samples,) or None, default=None
        Class labels whose shares the folds shall have, as far as whole units allow it.

    Returns
    -------
    fold : ndarray of shape (n_samples,)
        Fold of each row, from 0 to n_folds - 1; none is empty.

    See Also
    --------
    UnitKFold : The splitter of scikit-learn's kind.

    Examples
    --------
    >>> from corollary.validation import unit_folds
    >>> fold = unit_folds(["a", "a", "b", "b", "c", "d"], 2, random_state=0)
    >>> bool(fold[0] == fold[1]), bool(fold[2] == fold[3]), fold.tolist().count(0)
    (True, True, 3)
    """
    codes = read_units("unit_folds", units)
    n_units = int(codes.max()) + 1
    if n_folds > n_units:
        raise ValueError(
            f"unit_folds needs at least as many units as folds. Got {n_units} units for "
            f"{n_folds} folds."
        )
    if y is None:
        classes = np.zeros(len(codes), dtype=int)
    else:
        classes = read_units("unit_folds", y, len(codes), what="label")
    counts = np.zeros((n_units, int(classes.max()) + 2))
    np.add.at(counts, (codes, classes), 1)
    counts[:, -1] = counts.sum(axis=1)
    shares = counts / counts.sum(axis=0)
    order = check_random_state(random_state).permutation(n_units)
    # By powers of two: large units first keep folds even, and the draw still decides.
    order = order[np.argsort(-np.frexp(counts[order, -1])[1], kind="stable")]
    filled, fold_of = np.zeros((n_folds, counts.shape[1])), np.empty(n_units, dtype=int)
    for unit in order:
        emptiest = int(np.argmin(filled @ shares[unit]))
        filled[emptiest] += shares[unit]
        fold_of[unit] = emptiest
    return fold_of[codes]


@checked
def split_units(
    units: Any, test_share: Probability, random_state: RandomSeed = None
) -> tuple[np.ndarray, np.ndarray]:
    """Keep aside the rows of some units, drawn at random.

    A share of the units is drawn, not of the rows: units that are left out are then drawn as new
    ones will be, whatever their sizes, and count as independent ones.

    Parameters
    ----------
    units : array-like of shape (n_samples,)
        The unit of each row, of two units at least.
    test_share : float
        Share of the units that are kept aside, at least one and not all.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    train : ndarray
        Positions of the rows to learn from.
    test : ndarray
        Positions of the rows that are kept aside.

    Examples
    --------
    >>> from corollary.validation import split_units
    >>> train, test = split_units(["a", "a", "b", "b", "c", "c"], 0.3, random_state=0)
    >>> len(train), len(test)
    (4, 2)
    """
    codes = read_units("split_units", units, least=2)
    n_units = int(codes.max()) + 1
    n_test = min(n_units - 1, max(1, round(test_share * n_units)))
    chosen = np.zeros(n_units, dtype=bool)
    chosen[check_random_state(random_state).permutation(n_units)[:n_test]] = True
    return np.flatnonzero(~chosen[codes]), np.flatnonzero(chosen[codes])
