r"""Certificates of bags and forests from the rows that each member has not seen.

A member of a bag was grown without the rows left out of its draw, which are held out for it, though
not for the others. For members :math:`h_1, \dots, h_T` with training errors
:math:`\hat L_t` on at least n rows left out each,

.. math:: \mathrm{kl}\Bigl(\frac1T\sum_t\hat L_t\,\Big\|\,\frac1T\sum_t L_t\Bigr)
          \le \frac{\log(2\sqrt n/\delta)}n

with probability :math:`1-\delta`, and the vote errs at most twice as often as its members do on
average.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from corollary.certificates._scikit_learn import bag_of
from corollary.certificates.proofs._shared import as_table, conclude, once, rows_missing
from corollary.certificates.register import Evidence, register_theorem
from corollary.core.certificate import Assumption, Certificate, Quantity, format_share
from corollary.core.compat import safe_indexing
from corollary.core.protocols import Bag
from corollary.theory import pac_bayes_kl_bound

_IN_ORDER = Assumption(
    "Rows are given in the order of training, and parameters were chosen without them.", "choice"
)
_WEIGHTS = Assumption("Weights of rows, if any, depend on the row alone.", "choice")


def left_out_losses(model: Any, X: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Measure every member of a bag on the rows that it has not seen.

    Parameters
    ----------
    model : estimator
        A bag or a forest of scikit-learn, or a model that says that it is one by
        :meth:`corollary.core.protocols.HasBag.as_bag`.
    X : array-like of shape (n_samples, n_features)
        Its training rows, in the order of training.
    y : ndarray of shape (n_samples,)
        Their labels.

    Returns
    -------
    losses : ndarray of shape (n_members,)
        Mean of one minus the probability of the true label, which is the error for members that
        are certain; the error itself for members without probabilities. Averaged over members,
        it is at least one half wherever the vote is wrong.
    counts : ndarray of int, shape (n_members,)
        Rows left out of each member's draw. The loss is 0 where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from corollary.certificates import left_out_losses
    >>> X, y = np.repeat([[0.0], [1.0]], 20, axis=0), np.repeat([0, 1], 20)
    >>> forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    >>> left_out_losses(forest, X, y)[0]
    array([0., 0., 0.])
    """
    bag = bag_of(model, y)
    if bag is None:
        raise ValueError(
            f"left_out_losses needs a bag whose members have seen their draws of the rows alone. "
            f"{type(model).__name__} is none with these parameters and labels."
        )
    return _left_out(bag, X, y)


def _left_out(bag: Bag, X: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    array = np.asarray(X)
    answers = y if bag.classes is None else np.searchsorted(bag.classes, y)
    losses, counts = [], []
    for member, drawn, columns in zip(bag.members, bag.drawn, bag.columns):
        left_out = np.ones(len(y), dtype=bool)
        left_out[drawn] = False
        counts.append(int(left_out.sum()))
        if not counts[-1]:
            losses.append(0.0)
            continue
        named = hasattr(member, "feature_names_in_")  # forests grow members on arrays
        table = safe_indexing(safe_indexing(X if named else array, left_out), columns, axis=1)
        truth = answers[left_out]
        if hasattr(member, "predict_proba"):
            shares = member.predict_proba(table)
            right = truth[:, None] == np.asarray(member.classes_)[None, :]
            losses.append(float(1 - (shares * right).sum(axis=1).mean()))
        else:
            losses.append(float(np.mean(member.predict(table) != truth)))
    return np.array(losses), np.array(counts)


@once
def _bag(evidence: Evidence) -> Bag | None:
    """Read a classifier as a bag, if its error rate on these rows is asked for."""
    if evidence.kind != "classifier" or evidence.quantity != Quantity() or evidence.y.ndim != 1:
        return None
    # Categories and what marks missing values are learnt from all rows.
    if as_table(evidence.X) is None or sparse.issparse(evidence.X):
        return None
    if not set(np.unique(evidence.y)) <= set(evidence.model.classes_):
        return None
    return bag_of(evidence.model, evidence.y)


@register_theorem(
    "theory.pac-bayes-bag",
    needs="seen",
    applies=lambda evidence: _bag(evidence) is not None,
    title="PAC-Bayes bound of a bag",
    idea="asks each member about the rows that it has not seen",
)
def _certify_bag(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify a bag of classifiers by its members' errors on rows that they have not seen.

    Our own forests bin columns by all rows, so that a row left out of a tree has touched it;
    they get no such certificate. Guarantee: checked by ``tests/guarantees/certificates.py``.

    References
    ----------
    .. [1] S. S. Lorenzen, C. Igel, Y. Seldin (2019). On PAC-Bayesian bounds for random forests.
       Machine Learning 108, 1503-1522.
    """
    bag = _bag(evidence)
    assert bag is not None
    assert evidence.losses is not None
    losses, counts = _left_out(bag, evidence.X, evidence.y)
    fewest = int(counts.min())
    if fewest == 0:
        return
    gibbs, n = float(losses.mean()), len(evidence.y)
    error = float(np.mean(evidence.losses))

    def at(level: float) -> Certificate:
        def bound_at(total: int) -> float:
            rows = max(1, fewest * total // n)
            return 2 * pac_bayes_kl_bound(gibbs, divergence=0.0, n_samples=rows, delta=1 - level)

        return conclude(
            "theory.pac-bayes-bag",
            Quantity(),
            bound_at(n),
            empirical=error,
            n_samples=n,
            confidence=level,
            observed=f"{Quantity().observed(error, n)}, and members err on {format_share(gibbs)} "
            f"of the rows left out of their draws, at least {fewest}",
            assumptions=(_IN_ORDER, _WEIGHTS),
            rows_missing=rows_missing(n, bound_at),
            recompute=at,
        )

    yield at(confidence)
