"""Probabilities from a machine that gives margins.

A support vector machine says on which side of its boundary a row lies and how far away, not how
probable its class is. A logistic regression of margins, learnt on rows that the machine did not
see, says that (Platt's method, here for any number of classes).

References
----------
Platt, J. (1999). Probabilistic outputs for support vector machines. In: Advances in Large Margin
Classifiers, MIT Press.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import Instance, Schema
from corollary.svm.machines._folds import stratified_folds


def _fits_together(model: "CalibratedMachine") -> str | None:
    machine, link = np.asarray(model.machine.classes_), np.asarray(model.link.classes_)
    if machine.dtype.kind != "i" or not np.array_equal(machine, link):
        return "machine and link know other classes"
    if model.link.n_features_in_ != (1 if len(machine) == 2 else len(machine)):
        return "machine and link do not fit"
    return None


@dataclass(frozen=True, eq=False)
class CalibratedMachine:
    """A machine that gives margins, and the logistic regression that turns them into probabilities.

    Parameters
    ----------
    machine : estimator
        Fitted classifier of class indices with ``decision_function``.
    link : estimator
        Fitted classifier of the same classes from margins.

    See Also
    --------
    calibrate_machine : Make one.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import LogisticRegression
    >>> from corollary.svm import SVC, CalibratedMachine
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    >>> machine = SVC().fit(X[:100], y[:100])
    >>> margins = machine.decision_function(X[100:])[:, None]
    >>> model = CalibratedMachine(machine, LogisticRegression().fit(margins, y[100:]))
    >>> model.predict_proba(np.array([[2.0, 0.0], [-2.0, 0.0]])).argmax(axis=1)
    array([1, 0])
    """

    machine: Any
    link: Any

    _schema = Schema(
        _fits_together,
        machine=Instance("decision_function"),
        link=Instance("predict_proba"),
    )

    @property
    def classes_(self) -> np.ndarray:
        """Class indices."""
        return self.machine.classes_

    @property
    def n_features_in_(self) -> int:
        """Features it takes."""
        return self.machine.n_features_in_

    def fitted_parts(self, X: Any) -> list[tuple[Any, Any]]:
        """Return the machine with the rows that reach it, which may be training rows.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            Rows.

        Returns
        -------
        parts : list of (estimator, ndarray)
            The machine takes the rows as they are.
        """
        return [(self.machine, X)]

    @property
    def C_(self) -> float:
        """Price of slack of the machine."""
        return float(self.machine.C)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Predict class probabilities.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            Rows.

        Returns
        -------
        probability : ndarray of shape (n, n_classes)
            Rows sum to one.
        """
        return self.link.predict_proba(_margins_of(self.machine, X))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict the most probable classes.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            Rows.

        Returns
        -------
        label : ndarray of shape (n,)
            Class indices.
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _margins_of(machine: Any, X: np.ndarray) -> np.ndarray:
    """Give the margins of a machine as columns."""
    margins = np.asarray(machine.decision_function(X), dtype=np.float64)
    return margins[:, None] if margins.ndim == 1 else margins


def calibrate_machine(
    machines: Sequence[Any],
    link: Any,
    X: np.ndarray,
    y: np.ndarray,
    *,
    n_folds: int = 3,
    random_state: int = 0,
) -> CalibratedMachine:
    """Choose a machine by the log loss of its held-out margins and fit it to all rows.

    Parameters
    ----------
    machines : sequence of estimator
        Classifiers with ``decision_function``, not fitted.
    link : estimator
        Classifier of margins with ``predict_proba``, such as a logistic regression.
    X : ndarray of shape (n, n_features)
        Rows.
    y : ndarray of int of shape (n,)
        Classes, as indices from 0; at least two rows of each.
    n_folds : int, default=3
        Folds in which margins are held out.
    random_state : int, default=0
        Seed of the folds.

    Returns
    -------
    model : CalibratedMachine
        The machine fitted to all rows, the link to margins of rows that it had not seen.

    References
    ----------
    .. [1] J. Platt (1999). Probabilistic outputs for support vector machines. In: Advances in
       Large Margin Classifiers, MIT Press.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import LogisticRegression
    >>> from corollary.svm import SVC, calibrate_machine
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    >>> model = calibrate_machine([SVC(C=0.1), SVC(C=1.0)], LogisticRegression(), X, y)
    >>> model.predict_proba(np.array([[2.0, 0.0], [-2.0, 0.0]])).argmax(axis=1)
    array([1, 0])
    """
    from sklearn.base import clone

    fold = stratified_folds(y, n_folds, random_state)
    if np.bincount(y)[np.unique(y)].min() < 2:
        raise ValueError("A class has one row only, so no margin of it can be held out.")
    best: tuple[float, Any, Any] | None = None
    for machine in machines:
        margins = _held_out_margins(machine, X, y, fold)
        fitted = clone(link).fit(margins, y)
        given = fitted.predict_proba(margins)
        given = given[np.arange(len(y)), np.searchsorted(fitted.classes_, y)]
        loss = float(-np.log(np.maximum(given, 1e-300)).mean())
        if best is None or loss < best[0]:
            best = (loss, machine, fitted)
    if best is None:
        raise ValueError("calibrate_machine needs at least one machine. Got none.")
    return CalibratedMachine(clone(best[1]).fit(X, y), best[2])


def _held_out_margins(machine: Any, X: np.ndarray, y: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Collect the margins of every fold from a machine fitted to the others."""
    from sklearn.base import clone

    parts = []
    for k in np.unique(fold):
        mine, rest = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        parts.append((mine, _margins_of(clone(machine).fit(X[rest], y[rest]), X[mine])))
    margins = np.empty((len(X), parts[0][1].shape[1]))
    for mine, values in parts:
        margins[mine] = values
    return margins
