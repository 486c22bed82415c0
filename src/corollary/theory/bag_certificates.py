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
from dataclasses import replace
from typing import Any

import numpy as np

from corollary.theory.certificate import Certificate, Quantity, format_share
from corollary.theory.pac_bayes import pac_bayes_kl_bound
from corollary.theory.theorem import Evidence, register_theorem
from corollary.theory.training_certificates import rows_missing

_TREE = "sklearn.tree"


def left_out_losses(model: Any, X: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Measure every member of a bag on the rows that it has not seen.

    Parameters
    ----------
    model : estimator
        A bag or a forest with ``estimators_`` and ``estimators_samples_``.
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
    >>> from corollary.theory.bag_certificates import left_out_losses
    >>> X, y = np.repeat([[0.0], [1.0]], 20, axis=0), np.repeat([0, 1], 20)
    >>> forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    >>> left_out_losses(forest, X, y)[0]
    array([0., 0., 0.])
    """
    rows = np.asarray(X)
    # The single trees of a scikit-learn forest or bag speak of class numbers.
    encoded = type(model).__module__.startswith("sklearn.")
    answers = np.searchsorted(model.classes_, y) if encoded else y
    features = getattr(model, "estimators_features_", [slice(None)] * len(model.estimators_))
    losses, counts = [], []
    for member, drawn, columns in zip(model.estimators_, model.estimators_samples_, features):
        left_out = np.ones(len(y), dtype=bool)
        left_out[drawn] = False
        counts.append(int(left_out.sum()))
        if not counts[-1]:
            losses.append(0.0)
            continue
        table, truth = rows[left_out][:, columns], answers[left_out]
        if hasattr(member, "predict_proba"):
            known = member.predict_proba(table)
            right = truth[:, None] == np.asarray(member.classes_)[None, :]
            losses.append(float(1 - (known * right).sum(axis=1).mean()))
        else:
            losses.append(float(np.mean(member.predict(table) != truth)))
    return np.array(losses), np.array(counts)


def _is_bag(evidence: Evidence) -> bool:
    if evidence.kind != "classifier" or evidence.quantity != Quantity() or evidence.y.ndim != 1:
        return False
    model: Any = evidence.model
    module, name = type(model).__module__, type(model).__name__
    rows = evidence.X
    if not isinstance(rows, np.ndarray) or rows.dtype.kind not in "fiub" or rows.ndim != 2:
        return False
    # What marks missing values is learnt from all rows.
    if rows.dtype.kind == "f" and np.isnan(rows).any():
        return False
    if not set(np.unique(evidence.y)) <= set(model.classes_):
        return False
    if module.startswith("sklearn.ensemble.") and name in (
        "RandomForestClassifier",
        "ExtraTreesClassifier",
    ):
        # "balanced" weights depend on the labels of all rows.
        return model.bootstrap and not isinstance(model.class_weight, str)
    if module.startswith("sklearn.ensemble.") and name == "BaggingClassifier":
        # Rows that were not drawn reach members with weight zero; trees drop those.
        return model.n_features_in_ > 0 and all(
            type(member).__module__.startswith(_TREE) and not isinstance(member.class_weight, str)
            for member in model.estimators_
        )
    if module == "corollary.ensemble.bagging.bags" and name == "BaggingClassifier":
        # A draw without some class is trained on all rows, those not drawn at weight zero.
        k = len(model.classes_)
        weighted = hasattr(model, "bag_weight_")
        return not weighted and all(
            len(np.unique(evidence.y[drawn])) == k for drawn in model.estimators_samples_
        )
    return False


@register_theorem("theory.pac-bayes-bag", needs="seen", applies=_is_bag)
def certify_bag(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify a bag of classifiers by its members' errors on rows that they have not seen.

    Our own forests bin columns by all rows, so that a row left out of a tree has touched it;
    they get no such certificate. Guarantee: checked by ``tests/guarantees/certificates.py``.

    References
    ----------
    .. [1] S. S. Lorenzen, C. Igel, Y. Seldin (2019). On PAC-Bayesian bounds for random forests.
       Machine Learning 108, 1503-1522.
    """
    assert evidence.losses is not None
    losses, counts = left_out_losses(evidence.model, evidence.X, evidence.y)
    fewest = int(counts.min())
    if fewest == 0:
        return
    gibbs, n = float(losses.mean()), len(evidence.y)
    error = float(np.mean(evidence.losses))

    def at(level: float) -> Certificate:
        def bound_at(total: int) -> float:
            rows = max(1, fewest * total // n)
            return 2 * pac_bayes_kl_bound(gibbs, divergence=0.0, n_samples=rows, delta=1 - level)

        bound = min(1.0, bound_at(n))
        certificate = Certificate(
            claim=Quantity().claim(bound),
            quantity=Quantity().name,
            empirical=error,
            bound=bound,
            confidence=level,
            theorem="theory.pac-bayes-bag",
            n_samples=n,
            observed=f"{Quantity().observed(error, n)}, and members err on {format_share(gibbs)} "
            f"of the rows left out of their draws, at least {fewest}",
            assumptions=(
                "Rows are given in the order of training, and parameters were chosen without them.",
                "Weights of rows, if any, depend on the row alone.",
            ),
            vacuous=bound >= 1,
            rows_missing=rows_missing(n, bound_at),
        )
        return replace(certificate, recompute=at)

    yield at(confidence)
