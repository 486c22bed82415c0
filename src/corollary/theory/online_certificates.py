r"""Certificates of online learners from their own run.

Every row of a run is a test row before it is a training row: given the past, the loss
:math:`\ell_t` of round t has the risk :math:`R(h_{t-1})` of the hypothesis at that time as its
mean. So the mean loss of the run tells the mean risk of its hypotheses, with probability
:math:`1-\delta`:

.. math:: \frac1n\sum_{t\le n}R(h_{t-1})
          \le\frac1n\sum_{t\le n}\ell_t+\sqrt{\frac{\log(1/\delta)}{2n}}

by Azuma's inequality, and sharper by a confidence sequence. The mean risk is the risk of a
hypothesis that is drawn from the run at random; for a convex loss it bounds the risk of the average
of their weights, too.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from corollary.core.compat import Interval, StrOptions, validate_params
from corollary.theory.bounded_differences import azuma_bound
from corollary.theory.certificate import Certificate, Quantity, format_number, format_share
from corollary.theory.concentration import check_losses
from corollary.theory.confidence_sequence import stitched_sequence
from corollary.theory.theorem import Evidence, once, register_theorem
from corollary.theory.training_certificates import rows_missing

_ROWS = (
    "The rows came in an order that does not depend on them, and parameters were chosen without "
    "them."
)
# What a vacuous bound still lacks is looked for up to so many rounds.
_MOST = 10**5
_BALL = "Rows have length at most 1 in the whole population."


@validate_params(
    {
        "losses": ["array-like"],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "low": [Real],
        "high": [Real],
        "method": [StrOptions({"azuma", "bernoulli", "empirical-bernstein"})],
    },
    prefer_skip_nested_validation=True,
)
def run_risk_bound(
    losses: Any,
    delta: float,
    *,
    low: float = 0.0,
    high: float = 1.0,
    method: str = "azuma",
) -> float:
    r"""Bound the mean risk of the hypotheses of an online run by its losses.

    Parameters
    ----------
    losses : array-like of shape (n_rounds,)
        Loss of every round, of the hypothesis *before* it learnt from the row.
    delta : float
        Probability of failure, strictly between 0 and 1.
    low : float, default=0.0
        Smallest possible loss.
    high : float, default=1.0
        Largest possible loss.
    method : str, default="azuma"
        "azuma" uses the range, "bernoulli" is sharper for losses near an end of it, such as few
        mistakes, "empirical-bernstein" for losses that vary little. The latter two hold after
        every round at once. Choose before looking.

    Returns
    -------
    bound : float
        Upper bound on :math:`\frac1n\sum_t R(h_{t-1})`, at most `high`.

    See Also
    --------
    corollary.online.online_to_batch_bound : From a mistake bound, in expectation.
    stitched_sequence : What the sharper methods are.

    Notes
    -----
    Guarantee: with probability at least 1 - delta over the rows, which must be independent draws
    of one law; nothing is asked of the learner but that it predicts before it learns. Checked by
    ``tests/guarantees/online_to_batch.py``.

    References
    ----------
    Cesa-Bianchi, N., Conconi, A. and Gentile, C. (2004). On the generalization ability of on-line
    learning algorithms. IEEE Transactions on Information Theory 50, proposition 1.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import run_risk_bound
    >>> mistakes = np.arange(2000) < 20
    >>> round(run_risk_bound(mistakes, 0.05), 4)
    0.0374
    >>> round(run_risk_bound(mistakes, 0.05, method="bernoulli"), 4)
    0.0206
    """
    losses = check_losses(losses, low, high, who="run_risk_bound")
    if losses.ndim != 1:
        raise ValueError(
            "The 'losses' parameter of run_risk_bound must be one-dimensional. "
            f"Got shape {losses.shape} instead."
        )
    n = len(losses)
    if method == "azuma":
        # An increment that lies in an interval of length w is sub-Gaussian with w / 2.
        radius = azuma_bound(np.full(n, (high - low) / 2), delta=delta) / n
        return float(min(high, losses.mean() + radius))
    limits = stitched_sequence(
        losses, delta, kind=method, low=low, high=high, sides=1, running=False
    )
    return float(limits.upper[-1])


@validate_params(
    {
        "losses": ["array-like"],
        "method": [StrOptions({"azuma", "bernoulli", "empirical-bernstein"})],
        "confidence": [Interval(Real, 0, 1, closed="neither")],
        "quantity": [Quantity, None],
    },
    prefer_skip_nested_validation=True,
)
def online_to_batch_certificate(
    losses: Any,
    *,
    method: str = "bernoulli",
    confidence: float = 0.95,
    quantity: Quantity | None = None,
) -> Certificate:
    """Certify a hypothesis that is drawn from an online run, by the losses of the run.

    Parameters
    ----------
    losses : array-like of shape (n_rounds,)
        Loss of every round before the learner learnt from it, such as ``record.mistakes`` or, if
        they are bounded, ``record.losses`` of :meth:`corollary.online.OnlineLearner.run`.
    method : str, default="bernoulli"
        "azuma", "bernoulli" or "empirical-bernstein", as in :func:`run_risk_bound`.
    confidence : float, default=0.95
        Confidence of the bound.
    quantity : Quantity or None, default=None
        The loss, its range and its wording; None for classification errors.

    Returns
    -------
    certificate : Certificate
        Theorem ``theory.online-to-batch``, about a hypothesis drawn uniformly from those at the
        beginning of the rounds.

    See Also
    --------
    run_risk_bound : The bound.
    corollary.online.stop_at_random : Draws the time.

    Notes
    -----
    Guarantee: checked by ``tests/guarantees/online_to_batch.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.online import OnlinePerceptron
    >>> from corollary.theory import online_to_batch_certificate
    >>> X = np.random.default_rng(0).normal(size=(2000, 3))
    >>> record = OnlinePerceptron().run((X, np.sign(X[:, 0])))
    >>> certificate = online_to_batch_certificate(record.mistakes)
    >>> certificate.observed, round(certificate.bound, 3)
    ('61 of 2000', 0.048)
    """
    quantity = quantity or Quantity()
    low, high = quantity.low, quantity.high
    losses = check_losses(losses, low, high, who="online_to_batch_certificate")
    mean, n = float(np.clip(losses.mean(), low, high)), len(losses)

    def bound_after(rounds: int, level: float) -> float:
        known = losses if rounds == n else np.full(rounds, mean)
        return run_risk_bound(known, 1 - level, low=low, high=high, method=method)

    bound = bound_after(n, confidence)
    drawn = "with a hypothesis drawn from the run"
    return Certificate(
        claim=f"{quantity.claim(bound)} {drawn}",
        quantity=f"{quantity.name} {drawn}",
        empirical=mean,
        bound=bound,
        confidence=confidence,
        theorem="theory.online-to-batch",
        n_samples=n,
        observed=quantity.observed(mean, n),
        assumptions=("In every round the loss was measured before the row was learnt from.",),
        vacuous=bound >= high,
        rows_missing=_missing(n, lambda m: bound_after(m, confidence), mean, high),
        recompute=partial(_again, losses, method, quantity),
    )


def _again(losses: np.ndarray, method: str, quantity: Quantity, level: float) -> Certificate:
    return online_to_batch_certificate(losses, method=method, confidence=level, quantity=quantity)


def _missing(n: int, bound_after: Callable[[int], float], mean: float, high: float) -> float:
    if mean >= high:
        return math.inf
    # Nobody counts further; that at least so many rows are missing is true all the same.
    return rows_missing(n, lambda m: 0.0 if m > _MOST else bound_after(m) / high)


class _Run(NamedTuple):
    """The rounds of a fitted online classifier, played again."""

    mistakes: np.ndarray
    losses: np.ndarray


@once
def _replay(evidence: Evidence) -> _Run | None:
    """Play the run of a model again, if it was a single pass over these rows."""
    model: Any = evidence.model
    if type(model).__module__ != "corollary.online.classifier" or evidence.y.ndim != 1:
        return None
    n = len(evidence.y)
    if evidence.quantity != Quantity() or n < 2 or int(model.state_["clock"][0]) != n:
        return None
    orders = [None]
    if model.n_passes == 1 and model.shuffle and isinstance(model.random_state, int | np.integer):
        orders.append(check_random_state(model.random_state).permutation(n))
    for order in orders:
        again = clone(model).set_params(class_weight=_plain(model.class_weight))
        X, y = evidence.X, evidence.y
        if order is not None:
            if not isinstance(X, np.ndarray):
                return None
            X, y = X[order], y[order]
        record = again.run((X, y), classes=model.classes_)
        same = np.array_equal(again.coef_, model.coef_)
        if same and np.array_equal(again.intercept_, model.intercept_):
            return _Run(record.mistakes.astype(float), record.losses)
    return None


def _plain(class_weight: Any) -> Any:
    # Balanced weights look at the labels of all rows first; such a run cannot be repeated.
    return None if isinstance(class_weight, str) else class_weight


def _is_one_pass(evidence: Evidence) -> bool:
    return _replay(evidence) is not None


@register_theorem("theory.online-to-batch", needs="seen", applies=_is_one_pass)
def certify_run(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify an online classifier by the mistakes of its run."""
    run = _replay(evidence)
    assert run is not None
    for method, words in (("azuma", "Azuma's inequality"), ("bernoulli", "a confidence sequence")):
        yield _about_draw(run.mistakes[1:], method, words, confidence)


def _about_draw(mistakes: np.ndarray, method: str, words: str, level: float) -> Certificate:
    certificate = online_to_batch_certificate(mistakes, method=method, confidence=level)
    n = len(mistakes)
    share = format_share(certificate.bound)
    return replace(
        certificate,
        claim=f"at most {share} of such rows are classified wrongly by the model after a number "
        f"of its training rows drawn uniformly from 1 to {n} (by {words})",
        observed=f"{certificate.observed} in the run, each before it was learnt from",
        assumptions=(_ROWS,),
        recompute=partial(_about_draw, mistakes, method, words),
    )


def _largest_loss(evidence: Evidence) -> float | None:
    """Return the largest loss on the unit ball that a model with these parameters can suffer."""
    model: Any = evidence.model
    if type(model).__module__ != "corollary.online.classifier":
        return None
    if model.learner != "gradient-descent" or not model.averaging or model.fit_intercept:
        return None
    if model.radius is None or model.step == "adagrad" or len(model.classes_) != 2:
        return None
    if model.loss not in ("hinge", "logistic"):
        return None
    try:
        X = np.asarray(evidence.X, dtype=float)
    except (TypeError, ValueError):
        return None
    if X.ndim != 2 or np.linalg.norm(X, axis=1).max() > 1 + 1e-12:
        return None
    radius = float(model.radius)
    return 1 + radius if model.loss == "hinge" else float(np.logaddexp(0.0, radius))


def _is_average(evidence: Evidence) -> bool:
    return _largest_loss(evidence) is not None and _is_one_pass(evidence)


@register_theorem("theory.online-to-batch-average", needs="seen", applies=_is_average)
def certify_average(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    r"""Certify the average of the weights of an online run by its convex losses."""
    largest, run = _largest_loss(evidence), _replay(evidence)
    assert largest is not None
    assert run is not None
    assert evidence.losses is not None
    at_zero = 1.0 if evidence.model.loss == "hinge" else math.log(2)
    losses, n = np.clip(run.losses[1:], 0.0, largest), len(run.losses)
    error, mean = float(np.mean(evidence.losses)), float(run.losses[1:].mean())

    def bound_after(rounds: int, level: float) -> float:
        known = losses if rounds == n else np.full(rounds, mean)
        risk = run_risk_bound(known, 1 - level, high=largest, method="empirical-bernstein")
        return min(1.0, ((rounds - 1) * risk + largest) / rounds / at_zero)

    def at(level: float) -> Certificate:
        bound = bound_after(n, level)
        certificate = Certificate(
            claim=Quantity().claim(bound),
            quantity=Quantity().name,
            empirical=error,
            bound=bound,
            confidence=level,
            theorem="theory.online-to-batch-average",
            n_samples=n,
            observed=f"{Quantity().observed(error, n)}, with a mean {evidence.model.loss} loss of "
            f"{format_number(mean)} in the run",
            assumptions=(_ROWS, _BALL),
            vacuous=bound >= 1,
            rows_missing=_missing(n, lambda m: bound_after(m, level), mean / at_zero, 1.0),
        )
        return replace(certificate, recompute=at)

    yield at(confidence)
