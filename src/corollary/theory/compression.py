r"""What a model that is determined by few of its training rows owes to the others.

If training on k of the n rows would have given the same model, the other n - k rows were not
needed, and their error says something about new rows: for each of the :math:`\binom nk` sets of k
rows they are a held-out sample of the model that the set determines. A support vector machine is
determined by its support vectors, and makes no error on the others.
"""

import math
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.special import betaln

from corollary.core.compat import Interval, validate_params
from corollary.theory.certificate import Certificate, Quantity
from corollary.theory.kl_inverse import kl_upper_inverse
from corollary.theory.theorem import Evidence, register_theorem


@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "size": [Interval(Integral, 0, None, closed="left")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "errors": [Interval(Integral, 0, None, closed="left")],
    },
    prefer_skip_nested_validation=True,
)
def compression_bound(n_samples: int, size: int, delta: float, errors: int = 0) -> float:
    r"""Return an upper bound on the error rate of a model that k of its training rows determine.

    With probability at least :math:`1 - \delta` over n independent training rows, at once for all
    k and all sets of k rows that determine the model, the error rate p satisfies
    :math:`P(\mathrm{Bin}(n - k, p) \le e) \ge \delta / (n \binom nk)`, where e is the number of
    errors on the other rows. Without errors that is
    :math:`p \le 1 - (\delta / (n \binom nk))^{1 / (n - k)}`; with errors the Chernoff bound on
    the binomial tail is inverted.

    Parameters
    ----------
    n_samples : int
        n, number of training rows.
    size : int
        k, number of rows that determine the model, at most n.
    delta : float
        Probability that the bound fails.
    errors : int, default=0
        Errors on the other n - k rows.

    Returns
    -------
    bound : float
        Upper bound on the error rate; 1 if k = n.

    Notes
    -----
    Guarantee: checked by ``tests/svm/test_bound.py::test_certificates_hold``.

    References
    ----------
    .. [1] N. Littlestone, M. K. Warmuth (1986). Relating data compression and learnability.

    Examples
    --------
    >>> from corollary.theory import compression_bound
    >>> round(compression_bound(1000, 10, 0.05), 4)
    0.0624
    """
    rest = n_samples - size
    if size > n_samples or errors > rest:
        raise ValueError(
            "compression_bound needs size <= n_samples and errors <= n_samples - size. Got "
            f"n_samples={n_samples}, size={size}, errors={errors}."
        )
    if rest == 0:
        return 1.0
    # By the beta function: differences of log factorials lose all digits for large n.
    log_sets = -math.log1p(n_samples) - float(betaln(rest + 1.0, size + 1.0))
    price = (log_sets + math.log(n_samples) - math.log(delta)) / rest
    if errors == 0:
        return -math.expm1(-price)
    return kl_upper_inverse(errors / rest, price)


def _is_compressing_machine(evidence: Evidence) -> bool:
    model: Any = evidence.model
    if type(model).__module__ != "corollary.svm.svc" or type(model).__name__ != "SVC":
        return False
    if evidence.kind != "classifier" or evidence.quantity is None:
        return False
    if evidence.quantity.predicate != Quantity().predicate:
        return False
    # The kernel, the prices and the intercept must not depend on the rows that are left out.
    by_name = isinstance(model.kernel, str)
    if by_name and (model.kernel == "precomputed" or (model.kernel != "linear" and _scaled(model))):
        return False
    if isinstance(model.class_weight, str) or model.kkt_violation_ > model.tol:
        return False
    return _intercepts_are_determined(model, evidence.X)


def _scaled(model: Any) -> bool:
    return isinstance(model.gamma, str) and model.gamma == "scale"


def _intercepts_are_determined(model: Any, X: Any) -> bool:
    """Tell whether each pair of classes has a support vector on its margin, which fixes the offset.

    Without one the offset is the middle of an interval whose ends other rows may set. The weights
    alone do not tell, since the prices of rows may differ.
    """
    if np.isinf(model.C) or model.loss == "squared_hinge":
        return True
    scores = np.abs(model._pair_scores(X)[model.support_])
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    k, pair = len(model.classes_), 0
    for i in range(k):
        for j in range(i + 1, k):
            one, other = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            on = np.abs(scores[:, pair] - 1.0) <= 2.0 * model.tol
            used = (model.dual_coef_[j - 1, one] != 0) & on[one]
            used_other = (model.dual_coef_[i, other] != 0) & on[other]
            if not (used.any() or used_other.any()):
                return False
            pair += 1
    return True


@register_theorem("svm.support-vector-bound", needs="seen", applies=_is_compressing_machine)
def certify_support_vectors(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify the error rate of a support vector classifier from its number of support vectors."""
    assert evidence.losses is not None
    assert evidence.quantity is not None
    n, size = len(evidence.y), len(evidence.model.support_)
    others = np.ones(n, dtype=bool)
    others[evidence.model.support_] = False
    errors = int(evidence.losses[others].sum())
    empirical = float(np.mean(evidence.losses))
    quantity = evidence.quantity

    def at(level: float) -> Certificate:
        bound = compression_bound(n, size, 1 - level, errors)
        return Certificate(
            claim=quantity.claim(bound),
            quantity=quantity.name,
            empirical=empirical,
            bound=bound,
            confidence=level,
            theorem="svm.support-vector-bound",
            n_samples=n,
            observed=f"{quantity.observed(empirical, n)}, with {size} support vectors",
            assumptions=(
                "The kernel, its parameters and C were chosen without these rows, and weights of "
                "rows, if any, depend on the row alone.",
            ),
            vacuous=bound >= 1,
            rows_missing=math.inf if bound >= 1 else 0,
            recompute=at,
        )

    yield at(confidence)
