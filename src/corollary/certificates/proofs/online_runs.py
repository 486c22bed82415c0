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
from typing import Any, Literal

import numpy as np

from corollary.certificates.proofs._shared import as_table, conclude, once, rows_missing
from corollary.certificates.register import Evidence, register_theorem
from corollary.core.certificate import Assumption, Certificate, Quantity, format_number
from corollary.core.estimator import ArrayLike, Probability, checked
from corollary.core.protocols import HasReplay, Replay
from corollary.theory import check_losses, run_risk_bound

_BEFORE = Assumption(
    "In every round the loss was measured before the row was learnt from.", "model"
)
_ROWS = Assumption(
    "The rows came in an order that does not depend on them, and parameters were chosen without "
    "them.",
    "choice",
)
_BALL = Assumption("Rows have length at most 1 in the whole population.", "population")
# What a vacuous bound still lacks is looked for up to so many rounds.
_MOST = 10**5


@checked
def online_to_batch_certificate(
    losses: ArrayLike,
    *,
    method: Literal["azuma", "bernoulli", "empirical-bernstein"] = "bernoulli",
    confidence: Probability = 0.95,
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
    >>> from corollary.certificates import online_to_batch_certificate
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
        past = losses if rounds == n else np.full(rounds, mean)
        return run_risk_bound(past, 1 - level, low=low, high=high, method=method)

    drawn = "with a hypothesis drawn from the run"
    of_draw = replace(
        quantity,
        name=f"{quantity.name} {drawn}",
        predicate=None if quantity.predicate is None else f"{quantity.predicate} {drawn}",
    )
    return conclude(
        "theory.online-to-batch",
        of_draw,
        bound_after(n, confidence),
        empirical=mean,
        n_samples=n,
        confidence=confidence,
        assumptions=(_BEFORE,),
        rows_missing=_missing(n, lambda m: bound_after(m, confidence), mean, high),
        recompute=partial(_again, losses, method, quantity),
    )


def _again(losses: np.ndarray, method: Any, quantity: Quantity, level: float) -> Certificate:
    return online_to_batch_certificate(losses, method=method, confidence=level, quantity=quantity)


def _missing(n: int, bound_after: Callable[[int], float], mean: float, high: float) -> float:
    if mean >= high:
        return math.inf
    # Nobody counts further; that at least so many rows are missing is true all the same.
    return rows_missing(n, lambda m: 0.0 if m > _MOST else bound_after(m) / high)


@once
def _replay(evidence: Evidence) -> Replay | None:
    """Play the run of a model again, if it was a single pass over these rows."""
    if evidence.y.ndim != 1 or len(evidence.y) < 2 or evidence.quantity != Quantity():
        return None
    model = evidence.model
    return model.replay(evidence.X, evidence.y) if isinstance(model, HasReplay) else None


@register_theorem(
    "theory.online-to-batch",
    needs="seen",
    applies=lambda evidence: _replay(evidence) is not None,
    title="Online to batch",
    idea="counts the mistakes of the run, each before its row was learnt from",
)
def _certify_run(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify an online classifier by the mistakes of its run."""
    run = _replay(evidence)
    assert run is not None
    for method, words in (("azuma", "Azuma's inequality"), ("bernoulli", "a confidence sequence")):
        yield _about_draw(run.mistakes[1:], method, words, confidence)


def _about_draw(mistakes: np.ndarray, method: Any, words: str, level: float) -> Certificate:
    certificate = online_to_batch_certificate(mistakes, method=method, confidence=level)
    predicate = (
        "are classified wrongly by the model after a number of its training rows drawn uniformly "
        f"from 1 to {len(mistakes)} (by {words})"
    )
    return replace(
        certificate,
        quantity=replace(certificate.quantity, predicate=predicate),
        observed=f"{certificate.observed} in the run, each before it was learnt from",
        assumptions=(_ROWS,),
        recompute=partial(_about_draw, mistakes, method, words),
    )


def _largest_loss(evidence: Evidence) -> float | None:
    """Return the largest loss on the unit ball that an average of weights can suffer."""
    run, rows = _replay(evidence), as_table(evidence.X)
    if run is None or rows is None or run.averaged_loss not in ("hinge", "logistic"):
        return None
    if math.isinf(run.radius) or len(evidence.model.classes_) != 2:
        return None
    if np.linalg.norm(rows, axis=1).max() > 1 + 1e-12:
        return None
    radius = run.radius
    return 1 + radius if run.averaged_loss == "hinge" else float(np.logaddexp(0.0, radius))


@register_theorem(
    "theory.online-to-batch-average",
    needs="seen",
    applies=lambda evidence: _largest_loss(evidence) is not None,
    title="Online to batch, averaged weights",
    idea="uses the convex losses of the run",
)
def _certify_average(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify the average of the weights of an online run by its convex losses."""
    largest, run = _largest_loss(evidence), _replay(evidence)
    assert largest is not None
    assert run is not None
    assert evidence.losses is not None
    at_zero = 1.0 if run.averaged_loss == "hinge" else math.log(2)
    losses, n = np.clip(run.losses[1:], 0.0, largest), len(run.losses)
    error, mean = float(np.mean(evidence.losses)), float(run.losses[1:].mean())

    def bound_after(rounds: int, level: float) -> float:
        past = losses if rounds == n else np.full(rounds, mean)
        risk = run_risk_bound(past, 1 - level, high=largest, method="empirical-bernstein")
        return ((rounds - 1) * risk + largest) / rounds / at_zero

    def at(level: float) -> Certificate:
        return conclude(
            "theory.online-to-batch-average",
            Quantity(),
            bound_after(n, level),
            empirical=error,
            n_samples=n,
            confidence=level,
            observed=f"{Quantity().observed(error, n)}, with a mean {run.averaged_loss} loss of "
            f"{format_number(mean)} in the run",
            assumptions=(_ROWS, _BALL),
            rows_missing=_missing(n, lambda m: bound_after(m, level), mean / at_zero, 1.0),
            recompute=at,
        )

    yield at(confidence)
